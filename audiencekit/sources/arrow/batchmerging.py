"""Batches of few rows gathered into larger ones: what works on a batch takes as long for ten rows as for a thousand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias, TypeVar

import pyarrow as pa

from audiencekit.limits import BATCH_ROWS
from audiencekit.personal import RawColumns, guarded
from audiencekit.records.batches import TextBatch

T = TypeVar("T")

Size: TypeAlias = tuple[int, int]  # rows and bytes

_MOST_BYTES: Final = 64_000_000  # of cells, far from the 2**31 that a column of Arrow can hold


def gathered(batches: Iterable[TextBatch]) -> Iterator[TextBatch]:
    """The same rows in the same order, in batches of up to BATCH_ROWS; all have the same columns."""
    return _gathered(batches, _size, _joined, BATCH_ROWS)


def gathered_columns(batches: Iterable[RawColumns], *, most_rows: int) -> Iterator[RawColumns]:
    """The same rows in the same order, in batches of up to `most_rows`; all have the same columns."""
    return _gathered(batches, _size_of_columns, _joined_columns, most_rows)


def _gathered(
    batches: Iterable[T], size_of: Callable[[T], Size], joined: Callable[[list[T]], T], most_rows: int
) -> Iterator[T]:
    waiting: list[T] = []
    rows = size_bytes = 0
    for batch in batches:
        more_rows, more_bytes = size_of(batch)
        if waiting and (rows + more_rows > most_rows or size_bytes + more_bytes > _MOST_BYTES):
            yield joined(waiting)
            waiting, rows, size_bytes = [], 0, 0
        waiting.append(batch)
        rows += more_rows
        size_bytes += more_bytes
    if waiting:
        yield joined(waiting)


def _size(batch: TextBatch) -> Size:
    rows, size_bytes = _size_of_columns(batch.columns)
    return rows + batch.faults.num_rows, size_bytes


def _size_of_columns(batch: RawColumns) -> Size:
    whole = batch.unwrap()
    return whole.num_rows, whole.nbytes


def _joined(batches: list[TextBatch]) -> TextBatch:
    columns = _joined_columns([batch.columns for batch in batches])
    return TextBatch(columns, pa.concat_batches([batch.faults for batch in batches]))


@guarded
def _joined_columns(batches: list[RawColumns]) -> RawColumns:
    return batches[0] if len(batches) == 1 else RawColumns(pa.concat_batches([batch.unwrap() for batch in batches]))
