"""Batches of few rows gathered into larger ones: what works on a batch takes as long for ten rows as for a thousand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import pyarrow as pa

from audiencekit.limits import BATCH_ROWS
from audiencekit.personal import RawColumns, guarded
from audiencekit.preparation.batches import TextBatch

T = TypeVar("T")


def gathered(batches: Iterable[TextBatch]) -> Iterator[TextBatch]:
    """The same rows in the same order, in batches of up to BATCH_ROWS; all have the same columns."""
    return _gathered(batches, lambda batch: batch.columns.unwrap().num_rows + batch.faults.num_rows, _joined)


def gathered_columns(batches: Iterable[RawColumns]) -> Iterator[RawColumns]:
    """The same rows in the same order, in batches of up to BATCH_ROWS; all have the same columns."""
    return _gathered(batches, lambda batch: batch.unwrap().num_rows, _joined_columns)


def _gathered(batches: Iterable[T], rows_of: Callable[[T], int], joined: Callable[[list[T]], T]) -> Iterator[T]:
    waiting: list[T] = []
    rows = 0
    for batch in batches:
        size = rows_of(batch)
        if waiting and rows + size > BATCH_ROWS:
            yield joined(waiting)
            waiting, rows = [], 0
        waiting.append(batch)
        rows += size
    if waiting:
        yield joined(waiting)


def _joined(batches: list[TextBatch]) -> TextBatch:
    columns = _joined_columns([batch.columns for batch in batches])
    return TextBatch(columns, pa.concat_batches([batch.faults for batch in batches]))


@guarded
def _joined_columns(batches: list[RawColumns]) -> RawColumns:
    return batches[0] if len(batches) == 1 else RawColumns(pa.concat_batches([batch.unwrap() for batch in batches]))
