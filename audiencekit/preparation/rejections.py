"""The rejections of one batch as they gather: rows and reasons in whole columns, never a value."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.preparation.batches import REJECTION_SCHEMA
from audiencekit.preparation.columnar.buffers import arrow_array


class Rejections:
    """Starts with the faults of the source, REJECTION_SCHEMA."""

    def __init__(self, faults: pa.RecordBatch) -> None:
        self._parts: list[pa.RecordBatch] = [faults]

    def add(self, rows: Any, indices: npt.NDArray[np.int64], column: str | None, reasons: Any) -> None:
        """Add the rows at `indices` of `rows`, each with its reason (pa.StringArray)."""
        if len(indices):
            names = pa.repeat(pa.scalar(column, pa.string()), len(indices))
            part = [rows.take(arrow_array(indices)), names, reasons]
            self._parts.append(pa.record_batch(part, schema=REJECTION_SCHEMA))

    def to_batch(self) -> pa.RecordBatch:
        """All of them, ordered by row, column and reason; whole rows come first."""
        table = pa.Table.from_batches(self._parts)
        if not table.num_rows:
            return self._parts[0]
        # A whole row has no column, which is to come first: an empty name does.
        ordered_by = table.set_column(1, "column", pc.fill_null(table.column("column"), ""))
        order = pc.sort_indices(ordered_by, sort_keys=[(name, "ascending") for name in REJECTION_SCHEMA.names])
        return table.take(order).combine_chunks().to_batches()[0]
