"""What a run has changed, member by member, in the order of the parts that their marks come into."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import numpy as np

from audiencekit.audiences.synchronisation.members import (
    MemberChunk,
    count_members,
    from_bytes,
    identifiers_of,
    joined,
    to_bytes,
)
from audiencekit.audiences.synchronisation.partsfile import PARTS
from audiencekit.delivery.spool import Spool
from audiencekit.personal import HashedRecords, guarded
from audiencekit.preparation.partitions import part_of
from audiencekit.preparation.tags import Tagger, tags_of_sets

_GATHERED: Final = 32_768  # changes that are put in order at a time
_PUT_ASIDE: Final = 1_024  # of one part


class Effects:
    """Members, as they come, by part. What does not fit a fixed memory goes aside. `members` and `identifiers` count.

    `close` it when all have come.
    """

    def __init__(self, aside: Spool, tagger: Tagger) -> None:
        self._aside, self._tagger = aside, tagger
        self._gathered: list[HashedRecords] = []
        self._waiting: list[list[HashedRecords]] = [[] for _ in range(PARTS)]
        self._chunks: list[list[int]] = [[] for _ in range(PARTS)]
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
        members, self._gathered = joined(self._gathered), []
        for part, own in _split(members, self._tagger):
            waiting = self._waiting[part]
            waiting.append(own)
            if sum(count_members(each) for each in waiting) >= _PUT_ASIDE:
                self._chunks[part].append(_put_aside(self._aside, to_bytes(joined(waiting))))
                self._waiting[part] = []

    def of_part(self, part: int) -> HashedRecords:
        """Those of one part. May be called from any thread."""
        chunks = [from_bytes(MemberChunk(self._aside.read(number))) for number in self._chunks[part]]
        return joined([*chunks, *self._waiting[part]])


@guarded
def _split(members: HashedRecords, tagger: Tagger) -> list[tuple[int, HashedRecords]]:
    batch = members.unwrap()
    parts = part_of(tags_of_sets(members, tagger))
    order = np.argsort(parts, kind="stable")
    ends = np.cumsum(np.bincount(parts, minlength=PARTS)).tolist()
    batch = batch.take(order)
    found = [(part, start, end) for part, (start, end) in enumerate(pairwise([0, *ends])) if end > start]
    return [(part, HashedRecords(batch.slice(start, end - start))) for part, start, end in found]


@guarded
def _put_aside(aside: Spool, chunk: MemberChunk) -> int:
    return aside.append(chunk.unwrap())
