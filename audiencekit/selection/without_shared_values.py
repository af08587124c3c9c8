"""Remove shared values from records, and list the other rows that have such values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from audiencekit.personal import HashedRecords, guarded
from audiencekit.records.batches import ROW
from audiencekit.records.columns.arrays import arrow_array, list_array
from audiencekit.records.record_bits import Bools, Indices
from audiencekit.selection.key_sets import KeyMemory, held_keys
from audiencekit.selection.shared_values import SharedValues
from audiencekit.selection.tag_arrays import TAG, Tags
from audiencekit.selection.tags import Tagger, hashes_by_kind


@guarded
def without_values(records: HashedRecords, places: Indices) -> HashedRecords:
    """The same number of `records` without the values at `places`, which count all values, kind after kind."""
    batch = records.unwrap()
    columns: dict[str, Any] = {}
    start = 0
    for kind, lists, values in hashes_by_kind(batch):
        removed = np.zeros(len(values), dtype=bool)
        own = places[(places >= start) & (places < start + len(values))] - start
        start += len(values)
        if len(own):
            removed[own] = True
            columns[kind.value] = _without(lists, removed)
    kept = [columns.get(name, batch.column(name)) for name in batch.schema.names]
    return HashedRecords(pa.record_batch(kept, schema=batch.schema))


def _without(lists: Any, removed: Bools) -> Any:
    owners = lists.value_parent_indices().to_numpy(zero_copy_only=False)
    counts = np.bincount(owners[~removed], minlength=len(lists))
    return list_array(counts, lists.flatten().filter(arrow_array(~removed)))


@guarded
def count_remembered(records: HashedRecords, places: Indices, memories: Sequence[KeyMemory]) -> int:
    """How many of the values at `places`, as in `without_values`, one of `memories` holds."""
    return int(np.count_nonzero(held_keys(records.unwrap(), memories)[places]))


@guarded
def find_sharing_rows(
    forms: Sequence[HashedRecords], shared: SharedValues, tagger: Tagger
) -> tuple[Indices, Indices, Tags]:
    """The rows that have a shared value in any of their `forms`; and the row and tag of each of their other values."""
    rows, tags = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=TAG)]
    for records in forms:
        batch = records.unwrap()
        tagged = tagger.tag(batch)
        rows.append(batch.column(ROW).to_numpy()[tagged.owners()])
        tags.append(tagged.tags)
    every_row, every_tag = np.concatenate(rows), np.concatenate(tags)
    is_shared = shared.holds(every_tag)
    sharing = np.unique(every_row[is_shared])
    is_beside = ~is_shared & np.isin(every_row, sharing)
    return sharing, every_row[is_beside], every_tag[is_beside]
