"""The decisions on a column pass between rooms without showing its values."""

from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa
import pytest

from audiencekit.identifiers.kinds import Reason
from audiencekit.preparation.columnar.decisions import FEW_ROWS, REASONS, UNDECIDED, VALID, Decisions, code_of, put

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


@pytest.mark.parametrize("count", [1, FEW_ROWS, FEW_ROWS + 1, 3 * FEW_ROWS])
def test_few_and_many_are_put_alike(count: int) -> None:
    """However many there are, each comes to its own row: the first and the last, neighbours, and those between."""
    size = 3 * FEW_ROWS
    texts = pa.array([f"old {row}" for row in range(size)])
    rows = np.array(sorted({0, size - 1, *range(20, 20 + count)} - {1})[:count] if count < size else range(size))
    others = pa.array([f"new {row}" for row in rows.tolist()])
    replaced = set(rows.tolist())
    expected = [f"{'new' if row in replaced else 'old'} {row}" for row in range(size)]
    assert put(texts, rows, others).to_pylist() == expected
