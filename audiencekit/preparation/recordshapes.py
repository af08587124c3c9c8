"""Records without people: batches of which only the number of values of each kind matters, to be measured."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audiencekit.limits import SHA256_BYTES
from audiencekit.personal import HashedRecords
from audiencekit.preparation.columnar.buffers import arrow_array, hash_array, list_array
from audiencekit.preparation.records import RECORD_SCHEMA, VALUE_TYPES


def records_of_shapes(shapes: npt.NDArray[np.int64]) -> HashedRecords:
    """A batch of records with as many values of each kind as `shapes` says, one row a record, in the order of kinds."""
    lists = []
    for counts, (kind, value_type) in zip(shapes.T, VALUE_TYPES.items(), strict=True):
        size = int(counts.sum())
        values = hash_array(np.zeros((size, SHA256_BYTES), dtype=np.uint8)) if kind.is_hashed else pa.repeat("x", size)
        lists.append(list_array(counts, values) if size else pa.nulls(len(shapes), pa.list_(value_type)))
    rows, deletes = np.arange(1, len(shapes) + 1), np.zeros(len(shapes), dtype=bool)
    return HashedRecords(pa.record_batch([arrow_array(rows), arrow_array(deletes), *lists], schema=RECORD_SCHEMA))
