"""The snapshot that follows another, part by part: only what has changed since all members were written, or all.

All members are written again when the two files would take more than their bound, so that what is read stays small, and
after some days, so that no one who has gone stays in them for longer.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta

import numpy as np

from audiencekit.limits import MAX_SNAPSHOT_IDENTIFIER_BYTES, SHA256_BYTES, SNAPSHOT_FRAME_BYTES, SNAPSHOT_WHOLE_DAYS
from audiencekit.personal import HashedRecords
from audiencekit.preparation.recordbits import Bools, Indices
from audiencekit.snapshots.facts import SnapshotFacts
from audiencekit.snapshots.marks import Marks
from audiencekit.snapshots.memberchanges import Effects, PartEffects
from audiencekit.snapshots.members import (
    DOUBTFUL,
    DROPPED,
    UNSURE,
    Days,
    chosen,
    days_of,
    identifiers_of,
    joined_members,
    with_days,
)
from audiencekit.snapshots.partsfile import PARTS, NewParts, PartIndex
from audiencekit.snapshots.snapshot import NO_PART, Index, Snapshot
from audiencekit.snapshots.store import SnapshotStore

_FEW = 4_096  # changes of one part
_TOGETHER_BYTES = 2_000_000  # of neighbouring parts that are made in one go
_MEMBER_BYTES = 16  # of a member in a file besides the identifiers, or somewhat less


@dataclass(frozen=True, slots=True)
class Successor:
    """The snapshot after `snapshot`, by `effects`, of which there is at most one for each key set.

    Who lapsed before the day `lapsed_before` is left out when all members are written.
    """

    snapshot: Snapshot
    effects: Effects
    lapsed_before: int

    def write(self, store: SnapshotStore, facts: SnapshotFacts, at: float) -> None:
        """Put it in the place of the snapshot, with `facts` but for what is counted. `at` is now, in epoch seconds."""
        if (whole := self.snapshot.whole) is None or self.is_due(at):
            store.write_whole(self._whole, facts, at)
        else:
            # Of small parts the threads would mostly hand the lock of the interpreter to each other.
            workers = 1 if self.effects.members < PARTS * _FEW else None
            store.write_recent(self._recent, facts, whole.facts, together=self._together(), workers=workers)

    def is_due(self, at: float) -> bool:
        """Whether all members are to be written."""
        facts = self.snapshot.facts
        room = facts.identifiers * MAX_SNAPSHOT_IDENTIFIER_BYTES + SNAPSHOT_FRAME_BYTES
        return is_old(facts, at) or self.snapshot.stored_bytes + self._coming_bytes() > room

    def _coming_bytes(self) -> int:
        """The bytes that the effects take in a file."""
        return self.effects.identifiers * SHA256_BYTES + self.effects.members * _MEMBER_BYTES

    def _together(self) -> int:
        """How many parts of what has changed are made in one go: each alone takes longer than all that is in it."""
        file = self.snapshot.recent
        part_bytes = (self._coming_bytes() + (0 if file is None else file.stored_bytes)) // PARTS
        return min(max(_TOGETHER_BYTES // max(part_bytes, 1), 1), PARTS)

    def _recent(self, parts: range) -> NewParts:
        file, effects = self.snapshot.recent, self.effects.of_parts(parts)
        recent = NO_PART if file is None else PartIndex.joined([file.index(part) for part in parts])
        if not len(effects) and not len(recent.marks):
            return NewParts()
        by_mark = effects.marks.order()
        in_whole, before = self._find_in_whole(effects.marks, by_mark, parts)
        _, in_recent, since = _find(effects.marks, recent)
        changed = _Changed.of(effects, np.where(in_recent, since, before))
        written = np.flatnonzero(in_whole | (changed.days != DROPPED))
        _, is_overruled = recent.marks.find_in(changed.marks.take(by_mark))
        kept = np.flatnonzero(~is_overruled)
        marks = Marks.joined([recent.marks.take(kept), changed.marks.take(written)])
        order = marks.order()
        earlier = [] if file is None else [file.identifiers(part) for part in parts]
        rows = np.concatenate([kept, len(recent.days) + written])[order]
        is_bare = np.concatenate([np.zeros(len(kept), dtype=bool), in_whole[written]])[order]
        members = chosen(joined_members([*earlier, changed.members]), rows, bare=is_bare)
        members = with_days(members, np.concatenate([recent.days[kept], changed.days[written]])[order])
        days, identifiers = changed.difference()
        return NewParts(marks=marks.take(order), members=members, days=days, identifiers=identifiers)

    def _find_in_whole(self, marks: Marks, by_mark: Indices, parts: range) -> tuple[Bools, Days]:
        """Of each of `marks`, ascending in the order `by_mark`, whether the file of all members has it, and its day."""
        known, days = np.zeros(len(marks), dtype=bool), np.full(len(marks), DROPPED, dtype=np.int16)
        if (whole := self.snapshot.whole) is not None:
            ordered = marks.take(by_mark)
            ends = ordered.ends(parts)
            for part, begin, end in zip(parts, [0, *ends], ends, strict=False):
                places = by_mark[begin:end]
                _, known[places], days[places] = _find(ordered.take(slice(begin, end)), whole.index(part))
        return known, days

    def _whole(self, part: int) -> NewParts:
        index, effects = self.snapshot.index(part), self.effects.of_parts(range(part, part + 1))
        if not len(effects) and not len(index):
            return NewParts()
        places, known, before = _find(effects.marks, index)
        changed = _Changed.of(effects, before)
        days = index.days.copy()
        days[places[known]] = changed.days[known]
        fresh = np.flatnonzero(~known)
        fresh = fresh[changed.marks.take(fresh).order()]
        order = np.insert(np.arange(len(index)), places[fresh], len(index) + fresh)
        days = np.concatenate([days, changed.days])[order]
        stays = (days == DOUBTFUL) | (days >= max(self.lapsed_before, 1))
        order, days = order[stays], days[stays]
        members = chosen(joined_members([self.snapshot.chosen(part, index), changed.members]), order)
        return whole_part(Marks.joined([index.marks, changed.marks]).take(order), with_days(members, days))


def is_old(facts: SnapshotFacts, at: float) -> bool:
    """Whether it is to be written as a whole: the last time is so long before `at`, or after it, or not known."""
    if facts.whole_at is None:
        return True
    return not 0 <= at - facts.whole_at < timedelta(days=SNAPSHOT_WHOLE_DAYS).total_seconds()


def whole_part(marks: Marks, members: HashedRecords) -> NewParts:
    """`members` in the order of their `marks` as a part of a file that holds all members."""
    counts = Counter(
        dict(zip(*(each.tolist() for each in np.unique(days_of(members), return_counts=True)), strict=True))
    )
    return NewParts(marks=marks, members=members, days=counts, identifiers=int(identifiers_of(members).sum()))


@dataclass(frozen=True, slots=True)
class _Changed:
    """The changes of one part: the day of each changed member after it, and the one before it, DROPPED for none."""

    members: HashedRecords
    marks: Marks
    days: Days = field(repr=False)
    before: Days = field(repr=False)

    @classmethod
    def of(cls, effects: PartEffects, before: Days) -> _Changed:
        """By the `effects` in any order, on members of the day `before`."""
        unsure = np.where(before == DROPPED, np.int16(DOUBTFUL), before)
        days = days_of(effects.members)
        return cls(effects.members, effects.marks, np.where(days == UNSURE, unsure, days), before)

    def difference(self) -> tuple[Counter[int], int]:
        """The counts that it adds to the members of each day, and to the identifiers."""
        was, is_in = self.before != DROPPED, self.days != DROPPED
        counts = Counter(self.days[is_in].tolist())
        counts.subtract(Counter(self.before[was].tolist()))
        each = identifiers_of(self.members)
        return counts, int(each[is_in & ~was].sum() - each[was & ~is_in].sum())


def _find(marks: Marks, index: PartIndex | Index) -> tuple[Indices, Bools, Days]:
    """Where each of `marks` stands in `index`, whether it is there, and its day there, DROPPED for one that is not."""
    places, known = marks.find_in(index.marks)
    days = np.full(len(marks), DROPPED, dtype=np.int16)
    days[known] = index.days[places[known]]
    return places, known, days
