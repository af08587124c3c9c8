"""The prepared format: records as they lie on disk, their hashes as text."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import HashedRecords, guarded
from audiencekit.preparation.batches import IS_DELETE, OPERATION, ROW
from audiencekit.preparation.bits import Indices
from audiencekit.preparation.chunks import value_counts
from audiencekit.preparation.columnar.hexadecimal import to_hex
from audiencekit.preparation.lists import list_array
from audiencekit.preparation.records import DELETE, UPDATE

# What the key `format` of a file's metadata says. Other engines cannot say it: they are known by their columns.
PREPARED_FORMAT: Final = "audiencekit-prepared/1"

# One line a record. Hashes are lower-case hex; `partner_user_id` is plain. Null where a kind has no value.
PREPARED_SCHEMA: Final = pa.schema(
    [
        pa.field(ROW, pa.int64(), nullable=False),
        pa.field(OPERATION, pa.string(), nullable=False),
        *(pa.field(kind.value, pa.list_(pa.string())) for kind in Kind),
    ]
)


@guarded
def to_prepared(records: HashedRecords, places: Indices) -> HashedRecords:
    """Those at `places` of a batch of RECORD_SCHEMA, as PREPARED_SCHEMA."""
    batch = records.unwrap()
    batch = batch if len(places) == batch.num_rows else batch.take(pa.array(places))
    verbs = pc.if_else(batch.column(IS_DELETE), DELETE, UPDATE)
    lists = [_texts(batch.column(kind.value)) if kind.is_hashed else batch.column(kind.value) for kind in Kind]
    return HashedRecords(pa.record_batch([batch.column(ROW), verbs, *lists], schema=PREPARED_SCHEMA))


def _texts(lists: Any) -> Any:
    return list_array(value_counts(lists), to_hex(lists.flatten()))
