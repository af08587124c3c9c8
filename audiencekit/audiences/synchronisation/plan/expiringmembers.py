"""The members of a snapshot as the source of a renewal: those whose entry expires soon, gathered as records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from audiencekit.audiences.synchronisation.plan.removals import as_records
from audiencekit.identifiers.kinds import Kind
from audiencekit.machine.spool import Spool
from audiencekit.personal import HashedRecords, guarded
from audiencekit.planning.plan_inputs import Means, Terms
from audiencekit.planning.reading import BatchResults
from audiencekit.preparation.batches import ColumnMapping
from audiencekit.preparation.recordbits import Bools
from audiencekit.selection.keysets import KeySets
from audiencekit.selection.suppression import KeyMemory, held_keys
from audiencekit.snapshots.files import PARTS, Snapshot
from audiencekit.snapshots.members import chosen, days_of
from audiencekit.sources.table import Description, SourcePart

_NO_COLUMNS: Final = ColumnMapping(columns=())


@dataclass(frozen=True, slots=True)
class Members:
    """Where the records of a renewal come from."""

    description: Description
    notes: tuple[str, ...] = ()
    parts: tuple[SourcePart, ...] = ()
    mapping: ColumnMapping = _NO_COLUMNS
    repeatable: bool = True


def gather_expiring(snapshot: Snapshot, days: range, terms: Terms, means: Means) -> tuple[BatchResults, int]:
    """The members whose entry expires within `days`, as records, and how many members are suppressed."""
    spool, aside = (means.stack.enter_context(Spool(means.spool_dir)) for _ in range(2))
    gathered = BatchResults(spool, aside, KeySets(aside, mixed=False), terms.form)
    suppressed = 0
    for part in range(PARTS):
        suppressed += _gather(gathered, snapshot, part, days, terms.memories)
        means.progress.step("reading", part + 1, PARTS, unit="parts of the snapshot")
    return gathered, suppressed


def _gather(gathered: BatchResults, snapshot: Snapshot, part: int, days: range, memories: Sequence[KeyMemory]) -> int:
    """Take in the members of one part: all are counted, those whose entry expires within `days` are to be sent.

    Members with a key that one of `memories` holds are not; their number comes back.
    """
    members = snapshot.members(part)
    ends = days_of(members)
    gathered.tally.rows_read += int((ends >= days.start).sum())
    places = np.flatnonzero((ends >= days.start) & (ends < days.stop))
    held = _are_held(chosen(members, places), memories)
    places = places[~held]
    if len(places):
        records = as_records(chosen(members, places), first_row=gathered.tally.records + 1, deletes=False)
        gathered.tally.records += len(places)
        gathered.append(records)
    return int(held.sum())


@guarded
def _are_held(members: HashedRecords, memories: Sequence[KeyMemory]) -> Bools:
    """Of each of `members`, whether one of `memories` holds a key of it."""
    batch = members.unwrap()
    owners = [batch.column(kind.value).value_parent_indices().to_numpy() for kind in Kind]
    held = np.zeros(batch.num_rows, dtype=bool)
    held[np.concatenate(owners)[held_keys(batch, memories)]] = True
    return held
