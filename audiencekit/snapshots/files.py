"""The files of a snapshot: members in parts by the first byte of their marks, and ordered by marks."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Final, Self

import numpy as np

from audiencekit.personal import HashedRecords, guarded
from audiencekit.process.workers import cores, in_order
from audiencekit.records.record_bits import Bools, Indices
from audiencekit.selection.partitions import PARTITION_BITS
from audiencekit.snapshots.facts import SnapshotFacts, trusted
from audiencekit.snapshots.marks import MARK_BYTES, NO_MARKS, Marks
from audiencekit.snapshots.members import (
    DROPPED,
    NO_MEMBERS,
    Days,
    MemberChunk,
    between,
    chosen,
    day_of,
    days_of,
    from_identifier_bytes,
    joined_members,
    to_identifier_bytes,
    with_days,
)
from audiencekit.state.keys import SubKey
from audiencekit.state.spool import KeptSpool

# --- One file of a snapshot: members in parts, by the first byte of their marks, in order of the marks ---
#
# A sealed file (`state/spool.py`). Chunk 0 holds its facts. Chunk n + 1 is the index of part n, little-endian:
#
#     int16 each          days
#     9 bytes each        marks (`Marks.to_bytes`)
#
# and chunk n + 257 holds the identifiers of the same members. So a comparison reads a fraction of the file.

PARTS: Final = 2**PARTITION_BITS

_INDEX, _IDENTIFIERS = 1, 1 + PARTS  # the first chunk of each kind
_DAY_BYTES: Final = 2


@dataclass(frozen=True, slots=True)
class PartIndex:
    """The members of one part, or of neighbouring ones, ascending: mark and day of each."""

    marks: Marks
    days: Days = field(repr=False)

    @classmethod
    def joined(cls, parts: Sequence[PartIndex]) -> Self:
        """Return the index of neighbouring parts as one."""
        return cls(Marks.joined([each.marks for each in parts]), np.concatenate([each.days for each in parts]))


@dataclass(frozen=True, slots=True, kw_only=True)
class NewParts:
    """A part to be written, or neighbouring ones: the `members` (MEMBER_SCHEMA) in the order of their `marks`.

    `days` and `identifiers` are added to those facts.
    """

    marks: Marks = NO_MARKS
    members: HashedRecords = NO_MEMBERS
    days: Counter[int] = field(default_factory=Counter)
    identifiers: int = 0


class PartsFile:
    """An opened file. Its parts may be read from any thread. A damaged part raises SnapshotRefused. Close it."""

    def __init__(self, spool: KeptSpool, facts: SnapshotFacts) -> None:
        self.facts, self._spool = facts, spool

    @classmethod
    def open(cls, path: Path, key: SubKey) -> Self | None:
        """Open the file at `path`; None when there is none. Raises SnapshotRefused for one that cannot be trusted."""
        if not os.path.lexists(path):
            return None
        with trusted():
            spool = KeptSpool.open(path, key)
        try:
            with trusted():
                return cls(spool, SnapshotFacts.from_bytes(spool.read(0)))
        except BaseException:
            spool.close()
            raise

    @property
    def stored_bytes(self) -> int:
        """The size of the file."""
        return os.fstat(self._spool.fileno()).st_size

    def index(self, part: int) -> PartIndex:
        """Return the marks and expiry days of the members in one part."""
        content = self._read(_INDEX + part).unwrap()
        count = len(content) // (_DAY_BYTES + MARK_BYTES)
        days = np.frombuffer(content, dtype="<i2", count=count).astype(np.int16, copy=False)
        return PartIndex(Marks.from_bytes(memoryview(content)[_DAY_BYTES * count :], part), days)

    def identifiers(self, part: int, places: Indices | None = None) -> HashedRecords:
        """Return the identifiers of these members, or of those at `places`, MEMBER_SCHEMA; the days are in the index.

        The whole part is read, also for a few members.
        """
        return from_identifier_bytes(self._read(_IDENTIFIERS + part), places)

    def close(self) -> None:
        """Close the file."""
        self._spool.close()

    def _read(self, number: int) -> MemberChunk:
        with trusted():
            return MemberChunk(self._spool.read(number))


def write_parts(
    spool: KeptSpool,
    parts: Callable[[range], NewParts],
    facts: SnapshotFacts,
    *,
    together: int = 1,
    workers: int | None = None,
) -> None:
    """Fill an empty `spool` and finish it. The counts of the `parts` are added to `facts`.

    So many parts are made `together`, by so many `workers`, by default one a core. Raises InputOutputFailed when the
    disk fails.
    """

    def write(numbers: range) -> tuple[Counter[int], int]:
        made = parts(numbers)
        _seal(spool, made, numbers)
        return made.days, made.identifiers

    days = Counter({int(day): count for day, count in facts.days.items()})
    identifiers = facts.identifiers
    stretches = (range(PARTS)[first : first + together] for first in range(0, PARTS, together))
    for added, count in in_order(write, stretches, workers=workers or cores()):
        days.update(added)
        identifiers += count
    counted = {str(day): days[day] for day in sorted(days) if days[day]}
    spool.append(replace(facts, days=counted, identifiers=identifiers).to_bytes(), 0)
    spool.finish()


@guarded
def _seal(spool: KeptSpool, made: NewParts, numbers: range) -> None:
    ends = made.marks.ends(numbers)
    for part, begin, end in zip(numbers, [0, *ends], ends, strict=False):
        marks, members = made.marks.take(slice(begin, end)), between(made.members, begin, end)
        index = days_of(members).astype("<i2").tobytes() + marks.to_bytes() if len(marks) else b""
        spool.append(index, _INDEX + part)
        spool.append(to_identifier_bytes(members).unwrap(), _IDENTIFIERS + part)


# --- The snapshot of an audience under sync: its members by hash, and until when. The only place of hashes ---
#
# It is two files: one with all members, and one with what has changed since. That one holds new members
# with all identifiers, and of those in the first only the mark and the new day, DROPPED for who has gone. A day's
# changes are so written in a fraction of the time; `successor` says when all members are written anew.

NO_PART: Final = PartIndex(NO_MARKS, np.zeros(0, dtype=np.int16))


@dataclass(frozen=True, slots=True)
class Index:
    """The members of one part of a snapshot, ascending: mark and day of each.

    `rows` are the places of their identifiers: the first `whole` are those in the file of all members, the others
    follow in the file of the changes.
    """

    marks: Marks
    days: Days = field(repr=False)
    rows: Indices = field(repr=False)
    whole: int

    def __len__(self) -> int:
        return len(self.marks)

    def take(self, places: Indices | Bools) -> Index:
        """Return the members at `places`, in that order."""
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
        """Return the members whose entries have not expired."""
        return self.facts.live(day_of(now) - 1)

    def index(self, part: int) -> Index:
        """Return the index of one part."""
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
        """Return the members of `part` that are in `index`, MEMBER_SCHEMA, in its order. The whole part is read."""
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
        """Return all members of one part, MEMBER_SCHEMA, in the order of their marks."""
        return self.chosen(part, self.index(part))

    def stored(self, part: int) -> Iterator[HashedRecords]:
        """Return all identifiers of one part that are in the files, MEMBER_SCHEMA, also of members who have gone."""
        for file in (self.whole, self.recent):
            yield NO_MEMBERS if file is None else file.identifiers(part)

    @property
    def stored_bytes(self) -> int:
        """The size of the files."""
        return sum(file.stored_bytes for file in (self.whole, self.recent) if file is not None)

    def close(self) -> None:
        """Close the files."""
        for file in (self.whole, self.recent):
            if file is not None:
                file.close()
