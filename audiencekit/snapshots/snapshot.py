"""The snapshot of an audience under sync: who is in it, by hash, and until when. The one place that keeps hashes.

It is two files (`partsfile`): one with all members, and one with what has changed since. That one holds new members
with all identifiers, and of those in the first only the mark and the new day, DROPPED for who has gone. A day's changes
are so written in a fraction of the time; `successor` says when all members are written anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import numpy as np

from audiencekit.personal import HashedRecords
from audiencekit.preparation.recordbits import Bools, Indices
from audiencekit.snapshots.facts import SnapshotFacts
from audiencekit.snapshots.marks import NO_MARKS, Marks
from audiencekit.snapshots.members import DROPPED, NO_MEMBERS, Days, chosen, day_of, joined_members, with_days
from audiencekit.snapshots.partsfile import PartIndex, PartsFile

NO_PART: Final = PartIndex(NO_MARKS, np.zeros(0, dtype=np.int16))


@dataclass(frozen=True, slots=True)
class Index:
    """The members of one part of a snapshot, ascending: the mark and the day of each.

    `rows` are where their identifiers stand: the first `whole` of them in the file of all members, others after these
    in that of the changes.
    """

    marks: Marks
    days: Days = field(repr=False)
    rows: Indices = field(repr=False)
    whole: int

    def __len__(self) -> int:
        return len(self.marks)

    def take(self, places: Indices | Bools) -> Index:
        """Those at `places`, in their order."""
        return Index(self.marks.take(places), self.days[places], self.rows[places], self.whole)


class Snapshot:
    """An opened snapshot; one that was never written has no members. Its methods may be called from any thread.

    They raise SnapshotRefused for a damaged file. Close it.
    """

    def __init__(self, facts: SnapshotFacts, whole: PartsFile | None = None, recent: PartsFile | None = None) -> None:
        self.facts, self.whole, self.recent = facts, whole, recent

    def __repr__(self) -> str:
        return f"<Snapshot {self.facts.serial} of {self.facts.members} members>"

    def live(self, now: datetime) -> int:
        """Members whose entries have not lapsed."""
        return self.facts.live(day_of(now) - 1)

    def index(self, part: int) -> Index:
        """The members of one part."""
        whole = NO_PART if self.whole is None else self.whole.index(part)
        count = len(whole.marks)
        recent = NO_PART if self.recent is None else self.recent.index(part)
        if not len(recent.marks):
            return Index(whole.marks, whole.days, np.arange(count), count)
        places, known = recent.marks.find_in(whole.marks)
        days = np.concatenate([whole.days, recent.days])
        days[places[known]] = recent.days[known]
        fresh = np.flatnonzero(~known)
        rows = np.insert(np.arange(count), places[fresh], count + fresh)
        rows = rows[days[rows] != DROPPED]
        return Index(Marks.joined([whole.marks, recent.marks]).take(rows), days[rows], rows, count)

    def chosen(self, part: int, index: Index) -> HashedRecords:
        """The members of `part` that stand in `index`, MEMBER_SCHEMA, in its order. All of the part is read for it."""
        in_whole = index.rows < index.whole
        rows = (index.rows[in_whole], index.rows[~in_whole] - index.whole)
        members = joined_members(
            [
                NO_MEMBERS if file is None else file.identifiers(part, own)
                for file, own in zip((self.whole, self.recent), rows, strict=True)
            ]
        )
        if in_whole.any() and not in_whole.all():
            places = np.concatenate([np.flatnonzero(in_whole), np.flatnonzero(~in_whole)])
            members = chosen(members, np.argsort(places))
        return with_days(members, index.days)

    def members(self, part: int) -> HashedRecords:
        """All of one part, MEMBER_SCHEMA, in the order of their marks."""
        return self.chosen(part, self.index(part))

    def stored(self, part: int) -> Iterator[HashedRecords]:
        """All identifiers of one part that are in the files, MEMBER_SCHEMA: of those who have gone, too."""
        for file in (self.whole, self.recent):
            yield NO_MEMBERS if file is None else file.identifiers(part)

    @property
    def stored_bytes(self) -> int:
        """The size of the files."""
        return sum(file.stored_bytes for file in (self.whole, self.recent) if file is not None)

    def close(self) -> None:
        """Give up the files."""
        for file in (self.whole, self.recent):
            if file is not None:
                file.close()
