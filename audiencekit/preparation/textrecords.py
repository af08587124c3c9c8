"""The prepared format: records as they lie on disk, their hashes as text."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.identifiers.kinds import Kind
from audiencekit.kernels.library import kernels
from audiencekit.personal import HashedRecords, guarded
from audiencekit.preparation.batches import IS_DELETE, OPERATION, ROW
from audiencekit.preparation.chunks import value_counts
from audiencekit.preparation.columnar.buffers import arrow_array, hash_matrix, list_array, list_offsets, lists_between
from audiencekit.preparation.columnar.hexadecimal import HexKernels, hex_texts, to_hex
from audiencekit.preparation.recordbits import Indices
from audiencekit.preparation.records import DELETE, UPDATE

# The value of `format` in a file's metadata. Other engines cannot write it: their files are known by their columns.
PREPARED_FORMAT: Final = "audiencekit-prepared/1"

_LISTS: Final = pa.list_(pa.string())

# One line a record. Hashes are lower-case hex; `partner_user_id` is plain. Null where a kind has no value.
PREPARED_SCHEMA: Final = pa.schema(
    [
        pa.field(ROW, pa.int64(), nullable=False),
        pa.field(OPERATION, pa.string(), nullable=False),
        *(pa.field(kind.value, _LISTS) for kind in Kind),
    ]
)


@guarded
def to_prepared(records: HashedRecords, places: Indices) -> HashedRecords:
    """Those at `places` of a batch of RECORD_SCHEMA, as PREPARED_SCHEMA."""
    batch = records.unwrap()
    verbs = pc.if_else(arrow_array(batch.column(IS_DELETE).to_numpy(zero_copy_only=False)[places]), DELETE, UPDATE)
    lists = [_texts(batch.column(kind.value), places, is_hashed=kind.is_hashed) for kind in Kind]
    rows = arrow_array(batch.column(ROW).to_numpy()[places])
    return HashedRecords(pa.record_batch([rows, verbs, *lists], schema=PREPARED_SCHEMA))


def _texts(lists: Any, places: Indices, *, is_hashed: bool) -> Any:
    if lists.null_count == len(lists):  # most kinds of most lists
        return pa.nulls(len(places), _LISTS)
    compiled = kernels(HexKernels)
    if is_hashed and compiled:
        hashes = hash_matrix(lists.values)
        digits = np.empty(2 * hashes.size, dtype=np.uint8)
        ends = compiled.write_lists(list_offsets(lists), hashes, places, digits)
        return lists_between(ends, hex_texts(digits, int(ends[-1])))
    chosen = lists.take(arrow_array(places))
    return list_array(value_counts(chosen), to_hex(chosen.flatten())) if is_hashed else chosen
