"""The difference between a list and a snapshot: who is added, who stays, who expires."""

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
from audiencekit.kernels.library import kernels
from audiencekit.limits import RENEW_BEFORE_DAYS, RENEW_BEFORE_SHARE
from audiencekit.personal import HashedRecords, guarded
from audiencekit.planning.plan_inputs import Means, Terms
from audiencekit.planning.reading import BatchResults
from audiencekit.process.workers import Memo, cores, in_order
from audiencekit.records.batches import ColumnMapping
from audiencekit.records.chunks import RecordChunk, from_chunk, to_chunk
from audiencekit.records.columns.arrays import arrow_array
from audiencekit.records.losses import Loss
from audiencekit.records.record_bits import Bits, Bools, Indices
from audiencekit.selection.key_sets import KeyMemory, KeySets, held_keys
from audiencekit.selection.partitions import Entries, records_of
from audiencekit.selection.selection import NEIGHBOURS
from audiencekit.snapshots.files import PARTS, Index, Snapshot
from audiencekit.snapshots.mark_kernels import Compared, DecidingDays, MarkKernels
from audiencekit.snapshots.marks import Marks
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

# --- A source compared with the snapshot, part by part: who is new, who is gone, whose entry expires soon ---

_PUT_ASIDE: Final = 8_192  # members that leave, at a time


