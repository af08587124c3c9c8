"""The keys of the people to be erased, each as a record of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa

from audiencekit.identifiers.kinds import Kind
from audiencekit.machine.keys import DIGESTS, StateKey
from audiencekit.personal import HashedRecords, Personal, guarded
from audiencekit.preparation.batches import IS_DELETE
from audiencekit.preparation.chunks import to_chunk
from audiencekit.preparation.columnar.buffers import arrow_array, list_array
from audiencekit.preparation.columnar.hexadecimal import from_hex
from audiencekit.preparation.records import RECORD_SCHEMA

FINGERPRINT_BYTES: Final = 16
_FINGERPRINTS: Final = "erasures"

# A kind, and the key as it stands in a request: 64 hex digits, or a partner user id.
Key: TypeAlias = tuple[Kind, str]


class ErasureKeys(Personal[frozenset[Key]]):
    """The keys of an erasure. Hashes are personal data."""


@guarded
def to_records(keys: ErasureKeys) -> HashedRecords:
    """One Delete a key (RECORD_SCHEMA), always in the same order: what an entry shares with one of them is enough."""
    ordered = sorted(keys.unwrap())
    rows = np.arange(1, len(ordered) + 1)
    columns = []
    for kind in Kind:
        values = pa.array([value for of, value in ordered if of is kind], pa.string())
        counts = np.array([of is kind for of, _ in ordered], dtype=np.int64)
        columns.append(list_array(counts, from_hex(values) if kind.is_hashed else values))
    deletes = pa.repeat(True, len(ordered))
    return HashedRecords(pa.record_batch([arrow_array(rows), deletes, *columns], schema=RECORD_SCHEMA))


@guarded
def as_updates(records: HashedRecords, kinds: Collection[Kind]) -> HashedRecords:
    """Those of `records` whose key is of one of `kinds`, as Updates."""
    batch = records.unwrap()
    wanted = np.zeros(batch.num_rows, dtype=bool)
    for kind in kinds:
        wanted |= batch.column(kind.value).is_valid().to_numpy(zero_copy_only=False)
    kept = batch.filter(arrow_array(wanted))
    place = kept.schema.get_field_index(IS_DELETE)
    return HashedRecords(kept.set_column(place, RECORD_SCHEMA.field(IS_DELETE), pa.repeat(False, kept.num_rows)))


def count_by_kind(records: HashedRecords) -> dict[str, int]:
    """How many keys there are of each kind that there is."""
    batch = records.unwrap()
    counts = {kind.value: batch.num_rows - batch.column(kind.value).null_count for kind in Kind}
    return {kind: count for kind, count in counts.items() if count}


@guarded
def keys_fingerprint(records: HashedRecords, key: StateKey) -> str:
    """A digest that is equal for the same keys, in hex, and of no use without `key`: it finds their erasure again."""
    content, own = to_chunk(records).unwrap(), key.derive(DIGESTS, _FINGERPRINTS)
    return hashlib.blake2b(content, key=own.unwrap(), digest_size=FINGERPRINT_BYTES).hexdigest()
