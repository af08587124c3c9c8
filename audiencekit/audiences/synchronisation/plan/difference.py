"""A source compared with the snapshot, part by part: who is new, who is gone, whose entry expires soon."""

from __future__ import annotations

import functools
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Final, Self

import numpy as np

from audiencekit.kernels.library import kernels
from audiencekit.limits import RENEW_BEFORE_DAYS, RENEW_BEFORE_SHARE
from audiencekit.machine.spool import Spool
from audiencekit.machine.workers import cores, in_order
from audiencekit.personal import HashedRecords, guarded
from audiencekit.preparation.recordbits import Bits, Indices
from audiencekit.selection.keysets import KeySets
from audiencekit.selection.partitions import Entries, records_of
from audiencekit.snapshots.files import PARTS, Index, Snapshot
from audiencekit.snapshots.mark_kernels import Compared, DecidingDays, MarkKernels
from audiencekit.snapshots.marks import Marks
from audiencekit.snapshots.members import DOUBTFUL, DROPPED, count_members, day_of, joined_members, to_bytes

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
