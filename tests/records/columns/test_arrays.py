"""Offsets and bytes of a text column are read where they are."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from audiencekit.identifiers.kinds import Reason
from audiencekit.records.columns.arrays import (
    FEW_ROWS,
    REASONS,
    UNDECIDED,
    VALID,
    Decisions,
    arrow_array,
    code_of,
    put,
    text_buffers,
)
from tests.cases import each_case

COLUMN = pa.array(["ab", "", "é", None, "c"])


@each_case(
    "column, expected",
    [
        (COLUMN, ["ab", "", "é", "", "c"]),
        (COLUMN.slice(2, 2), ["é", ""]),
        (COLUMN.slice(5), []),
        (pa.array([], pa.string()), []),
        (pa.array(["", ""]), ["", ""]),
        (pa.array([None, None], pa.string()), ["", ""]),
    ],
)
def test_texts_are_between_offsets(column: Any, expected: list[str]) -> None:
    """The bytes of each text stand between two offsets, of which the first is 0."""
    offsets, data = text_buffers(column)
    assert offsets[0] == 0
    assert len(offsets) == len(column) + 1
    spans = zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
    assert [data[first:last].tobytes().decode() for first, last in spans] == expected
    assert len(data) == offsets[-1]


def test_nothing_is_copied() -> None:
    """The bytes are those of the column."""
    _, data = text_buffers(COLUMN)
    assert np.shares_memory(data, np.frombuffer(COLUMN.buffers()[2], dtype=np.uint8))


def test_offsets_stand_where_numbers_do() -> None:
    """Those of bytes that came from elsewhere are moved."""
    shifted = pa.py_buffer(b"." + COLUMN.buffers()[1].to_pybytes()).slice(1)
    column = pa.StringArray.from_buffers(len(COLUMN), shifted, COLUMN.buffers()[2])
    offsets, _ = text_buffers(column)
    assert offsets.flags.aligned
    assert offsets.tolist() == text_buffers(COLUMN)[0].tolist()


@each_case("kind", [pa.large_string(), pa.string_view()])
def test_texts_of_another_layout_are_refused(kind: Any) -> None:
    """Their offsets would be read as others."""
    with pytest.raises(ValueError, match="StringArray"):
        text_buffers(pa.array(["ab", "c"], kind))


@each_case("kind", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint64, np.float64, np.bool_])
@each_case("step", [1, 3, -1])
@each_case("size", [0, 1, 9])
def test_numbers_and_truths_are_what_arrow_makes_of_them(kind: type, step: int, size: int) -> None:
    """In type, values and number of nulls, wherever they lie."""
    values = (np.arange(size) % 3).astype(kind)[::step]
    made, expected = arrow_array(values), pa.array(values)
    made.validate(full=True)
    assert made.equals(expected)
    assert (made.type, made.null_count) == (expected.type, 0)


def test_numbers_are_not_copied() -> None:
    """They are kept as long as the array is."""
    numbers = np.arange(5)
    assert arrow_array(numbers).buffers()[1].address == numbers.ctypes.data
    assert arrow_array(np.arange(5)).to_pylist() == [0, 1, 2, 3, 4]


@each_case("values", [np.zeros((2, 2)), np.zeros(2, dtype=np.dtype(np.int32).newbyteorder())])
def test_a_buffer_that_arrow_would_misread_is_refused(values: Any) -> None:
    """Its bytes would be taken for other numbers."""
    with pytest.raises(ValueError, match="one row of native values"):
        arrow_array(values)


CODES = np.array([VALID, UNDECIDED, code_of(Reason.EMPTY)], dtype=np.int8)
DECISIONS = Decisions.of(pa.array(["marker-value", "marker-other", ""]), CODES)


def test_every_reason_has_a_code() -> None:
    """Codes lead from a reason to its place in the table and back, and none is VALID or UNDECIDED."""
    assert [REASONS[code_of(reason)] for reason in Reason] == list(Reason)
    assert min(code_of(reason) for reason in Reason) > VALID > UNDECIDED
    assert len(REASONS) < 128


def test_only_valid_texts_are_kept() -> None:
    """Texts that are not decided valid are null."""
    assert DECISIONS.normalized.to_pylist() == ["marker-value", None, None]
    assert DECISIONS.undecided.tolist() == [1]
    assert DECISIONS.codes.tolist() == CODES.tolist()
    assert len(DECISIONS) == 3


def test_values_are_not_shown() -> None:
    """Neither repr nor str nor format shows a value, and pickling is refused."""
    assert "marker" not in f"{DECISIONS!r}{DECISIONS!s}{DECISIONS}"
    with pytest.raises(TypeError):
        pickle.dumps(DECISIONS)


def test_codes_on_the_way_are_refused() -> None:
    """A value that no check judged is a fault of the program."""
    with pytest.raises(ValueError, match="neither decided"):
        Decisions.of(pa.array(["a"]), np.array([UNDECIDED - 1], dtype=np.int8))


def test_no_values() -> None:
    """A column without values has no decisions."""
    assert len(Decisions.of(pa.array([], pa.string()), np.array([], dtype=np.int8))) == 0


def test_texts_are_put_in_place() -> None:
    """Some texts of a column are replaced, also of a slice and by null; without rows it stays as it is."""
    texts = pa.array(["x", "a", "b", None, "d"]).slice(1)
    assert put(texts, np.array([1, 3]), pa.array(["B", None])).to_pylist() == ["a", "B", None, None]
    assert put(texts, np.array([], dtype=np.int64), pa.array([], pa.string())) is texts


@each_case("count", [1, FEW_ROWS, FEW_ROWS + 1, 3 * FEW_ROWS])
def test_few_and_many_are_put_alike(count: int) -> None:
    """However many there are, each comes to its own row: the first and the last, neighbours, and those between."""
    size = 3 * FEW_ROWS
    texts = pa.array([f"old {row}" for row in range(size)])
    rows = np.array(sorted({0, size - 1, *range(20, 20 + count)} - {1})[:count] if count < size else range(size))
    others = pa.array([f"new {row}" for row in rows.tolist()])
    replaced = set(rows.tolist())
    expected = [f"{'new' if row in replaced else 'old'} {row}" for row in range(size)]
    assert put(texts, rows, others).to_pylist() == expected
