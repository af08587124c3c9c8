"""The lines that are sealed: each rejected row once, with all its cells."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
from hypothesis import given, strategies as st

from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import RawColumns
from audiencekit.records.batches import REJECTION_SCHEMA, ColumnMapping, MappedColumn, TextBatch
from audiencekit.records.rejected_rows import rejected_rows

CELLS = st.none() | st.text(st.characters(exclude_categories=["Cs"]))
ROWS = st.lists(st.tuples(CELLS, st.none() | st.lists(CELLS), CELLS, st.integers(0, 2)))
MAPPING = ColumnMapping(
    columns=(
        MappedColumn(kind=Kind.EMAIL, position=0, name="row"),
        MappedColumn(kind=Kind.PHONE_NUMBER, position=2, name="contact", is_shared=True),
        MappedColumn(kind=Kind.EMAIL, position=2, name="contact", is_shared=True),
    ),
    country=3,
    country_name="contact",
)


@given(ROWS)
def test_each_rejected_row_has_all_its_cells_and_rejections(rows: list[tuple[Any, Any, Any, int]]) -> None:
    """Whatever the cells hold. Names that two columns have are numbered, and rows without a rejection are missing."""
    numbers = range(5, 5 + len(rows))
    columns = pa.record_batch(
        {
            "row": pa.array(numbers, pa.int64()),
            "country": pa.array([row[2] for row in rows], pa.string()),
            "c0": pa.array([row[0] for row in rows], pa.string()),
            "c2": pa.array([row[1] for row in rows], pa.list_(pa.string())),
        }
    )
    pairs = [[["row", "empty"], ["contact", "too_long"]][: row[3]] for row in rows]
    rejections = [(5 + at, *pair) for at, of_row in enumerate(pairs) for pair in of_row]
    unreadable = (5 + len(rows), None, "malformed_row")
    found = rejected_rows(
        TextBatch(RawColumns(columns), _rejections([])), MAPPING, _rejections([*rejections, unreadable])
    )
    assert [json.loads(line) for line in found.unwrap().splitlines()] == [
        {"row": number, "rejections": of_row, "row (2)": row[0], "contact": row[1], "contact (2)": row[2]}
        for number, row, of_row in zip(numbers, rows, pairs, strict=True)
        if of_row
    ] + [{"row": unreadable[0], "rejections": [[None, "malformed_row"]]}]


def _rejections(rows: list[tuple[int, str | None, str]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(
        [dict(zip(REJECTION_SCHEMA.names, row, strict=True)) for row in rows], REJECTION_SCHEMA
    )
