"""The changes of a run, member by member, in the order of the parts that their marks come into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from audiencekit.machine.spool import Spool
from audiencekit.personal import HashedRecords, guarded
from audiencekit.selection.partitions import part_of
from audiencekit.selection.tags import Tagger, tags_of_sets
from audiencekit.snapshots.marks import NO_MARKS, Marks
from audiencekit.snapshots.members import (
    NO_MEMBERS,
    MemberChunk,
    count_members,
    from_bytes,
    identifiers_of,
    joined_members,
    to_bytes,
)
from audiencekit.snapshots.partsfile import PARTS

_GATHERED: Final = 32_768  # changes that are put in order at a time
_PUT_ASIDE: Final = 1_024  # of one part


@dataclass(frozen=True, slots=True)
class PartEffects:
    """Those of one part, or of several, in any order: MEMBER_SCHEMA, and the mark of each."""

    members: HashedRecords = NO_MEMBERS
    marks: Marks = NO_MARKS

    def __len__(self) -> int:
        return len(self.marks)

    @classmethod
    def joined(cls, effects: Sequence[PartEffects]) -> PartEffects:
        """All of them, in order."""
        if not effects:
            return cls()
        return cls(joined_members([each.members for each in effects]), Marks.joined([each.marks for each in effects]))


class Effects:
    """Members, as they come, by part. What does not fit a fixed memory goes aside. `members` and `identifiers` count.

    `close` it when all have come.
    """

    def __init__(self, aside: Spool, tagger: Tagger) -> None:
        self._aside, self._tagger = aside, tagger
        self._gathered: list[HashedRecords] = []
        self._waiting: list[list[PartEffects]] = [[] for _ in range(PARTS)]
        self._chunks: list[list[tuple[int, int]]] = [[] for _ in range(PARTS)]
        self.members = self.identifiers = 0

    def add(self, members: HashedRecords) -> None:
        """Take in some."""
        self._gathered.append(members)
        self.members += count_members(members)
        self.identifiers += int(identifiers_of(members).sum())
        if sum(count_members(each) for each in self._gathered) >= _GATHERED:
            self.close()

    def close(self) -> None:
        """All have come that come."""
        if not self._gathered:
            return
        members, self._gathered = joined_members(self._gathered), []
        for part, own in _split(members, self._tagger):
            waiting = self._waiting[part]
            waiting.append(own)
            if sum(map(len, waiting)) >= _PUT_ASIDE:
                self._chunks[part].append(_put_aside(self._aside, PartEffects.joined(waiting)))
                self._waiting[part] = []

    def of_parts(self, parts: range) -> PartEffects:
        """Those of some parts, one part behind the other. May be called from any thread."""
        return PartEffects.joined([effects for part in parts for effects in self._pieces(part)])

    def _pieces(self, part: int) -> list[PartEffects]:
        return [*(self._read(part, *numbers) for numbers in self._chunks[part]), *self._waiting[part]]

    def _read(self, part: int, members: int, marks: int) -> PartEffects:
        read = self._aside.read
        return PartEffects(from_bytes(MemberChunk(read(members))), Marks.from_bytes(read(marks), part))


@guarded
def _split(members: HashedRecords, tagger: Tagger) -> list[tuple[int, PartEffects]]:
    batch, tags = members.unwrap(), tags_of_sets(members, tagger)
    parts = part_of(tags)
    order = np.argsort(parts, kind="stable")
    ends = np.cumsum(np.bincount(parts, minlength=PARTS)).tolist()
    batch, marks = batch.take(order), Marks.of(tags).take(order)
    found = [(part, slice(start, end)) for part, (start, end) in enumerate(pairwise([0, *ends])) if end > start]
    return [
        (part, PartEffects(HashedRecords(batch.slice(own.start, own.stop - own.start)), marks.take(own)))
        for part, own in found
    ]


@guarded
def _put_aside(aside: Spool, effects: PartEffects) -> tuple[int, int]:
    """The numbers of the chunks: that of the members and that of their marks."""
    return aside.append(to_bytes(effects.members).unwrap()), aside.append(effects.marks.to_bytes())
