"""Records -> user entries as they stand in a request (specification part 2, section 4.4)."""

from __future__ import annotations

from typing import Any, Final

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import HashedRecords, guarded
from audiencekit.preparation.batches import OPERATION, ROW
from audiencekit.preparation.records import DELETE
from audiencekit.profile import Profile

# `user` is the JSON object of one record followed by a comma, so that neighbours in the buffer are already joined.
USER_SCHEMA: Final = pa.schema(
    [
        pa.field(ROW, pa.int64(), nullable=False),
        pa.field("is_delete", pa.bool_(), nullable=False),
        pa.field("user", pa.binary(), nullable=False),
    ]
)


@guarded
def encode_users(records: HashedRecords, profile: Profile) -> HashedRecords:
    """USER_SCHEMA, one line a record, in the order of `records`; compact JSON, kinds in the order of `Kind`."""
    batch = records.unwrap()
    present = [kind for kind in Kind if batch.column(kind.value).null_count < batch.num_rows]
    fields = [_field(batch.column(kind.value), profile.wire_name(kind.value), kind) for kind in present]
    joined = pc.binary_join_element_wise(
        *(fields or [pa.nulls(batch.num_rows, pa.string())]), ",", null_handling="skip"
    )
    users = pc.binary_join_element_wise("{", joined, "},", "")
    return HashedRecords(
        pa.record_batch(
            [batch.column(ROW), pc.equal(batch.column(OPERATION), DELETE), users.cast(pa.binary())],
            schema=USER_SCHEMA,
        )
    )


def _field(values: Any, wire_name: str, kind: Kind) -> pa.Array:
    """`"email":["…","…"]` for each record, null where it has no value."""
    if not kind.is_hashed:
        return _free_text_field(values, wire_name)
    return pc.binary_join_element_wise(f'"{wire_name}":["', pc.binary_join(values, '","'), '"]', "")


def _free_text_field(values: Any, wire_name: str) -> pa.Array:
    # Only hex needs no JSON escapes.
    texts = [None if one is None else f'"{wire_name}":{orjson.dumps(one).decode()}' for one in values.to_pylist()]
    return pa.array(texts, pa.string())
