"""Small batches become large ones, and nothing else changes."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.personal import RawColumns
from audiencekit.records.batches import REJECTION_SCHEMA, TextBatch
from audiencekit.sources.arrow import batchmerging
from audiencekit.sources.arrow.batchmerging import gathered, gathered_columns

NUMBERS = st.integers(1, 2**40)


def _batch(rows: list[int], faults: list[int]) -> TextBatch:
    columns = pa.record_batch([pa.array(rows, pa.int64())], names=["row"])
    told: dict[str, Any] = {"row": faults, "column": [None] * len(faults), "reason": ["ragged"] * len(faults)}
    return TextBatch(RawColumns(columns), pa.RecordBatch.from_pydict(told, schema=REJECTION_SCHEMA))


@pytest.fixture(autouse=True)
def _few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batchmerging, "BATCH_ROWS", 5)


@settings(deadline=None)
@given(st.lists(st.tuples(st.lists(NUMBERS, max_size=4), st.lists(NUMBERS, max_size=1))))
def test_rows_stay_in_order(sizes: list[tuple[list[int], list[int]]]) -> None:
    """In batches of no more than the limit, and hardly more of them than there must be."""
    batches = list(gathered(_batch(*size) for size in sizes))
    rows = [batch.columns.unwrap().num_rows + batch.faults.num_rows for batch in batches]
    assert [row for batch in batches for row in batch.columns.unwrap().column(0).to_pylist()] == [
        row for size in sizes for row in size[0]
    ]
    assert sum(rows) == sum(len(good) + len(bad) for good, bad in sizes)
    assert all(count <= 5 for count in rows)
    assert len(batches) <= 1 + 2 * sum(rows) // 5


@settings(deadline=None)
@given(st.lists(st.lists(NUMBERS, max_size=5)))
def test_columns_stay_in_order(sizes: list[list[int]]) -> None:
    """The same of columns that are not read yet."""
    batches = list(gathered_columns((_batch(rows, []).columns for rows in sizes), most_rows=5))
    found = [batch.unwrap().column(0).to_pylist() for batch in batches]
    assert [row for rows in found for row in rows] == [row for rows in sizes for row in rows]
    assert all(len(rows) <= 5 for rows in found)
    assert len(batches) <= 1 + 2 * sum(map(len, found)) // 5


def test_large_cells_make_batches_of_fewer_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A column of Arrow holds no more than 2 GB; a batch that is larger by itself stays as it came."""
    monkeypatch.setattr(batchmerging, "_MOST_BYTES", 100)
    cells = ["a" * 40, "b" * 40, "c" * 200, "d"]
    batches = [RawColumns(pa.record_batch([pa.array([cell])], names=["c1"])) for cell in cells]
    found = [batch.unwrap().column(0).to_pylist() for batch in gathered_columns(batches, most_rows=5)]
    assert found == [cells[:2], cells[2:3], cells[3:]]
