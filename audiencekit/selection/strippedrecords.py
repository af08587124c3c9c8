"""Records without their shared values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import HashedRecords, guarded
from audiencekit.preparation.batches import IS_DELETE, ROW
from audiencekit.preparation.bits import Bools, Indices, bools_of
from audiencekit.preparation.columnar.buffers import arrow_array
from audiencekit.preparation.valuelists import list_array
from audiencekit.selection.sharedvalues import SharedValues, ValueCounts
from audiencekit.selection.suppression import KeyMemory, held_keys
from audiencekit.selection.tags import TAG, Tagger, Tags, hashes_by_kind


@dataclass(frozen=True, slots=True)
class StrippedRecords:
    """A batch of records without their shared values, and without the records that had no others.

    `left_out` says for each kind the row of each value that was left out. `stays` says of each record of the batch
    whether it is among `records` still; `rows` and `deletes` are of those that are not. `remembered` counts the values
    left out that a memory holds.
    """

    records: HashedRecords
    left_out: dict[Kind, Indices]
    stays: Bools = field(repr=False)
    rows: Indices = field(repr=False)
    deletes: Bools = field(repr=False)
    remembered: int = 0


@guarded
def strip_shared(
    records: HashedRecords,
    shared: SharedValues,
    tagger: Tagger,
    counts: ValueCounts,
    memories: Sequence[KeyMemory] = (),
) -> StrippedRecords | None:
    """`records` without the values in `shared`; None for a batch that has none. `counts` has counted all of them."""
    batch = records.unwrap()
    tagged = tagger.tag(batch)
    is_shared = counts.may_be_many(tagged.tags)  # few are left to be looked up
    is_shared[is_shared] = shared.holds(tagged.tags[is_shared])
    if not is_shared.any():
        return None
    rows, columns, left_out, start = batch.column(ROW).to_numpy(), {}, {}, 0
    values_left = np.zeros(batch.num_rows, dtype=np.int64)
    for (kind, _, _), (owners, _) in zip(hashes_by_kind(batch), tagged.by_kind(), strict=True):
        removed = is_shared[start : start + len(owners)]
        start += len(owners)
        own = np.bincount(owners[~removed], minlength=batch.num_rows)
        values_left += own
        if removed.any():
            left_out[kind] = rows[owners[removed]]
            values = batch.column(kind.value).flatten().filter(arrow_array(~removed))
            columns[kind.value] = list_array(own, values)
    stays = values_left > 0
    kept = [columns.get(name, batch.column(name)) for name in batch.schema.names]
    stripped = pa.record_batch(kept, schema=batch.schema)
    if not stays.all():
        stripped = stripped.filter(arrow_array(stays))
    return StrippedRecords(
        HashedRecords(stripped),
        left_out,
        stays,
        rows[~stays],
        bools_of(batch.column(IS_DELETE))[~stays],
        int(np.count_nonzero(held_keys(batch, memories) & is_shared)) if memories else 0,
    )


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
