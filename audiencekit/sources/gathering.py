"""Batches of few rows gathered into larger ones: what works on a batch takes as long for ten rows as for a thousand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from audiencekit.limits import BATCH_ROWS
from audiencekit.personal import RawColumns, guarded
from audiencekit.preparation.batches import TextBatch


def gathered(batches: Iterable[TextBatch]) -> Iterator[TextBatch]:
    """The same rows in the same order, in batches of up to BATCH_ROWS; all have the same columns."""
    waiting: list[TextBatch] = []
    rows = 0
    for batch in batches:
        size = batch.columns.unwrap().num_rows + batch.faults.num_rows
        if waiting and rows + size > BATCH_ROWS:
            yield _joined(waiting)
            waiting, rows = [], 0
        waiting.append(batch)
        rows += size
    if waiting:
        yield _joined(waiting)


@guarded
def _joined(batches: list[TextBatch]) -> TextBatch:
    if len(batches) == 1:
        return batches[0]
    columns = pa.concat_batches([batch.columns.unwrap() for batch in batches])
    return TextBatch(RawColumns(columns), pa.concat_batches([batch.faults for batch in batches]))
