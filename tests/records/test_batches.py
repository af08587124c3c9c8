"""Cells of a country column."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from audiencekit.identifiers.countries import country_of_row
from audiencekit.identifiers.kinds import Reason
from audiencekit.records import batches as countries
from audiencekit.records.batches import REJECTION_SCHEMA, Rejections, resolve_countries
from audiencekit.records.columns.arrays import code_of
from audiencekit.records.columns.plain_texts import PlainTexts
from audiencekit.records.columns.text_kernels import TextKernels
from tests.cases import each_case
from tests.kernels.installed import both


@both(TextKernels, PlainTexts)
@given(
    texts=st.lists(
        st.sampled_from(["DE", "de", "Germany", "DEU", "", " ", "nowhere", "France", None]) | st.text(max_size=9)
    )
)
def test_countries_of_rows(loops: Any, texts: list[str | None]) -> None:
    """Codes by row, null where a cell says nothing or is not there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(countries, "TEXT_LOOPS", loops())
        resolved = resolve_countries(pa.array(texts, pa.string()))
    assert resolved.to_pylist() == [country_of_row(text) if text else None for text in texts]


ROWS = pa.array(range(10, 20), pa.int64())
Entry = tuple[int, str | None, str]

columns = st.sampled_from([None, "", "email", "phone", "größe"])
entries = st.lists(st.tuples(st.integers(0, 9), st.sampled_from(list(Reason))), max_size=8)


def _faults(*entries: Entry) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(
        [dict(zip(REJECTION_SCHEMA.names, entry, strict=True)) for entry in entries], schema=REJECTION_SCHEMA
    )


def _in_order(entry: Entry) -> tuple[int, bool, str, str]:
    row, column, reason = entry
    return row, column is not None, column or "", reason


@given(st.lists(st.tuples(columns, entries), max_size=4), st.lists(st.tuples(st.integers(0, 30), columns), max_size=3))
def test_all_are_handed_out_by_row_and_column_and_reason(
    parts: list[tuple[str | None, list[tuple[int, Reason]]]], faulty: list[tuple[int, str | None]]
) -> None:
    faults = [(row, column, Reason.RAGGED.value) for row, column in faulty]
    rejections = Rejections(_faults(*faults))
    for column, own in parts:
        places = np.array([place for place, _ in own], dtype=np.int64)
        rejections.add(ROWS, places, column, np.array([code_of(reason) for _, reason in own], dtype=np.int8))
    expected = faults + [(10 + place, column, reason.value) for column, own in parts for place, reason in own]
    assert rejections.counts() == Counter(reason for _, _, reason in expected)
    batch = rejections.to_batch()
    assert batch.schema == REJECTION_SCHEMA
    assert [tuple(entry.values()) for entry in batch.to_pylist()] == sorted(expected, key=_in_order)


@each_case("column", [None, "phone"])
def test_one_reason_holds_for_all_rows_that_come_with_it(column: str | None) -> None:
    rejections = Rejections(_faults())
    rejections.add(ROWS, np.array([3, 1]), column, Reason.NO_IDENTIFIER)
    assert rejections.to_batch().to_pylist() == [
        {"row": 11, "column": column, "reason": "no_identifier"},
        {"row": 13, "column": column, "reason": "no_identifier"},
    ]
