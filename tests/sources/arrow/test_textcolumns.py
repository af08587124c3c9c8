"""Batches have the fields that the contract names, in its order."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from audiencekit.identifiers.kinds import Kind
from audiencekit.records.batches import ColumnMapping, MappedColumn
from audiencekit.sources.arrow.textcolumns import column_names, divided, split_texts, text_columns, used_positions
from audiencekit.sources.separators import is_one_value

EMAIL = MappedColumn(kind=Kind.EMAIL, position=4, name="email")
MAPPING = ColumnMapping(columns=(EMAIL,), country=1, country_name="land", operation=0, operation_name="what")


def test_used_columns_are_named() -> None:
    """Identifiers, country and operation."""
    assert used_positions(MAPPING) == [0, 1, 4]
    assert column_names(MAPPING) == {0: "what", 1: "land", 4: "email"}
    assert used_positions(ColumnMapping(columns=())) == []


def test_fields_follow_the_contract() -> None:
    """Row, country, operation, then a field for each mapped column."""
    cells = {place: pa.array([str(place)]) for place in (0, 1, 4)}
    batch = text_columns(pa.array([7], pa.int64()), cells, MAPPING)
    assert batch.to_pylist() == [{"row": 7, "country": "1", "operation": "0", "c4": "4"}]


def test_cells_are_split_at_the_separator_only() -> None:
    """Parts stay as they stand, blank ones are none, a missing cell stays missing."""
    parts = split_texts(pa.array(["a; b", "", None, ";;", "c", ";\u2003;\x1c"]), ";")
    assert parts.type == pa.list_(pa.string())
    assert parts.to_pylist() == [["a", " b"], [], None, [], ["c"], []]


@given(
    st.lists(st.none() | st.text('a;= \n"x:').map(lambda text: text.replace("x", " ::: "))),
    st.sampled_from([";", " ::: ", "\n"]),
    st.integers(0, 3),
)
def test_columns_are_divided_as_their_cells_are(cells: list[str | None], separator: str, start: int) -> None:
    """All at once, also a part of a column; but for cells that are one value."""
    array = pa.array([*["skipped"] * start, *cells], pa.string()).slice(start)
    found = divided(array, separator)
    found.validate(full=True)
    assert found.type == pa.list_(pa.string())
    for cell, parts in zip(cells, found.to_pylist(), strict=True):
        if cell is not None and is_one_value(cell, separator):
            assert parts == [cell]
        else:
            expected = None if cell is None else [part for part in cell.split(separator) if part.strip()]
            assert parts == split_texts(pa.array([cell], pa.string()), separator).to_pylist()[0] == expected


@pytest.mark.parametrize("hidden", [b"a;", b";ab", b"abc", b"   "])
def test_a_missing_cell_holds_nothing(hidden: bytes) -> None:
    """Whatever bytes stand where its text would."""
    offsets = pa.array([0, 1, 1 + len(hidden), 3 + len(hidden)], pa.int32()).buffers()[1]
    data = pa.py_buffer(b"q" + hidden + b";z")
    cells = pa.StringArray.from_buffers(3, offsets, data, pa.py_buffer(b"\x05"), 1)
    for separator in (";", "\n"):
        found = divided(cells, separator)
        found.validate(full=True)
        assert found.to_pylist() == [["q"], None, ["z"] if separator == ";" else [";z"]]
        assert np.diff(found.offsets.to_numpy()).tolist() == [1, 0, 1]


def test_columns_without_a_separator_stay_as_they_are() -> None:
    """Columns without a separator, and lists."""
    texts, lists = pa.array(["a;b"]), pa.array([["a;b"]])
    assert divided(texts, None) is texts
    assert divided(lists, ";") is lists
