"""The difference between a list and a snapshot: members to add, to renew and to remove."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Final, Self

import numpy as np

from audiencekit.audiences.sync.removals import as_records
from audiencekit.identifiers.kinds import Kind
from audiencekit.limits import RENEW_BEFORE_DAYS, RENEW_BEFORE_SHARE
from audiencekit.personal import HashedRecords, guarded
from audiencekit.planning.plan_inputs import PlanResources, PlanTerms
from audiencekit.planning.reading import BatchResults
from audiencekit.process.workers import Memo, cores, in_order
from audiencekit.records.batches import ColumnMapping, ColumnUse
from audiencekit.records.chunks import RecordChunk, from_chunk, to_chunk
from audiencekit.records.columns.arrays import arrow_array
from audiencekit.records.losses import Loss
from audiencekit.records.record_bits import Bits, Bools, Indices
from audiencekit.selection.key_sets import KeyMemory, KeySets, held_keys
from audiencekit.selection.selection import NEIGHBOURS
from audiencekit.selection.tag_arrays import Entries
from audiencekit.snapshots.files import PARTS, Index, Snapshot
from audiencekit.snapshots.mark_arrays import Comparison, DayLimits
from audiencekit.snapshots.marks import MARK_LOOPS
from audiencekit.snapshots.members import (
    DOUBTFUL,
    DROPPED,
    chosen,
    count_members,
    day_of,
    days_of,
    joined_members,
    to_bytes,
)
from audiencekit.sources.table import Description, SourcePart
from audiencekit.state.spool import SealedFile, Spool

# --- A source compared with the snapshot, part by part: members to add, to remove and to renew ---

_SPILL_AT: Final = 8_192  # members that leave, at a time


@dataclass(frozen=True, slots=True)
class Horizon:
    """The days that decide about an entry.

    An entry that ends on `renewed_to` or earlier is renewed, one that ends before `lapsed_before` has expired. With
    `all_members` all entries are sent.
    """

    lapsed_before: int
    renewed_to: int
    all_members: bool = False

    @classmethod
    def of(cls, now: datetime, expires_at: datetime, *, all_members: bool) -> Self:
        """Return the days of a sync whose entries should end at `expires_at`."""
        today, lifetime = day_of(now), day_of(expires_at) - day_of(now)
        return cls(
            lapsed_before=today - 1,  # entries expire in the course of a day, by the clock of the service
            renewed_to=today + min(RENEW_BEFORE_DAYS, int(lifetime * RENEW_BEFORE_SHARE)),
            all_members=all_members,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The changes. `sent` are the records of the source that are put in, of all `wanted` ones; counts are of records.

    `removed` has, for each chunk of the spool with members to remove (`members.MemberChunk`), its number and their
    number.
    """

    wanted: Bits = field(repr=False)
    sent: Bits = field(repr=False)
    additions: int = 0
    renewals: int = 0
    unchanged: int = 0
    removed: list[tuple[int, int]] = field(default_factory=list, repr=False)

    @property
    def removals(self) -> int:
        """The number of members to remove."""
        return sum(count for _, count in self.removed)


@dataclass(frozen=True, slots=True)
class _OfPart:
    additions: int
    renewals: int
    unchanged: int
    sent: Indices  # records
    removed: HashedRecords


def find_difference(
    keysets: KeySets, wanted: Bits, snapshot: Snapshot, horizon: Horizon, *, scratch: Spool
) -> Difference:
    """Return the changes that make the audience equal to the `wanted` records.

    The tagger of `keysets` is that of the snapshot. Raises SnapshotRefused when the snapshot is damaged: all of it is
    read.
    """
    # Unsealed by one thread, as tags are in `KeySets.select`.
    unsealed = ((part, keysets.tagged(part), snapshot.index(part)) for part in range(PARTS))
    compare = functools.partial(_compare, wanted, snapshot, horizon)
    found = Difference(wanted=wanted, sent=Bits.of(len(wanted), False))
    leaving: list[HashedRecords] = []
    count = 0
    for part in in_order(compare, unsealed, workers=cores()):
        found.sent.set(part.sent, True)
        leaving.append(part.removed)
        count += count_members(part.removed)
        if count >= _SPILL_AT:
            found.removed.append(_spill(leaving, scratch))
            leaving, count = [], 0
        found = replace(
            found,
            additions=found.additions + part.additions,
            renewals=found.renewals + part.renewals,
            unchanged=found.unchanged + part.unchanged,
        )
    if count:
        found.removed.append(_spill(leaving, scratch))
    return found


@guarded
def _compare(wanted: Bits, snapshot: Snapshot, horizon: Horizon, unsealed: tuple[int, list[Entries], Index]) -> _OfPart:
    part, pieces, index = unsealed
    found = _compare_marks(pieces, wanted, index, horizon)
    return _OfPart(
        additions=found.additions,
        renewals=len(found.sent) - found.additions,
        unchanged=found.wanted - len(found.sent),
        sent=found.sent,
        removed=snapshot.chosen(part, index.take(found.gone)),
    )


def _compare_marks(pieces: list[Entries], wanted: Bits, index: Index, horizon: Horizon) -> Comparison:
    by = DayLimits(**asdict(horizon), doubtful=DOUBTFUL, dropped=DROPPED)
    return MARK_LOOPS.compare(pieces, wanted.packed(), index.marks.halves(), index.days, by)


@guarded
def _spill(leaving: list[HashedRecords], scratch: Spool) -> tuple[int, int]:
    """Write members to the scratch spool; return the number of the chunk, and how many members it holds."""
    members = joined_members(leaving)
    return scratch.append(to_bytes(members).unwrap()), count_members(members)


