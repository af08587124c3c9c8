"""People of several lists who share an identifier, found by keyed tags in parts: exactly, and in flat memory.

A person of one list is found in another one when a record there has any of the person's keys. Two bytes for each person
are in memory; the tags are put aside.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from audiencekit.errors import PlanRefused
from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import HashedRecords, guarded
from audiencekit.process.workers import cores, in_order
from audiencekit.records.record_bits import Indices
from audiencekit.selection.partitions import (
    BUFFER_BYTES,
    NO_RECORD,
    Chunks,
    Partitions,
    last_of_tag,
    records_of,
    repeated,
)
from audiencekit.selection.tag_arrays import Entries, OrderedTags
from audiencekit.selection.tags import Tagger

MOST_LISTS: Final = 8  # a bit of a byte for each

Masks: TypeAlias = npt.NDArray[np.uint8]  # of people: a bit for each list that has one of the keys
TaggedPeople: TypeAlias = tuple[int, list[tuple[Kind, OrderedTags]]]

_KIND_BUFFER_BYTES: Final = BUFFER_BYTES // 4  # of a part: each kind has its own parts
_COUNTED_TOGETHER: Final = 2**20  # people; numpy counts in numbers of eight bytes


@dataclass(frozen=True, slots=True)
class ListCounts:
    """The people of the list with this `number` by the lists in which they are found; `by_kind` by keys of one kind.

    Each is a number of people for each mask, whose own bit says that the person has a key, of the kind or of any.
    """

    number: int
    masks: Indices = field(repr=False)
    by_kind: Mapping[Kind, Indices] = field(repr=False)

    def people(self, kind: Kind | None = None) -> int:
        """Return how many people it has, or those with a key of `kind`."""
        return self._with(1 << self.number, kind)

    def found_in(self, other: int, kind: Kind | None = None) -> int:
        """Return how many of them are found in the list `other`, by a key of any kind or of `kind`."""
        return self._with(1 << self.number | 1 << other, kind)

    @property
    def only_here(self) -> int:
        """How many are found in no other list."""
        return int(self.masks[1 << self.number])

    def found_in_all(self, lists: int) -> int:
        """Return how many are found in each of so many lists."""
        return self._with((1 << lists) - 1, None)

    def _with(self, bits: int, kind: Kind | None) -> int:
        masks = self.masks if kind is None else self.by_kind[kind]
        wanted = np.arange(len(masks)) & bits == bits
        return int(masks[wanted].sum())


class PeopleOfLists:
    """The people of lists, one list after the other. Tags are under a key that is drawn for them, and put aside."""

    def __init__(self, chunks: Chunks) -> None:
        self._chunks, self._tagger = chunks, Tagger()
        self._keys: dict[Kind, Partitions] = {kind: self._parts() for kind in Kind}
        self._ends: list[int] = []

    def __repr__(self) -> str:
        return f"<PeopleOfLists: {len(self._ends)} lists>"

    def _parts(self) -> Partitions:
        return Partitions(self._chunks, buffer_bytes=_KIND_BUFFER_BYTES)

    def begin_list(self) -> None:
        """Begin the next list, of MOST_LISTS at most."""
        self._ends.append(self._ends[-1] if self._ends else 0)

    @guarded
    def tag(self, records: HashedRecords) -> TaggedPeople:
        """Return the tags of a batch that has a column for every kind. May be called in any thread."""
        tagged = self._tagger.tag(records.unwrap())
        kinds = zip(tagged.offsets, tagged.by_kind(), strict=True)
        return tagged.records, [(kind, self._keys[kind].sort(tags, owners)) for kind, (owners, tags) in kinds]

    def add(self, batch: TaggedPeople) -> None:
        """Add the next batch to the list. Raises PlanRefused when there are too many people."""
        people, keys = batch
        first = self._ends[-1]
        if first + people > NO_RECORD:
            raise PlanRefused(f"more than {NO_RECORD:,} people in all lists", hint="compare fewer lists at a time")
        for kind, tags in keys:
            self._keys[kind].add(tags, first)
        self._ends[-1] = first + people

    def count(self) -> list[ListCounts]:
        """Return the counts of each list."""
        of_any, of_kind = (np.zeros(self._ends[-1] if self._ends else 0, dtype=np.uint8) for _ in range(2))
        by_kind: list[dict[Kind, Indices]] = [{} for _ in self._ends]
        for kind, keys in self._keys.items():
            if not any(True for _ in keys.parts()):
                continue
            of_kind.fill(0)
            self._find(keys, of_kind)
            of_any |= of_kind
            for counts, masks in zip(by_kind, self._by_list(of_kind), strict=True):
                counts[kind] = _count(masks)
        every = zip(self._by_list(of_any), by_kind, strict=True)
        return [ListCounts(number, _count(masks), counts) for number, (masks, counts) in enumerate(every)]

    def _find(self, keys: Partitions, masks: Masks) -> None:
        """Set the bits of the lists in which the owner of each of `keys` is found."""

        def look(parts: range) -> tuple[Indices, Indices, Masks]:
            pieces = keys.pieces(parts)
            owners = np.concatenate([np.zeros(0, dtype=np.int64), *map(records_of, pieces)])
            return owners, *self._shared(repeated(*pieces))

        for owners, found, bits in in_order(look, keys.runs(), workers=cores()):
            masks[owners] |= self._bits_of(owners)  # the same for each key of a person
            np.bitwise_or.at(masks, found, bits)

    def _shared(self, entries: Entries) -> tuple[Indices, Masks]:
        """The owners of keys that several lists have, and the bits of these lists. `entries` are ordered by tag."""
        owners = records_of(entries)
        if not len(owners):
            return owners, np.zeros(0, dtype=np.uint8)
        own, ends = self._bits_of(owners), last_of_tag(entries)
        begins = np.append(0, np.flatnonzero(ends)[:-1] + 1)
        bits = np.bitwise_or.reduceat(own, begins)[np.cumsum(ends) - ends]
        several = bits != own
        return owners[several], bits[several]

    def _bits_of(self, people: Indices) -> Masks:
        return np.left_shift(1, np.searchsorted(self._ends, people, side="right")).astype(np.uint8)

    def _by_list(self, masks: Masks) -> list[Masks]:
        return np.split(masks, self._ends[:-1])


def _count(masks: Masks) -> Indices:
    counts = np.zeros(2**MOST_LISTS, dtype=np.int64)
    for begin in range(0, len(masks), _COUNTED_TOGETHER):
        counts += np.bincount(masks[begin : begin + _COUNTED_TOGETHER], minlength=len(counts))
    return counts