@dataclass(frozen=True, slots=True)
class Horizon:
    """Days that decide: an entry that ends on `renewed_to` or earlier is renewed, one before `lapsed_before` is gone.

    With `all_members`, entries are sent whether they need it or not.
    """

    lapsed_before: int
    renewed_to: int
    all_members: bool = False

    @classmethod
    def of(cls, now: datetime, expires_at: datetime, *, all_members: bool) -> Self:
        """The days of a sync whose entries are to end at `expires_at`."""
        today, lifetime = day_of(now), day_of(expires_at) - day_of(now)
        return cls(
            lapsed_before=today - 1,  # entries expire in the course of a day, by the clock of the service
            renewed_to=today + min(RENEW_BEFORE_DAYS, int(lifetime * RENEW_BEFORE_SHARE)),
            all_members=all_members,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """`sent` are the records of the source that are put in, of all those `wanted`; counts are of records.

    `removed` are the chunks of the spool with the members that are to go (`members.MemberChunk`), and how many.
    """

    wanted: Bits = field(repr=False)
    sent: Bits = field(repr=False)
    additions: int = 0
    renewals: int = 0
    unchanged: int = 0
    removed: list[tuple[int, int]] = field(default_factory=list, repr=False)

    @property
    def removals(self) -> int:
        """How many members are to go."""
        return sum(count for _, count in self.removed)


@dataclass(frozen=True, slots=True)
class _OfPart:
    additions: int
    renewals: int
    unchanged: int
    sent: Indices  # records
    removed: HashedRecords


def find_difference(
    keysets: KeySets, wanted: Bits, snapshot: Snapshot, horizon: Horizon, *, aside: Spool
) -> Difference:
    """The changes that make the audience equal to the `wanted` records; the tags of `keysets` are by its tagger.

    Raises SnapshotRefused when the snapshot is damaged: all of it is read.
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
        if count >= _PUT_ASIDE:
            found.removed.append(_put_aside(leaving, aside))
            leaving, count = [], 0
        found = replace(
            found,
            additions=found.additions + part.additions,
            renewals=found.renewals + part.renewals,
            unchanged=found.unchanged + part.unchanged,
        )
    if count:
        found.removed.append(_put_aside(leaving, aside))
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


def _compare_marks(pieces: list[Entries], wanted: Bits, index: Index, horizon: Horizon) -> Compared:
    if compiled := kernels(MarkKernels):
        by = DecidingDays(**asdict(horizon), doubtful=DOUBTFUL, dropped=DROPPED)
        return compiled.compare(pieces, wanted.packed(), index.marks.halves(), index.days, by)
    entries = np.concatenate(pieces)
    entries = entries[wanted.at(entries["record"])]
    places, known = Marks.of(entries).find_in(index.marks)
    places[~known] = len(index)
    days = np.append(index.days, np.int16(DROPPED)).take(places)
    unknown = (days == DOUBTFUL) | (days < horizon.lapsed_before)
    is_sent = unknown | (days <= horizon.renewed_to) | horizon.all_members
    gone = np.append((index.days == DOUBTFUL) | (index.days >= horizon.lapsed_before), False)
    gone[places] = False
    return Compared(len(entries), int(unknown.sum()), records_of(entries)[is_sent], np.flatnonzero(gone))


@guarded
def _put_aside(leaving: list[HashedRecords], aside: Spool) -> tuple[int, int]:
    """The number of the chunk, and how many members it holds."""
    members = joined_members(leaving)
    return aside.append(to_bytes(members).unwrap()), count_members(members)


# --- The members of a snapshot as the source of a renewal: those whose entry expires soon, gathered as records ---

_NO_COLUMNS: Final = ColumnMapping(columns=())


@dataclass(frozen=True, slots=True)
class Members:
    """Where the records of a renewal come from."""

    description: Description
    notes: tuple[str, ...] = ()
    warnings: tuple[Loss, ...] = ()
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


# --- The records of a source that are sent, copied out of the batches that hold few of them ---
#
# They are looked at to plan which people a Delete strikes, noted before anything is sent, and sent: with the copies a
# batch of which one record in a hundred is sent is unsealed once for all of it.

_FEW_SHARE: Final = 0.25  # of a batch, at most: copies of more take as long as the batch
_IN_MEMORY: Final = 65_536  # records that are copied: some ten megabytes; what is more is put aside


@dataclass(frozen=True, slots=True)
class _Copy:
    """The `records` that stood at `places` of a batch, ascending."""

    places: Indices = field(repr=False)
    records: HashedRecords


class SentRecords:
    """Records of the batches that `unsealed` gives. Copies go into `copies`, which is empty and used by no other.

    May be used from any thread.
    """

    def __init__(self, unsealed: Callable[[int], HashedRecords], copies: SealedFile) -> None:
        self._unsealed, self._copies = Memo(unsealed, most=NEIGHBOURS), copies
        self._begun: set[int] = set()
        self._in_memory: dict[int, _Copy] = {}
        self._aside: set[int] = set()
        self._room = _IN_MEMORY
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<SentRecords with copies of {len(self._in_memory) + len(self._aside)} batches>"

    def keep(self, batch: int, records: HashedRecords, places: Indices) -> None:
        """Copy those at `places`, ascending, of all `records` of `batch`; unless they are many, or some are copied."""
        if not 0 < len(places) <= records.unwrap().num_rows * _FEW_SHARE:
            return
        is_first, has_room = self._begin(batch, len(places))
        if is_first and has_room:
            self._in_memory[batch] = _Copy(places, records_at(records, places))
        elif is_first:
            self._copies.append(places.astype("<u4").tobytes(), 2 * batch)
            self._copies.append(to_chunk(records_at(records, places)).unwrap(), 2 * batch + 1)
            self._aside.add(batch)

    def at(self, batch: int, places: Indices) -> HashedRecords:
        """The records of `batch` at `places`, ascending (RECORD_SCHEMA)."""
        return records_at(*self.find(batch, places))

    def find(self, batch: int, places: Indices) -> tuple[HashedRecords, Indices]:
        """Records that hold those of `batch` at `places`, ascending, and where these stand among them."""
        if (copy := self._copy(batch)) is not None:
            found = np.searchsorted(copy.places, places)
            if (copy.places.take(found, mode="clip") == places).all():
                return copy.records, found
        records = self._unsealed(batch)
        self.keep(batch, records, places)
        return records, places

    def _copy(self, batch: int) -> _Copy | None:
        if batch not in self._aside:
            return self._in_memory.get(batch)
        places = np.frombuffer(self._copies.read(2 * batch), dtype="<u4").astype(np.int64)
        return _Copy(places, from_chunk(RecordChunk(self._copies.read(2 * batch + 1))))

    def _begin(self, batch: int, count: int) -> tuple[bool, bool]:
        """Whether no thread has begun to copy of `batch`, and whether so many records of it have room in memory."""
        with self._lock:
            is_first, has_room = batch not in self._begun, count <= self._room
            self._begun.add(batch)
            if is_first and has_room:
                self._room -= count
        return is_first, has_room


@guarded
def records_at(records: HashedRecords, places: Indices) -> HashedRecords:
    """Those of `records` (RECORD_SCHEMA) at `places`, ascending."""
    batch = records.unwrap()
    return records if len(places) == batch.num_rows else HashedRecords(batch.take(arrow_array(places)))