# --- The members of a snapshot as the source of a renewal: those whose entry expires soon, gathered as records ---

_NO_COLUMNS: Final = ColumnMapping(columns=())


@dataclass(frozen=True, slots=True)
class Members:
    """The origin of the records of a renewal."""

    description: Description
    notes: tuple[str, ...] = ()
    warnings: tuple[Loss, ...] = ()
    uses: tuple[ColumnUse, ...] = ()
    parts: tuple[SourcePart, ...] = ()
    mapping: ColumnMapping = _NO_COLUMNS
    repeatable: bool = True


def gather_expiring(
    snapshot: Snapshot, days: range, terms: PlanTerms, resources: PlanResources
) -> tuple[BatchResults, int]:
    """Return the members whose entries expire within `days`, as records, and how many members are suppressed."""
    spool, scratch = (resources.stack.enter_context(Spool(resources.spool_dir)) for _ in range(2))
    gathered = BatchResults(spool, scratch, KeySets(scratch, mixed=False), terms.form)
    suppressed = 0
    for part in range(PARTS):
        suppressed += _gather(gathered, snapshot, part, days, terms.memories)
        resources.progress.step("reading", part + 1, PARTS, unit="parts of the snapshot")
    return gathered, suppressed


def _gather(gathered: BatchResults, snapshot: Snapshot, part: int, days: range, memories: Sequence[KeyMemory]) -> int:
    """Add the members of one part: all are counted, and those whose entries expire within `days` are to be sent.

    Members with a key in one of `memories` are not sent; their number is returned.
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
    """Return for each of `members` whether one of `memories` holds a key of it."""
    batch = members.unwrap()
    owners = [batch.column(kind.value).value_parent_indices().to_numpy() for kind in Kind]
    held = np.zeros(batch.num_rows, dtype=bool)
    held[np.concatenate(owners)[held_keys(batch, memories)]] = True
    return held


# --- The records of a source that are sent, copied out of the batches that hold few of them ---
#
# They are looked at to plan which people a Delete strikes, noted before anything is sent, and sent: with the copies a
# batch of which one record in a hundred is sent is unsealed once for all of it.

_FEW_SHARE: Final = 0.25  # of a batch, at most: copies of more take as long as the batch
_IN_MEMORY: Final = 65_536  # records that are copied: some ten megabytes; what is more is put aside


@dataclass(frozen=True, slots=True)
class _Copy:
    """The `records` from the ascending `places` of a batch."""

    places: Indices = field(repr=False)
    records: HashedRecords


class SentRecords:
    """Records of the batches that `unsealed` returns. Copies go into `copies`, which is empty and only used here.

    May be used from any thread.
    """

    def __init__(self, unsealed: Callable[[int], HashedRecords], copies: SealedFile) -> None:
        self._unsealed, self._copies = Memo(unsealed, most=NEIGHBOURS), copies
        self._begun: set[int] = set()
        self._in_memory: dict[int, _Copy] = {}
        self._on_disk: set[int] = set()
        self._room = _IN_MEMORY
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<SentRecords with copies of {len(self._in_memory) + len(self._on_disk)} batches>"

    def store(self, batch: int, records: HashedRecords, places: Indices) -> None:
        """Copy the records at `places` (ascending) of `batch`, unless they are many, or some are copied already."""
        if not 0 < len(places) <= records.unwrap().num_rows * _FEW_SHARE:
            return
        is_first, has_room = self._begin(batch, len(places))
        if is_first and has_room:
            self._in_memory[batch] = _Copy(places, records_at(records, places))
        elif is_first:
            self._copies.append(places.astype("<u4").tobytes(), 2 * batch)
            self._copies.append(to_chunk(records_at(records, places)).unwrap(), 2 * batch + 1)
            self._on_disk.add(batch)

    def at(self, batch: int, places: Indices) -> HashedRecords:
        """Return the records of `batch` at `places`, ascending (RECORD_SCHEMA)."""
        return records_at(*self.find(batch, places))

    def find(self, batch: int, places: Indices) -> tuple[HashedRecords, Indices]:
        """Return records that include those of `batch` at `places` (ascending), and the places of these among them."""
        if (copy := self._copy(batch)) is not None:
            found = np.searchsorted(copy.places, places)
            if (copy.places.take(found, mode="clip") == places).all():
                return copy.records, found
        records = self._unsealed(batch)
        self.store(batch, records, places)
        return records, places

    def _copy(self, batch: int) -> _Copy | None:
        if batch not in self._on_disk:
            return self._in_memory.get(batch)
        places = np.frombuffer(self._copies.read(2 * batch), dtype="<u4").astype(np.int64)
        return _Copy(places, from_chunk(RecordChunk(self._copies.read(2 * batch + 1))))

    def _begin(self, batch: int, count: int) -> tuple[bool, bool]:
        """Return whether no thread has begun to copy of `batch`, and whether so many of its records fit into memory."""
        with self._lock:
            is_first, has_room = batch not in self._begun, count <= self._room
            self._begun.add(batch)
            if is_first and has_room:
                self._room -= count
        return is_first, has_room


@guarded
def records_at(records: HashedRecords, places: Indices) -> HashedRecords:
    """Return those of `records` (RECORD_SCHEMA) at `places`, ascending."""
    batch = records.unwrap()
    return records if len(places) == batch.num_rows else HashedRecords(batch.take(arrow_array(places)))
