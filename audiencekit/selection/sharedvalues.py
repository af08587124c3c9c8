"""Values that stand in the records of more than a few people: the phone of an office, the address of a shop's till.

Such a value identifies none of them. It is found by keyed tags, exactly and in flat memory: while the source is read, a
table of small counters says which values may stand in many records; of these, and of no others, the people are counted
afterwards.

A person is what stands beside the value in a record. Two records are of one person where what stands beside it is the
same in both, or in one of them a part of what the other has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audiencekit.identifiers.kinds import Kind
from audiencekit.machine.workers import cores, in_order
from audiencekit.personal import HashedRecords, guarded
from audiencekit.preparation.batches import ROW
from audiencekit.preparation.bits import Bools
from audiencekit.selection.partitions import Chunks
from audiencekit.selection.tags import (
    TAG,
    Offsets,
    Places,
    TaggedKeys,
    Tagger,
    Tags,
    are_among,
    offsets_by_kind,
    starts_of,
)
from audiencekit.selection.valuecounts import FOUND, SlotCounts, Slots, ValueCounts, are_slots_in, slots_of

MOST_BESIDE: Final = 7  # beside the value in a record: of more, not every part is compared
_SINGLE_BITS: Final = 6  # parts in which the people of values are told apart
_ASIDE_BYTES: Final = 4_000_000  # in memory before they are put aside

# A value, and the tag of what stands beside it; the lowest bit says whether a record has it, or only a part of it.
PAIR: Final = np.dtype([("high", "<u8"), ("low", "<u8"), ("beside_high", "<u8"), ("beside_low", "<u8")])
# A value of a batch that may be shared: its place among all of the batch, kind after kind; its record, and the row, the
# key set and the number of values of each kind of that.
CANDIDATE: Final = np.dtype(
    [
        *(("high", "<u8"), ("low", "<u8"), ("set_high", "<u8"), ("set_low", "<u8"), ("row", "<i8")),
        *(("place", "<u4"), ("record", "<u4"), ("kind", "u1"), ("values", "<u4", (len(Kind),))),
    ]
)
# A value, and how many people of it are in one part.
PEOPLE: Final = np.dtype([("high", "<u8"), ("low", "<u8"), ("people", "<u8")])
Pairs = npt.NDArray[np.void]
Candidates = npt.NDArray[np.void]
NO_CHUNK: Final = -1  # in the place of a number: a batch has no values
_NONE: Final = np.zeros(0, dtype=CANDIDATE), np.zeros(0, dtype=PAIR)


@dataclass(frozen=True, slots=True)
class SharedValues:
    """The tags of shared values, ascending; `people` of the most shared one."""

    tags: Tags = field(repr=False)
    people: int = 0

    def __len__(self) -> int:
        return len(self.tags)

    def holds(self, asked: Tags) -> Bools:
        """Of each of `asked`, whether it is one of them."""
        return are_among(asked, self.tags)

    def among(self, candidates: Candidates) -> Candidates:
        """Those of `candidates` that are shared."""
        tags = np.empty(len(candidates), dtype=TAG)
        tags["high"], tags["low"] = candidates["high"], candidates["low"]
        return candidates[are_among(tags, self.tags)]

    def without(self, others: Tags) -> SharedValues:
        """Those that are none of `others`, which ascend."""
        return SharedValues(self.tags[~are_among(self.tags, others)], self.people)


class PeopleOfValues:
    """Counts the people of values, exactly, and finds those of more than `most`. Its memory is `chunks`."""

    def __init__(self, chunks: Chunks, most: int) -> None:
        self._chunks, self._most, self._pairs = chunks, most, _Aside(chunks, PAIR)

    def __repr__(self) -> str:
        return "<PeopleOfValues>"

    def add(self, pairs: Pairs) -> None:
        """Take in the values of a batch, and what stands beside each."""
        self._pairs.add(pairs, pairs["high"] ^ pairs["beside_high"])

    def find(self) -> SharedValues:
        """The values that more people share."""
        people = _Aside(self._chunks, PEOPLE)
        for counted in in_order(_people_of, self._pairs.pieces(), workers=cores()):
            people.add(counted, counted["high"])
        shared = [np.zeros(0, dtype=PEOPLE)]
        for counted in map(_added_up, people.pieces()):
            shared.append(counted[counted["people"] > self._most])
        found = _added_up(np.concatenate(shared))
        tags = np.empty(len(found), dtype=TAG)
        tags["high"], tags["low"] = found["high"], found["low"]
        return SharedValues(tags, int(found["people"].max(initial=0)))


@guarded
def pairs_of(records: HashedRecords, asked: Tags, tagger: Tagger) -> Pairs:
    """Those values of a batch with a column for every kind that are among `asked`, which ascend: for PeopleOfValues."""
    batch = records.unwrap()
    tagged = tagger.tag(batch)
    return _candidates_at(np.flatnonzero(are_among(tagged.tags, asked)), batch, tagged)[1]


@dataclass(frozen=True, slots=True)
class CountedBatch:
    """The values of one batch: by what all of them are counted, and of those that came often by then the rest, too."""

    slots: Slots = field(repr=False)
    found: Slots = field(repr=False)
    candidates: Candidates = field(repr=False)
    pairs: Pairs = field(repr=False)


class SharedValueSearch:
    """Looks for the values that stand in the records of more than `most` people.

    All values are counted as they come. A value that came often by then is a candidate from there on; where it stood
    before is found at the end, by what was put aside of each value. What does not fit a fixed memory goes to `chunks`.
    """

    def __init__(
        self, chunks: Chunks, most: int, counts: ValueCounts | None = None, found: SlotCounts | None = None
    ) -> None:
        self._chunks, self._counts = chunks, counts or ValueCounts(most)
        self._slots: list[int] = []  # chunks, one a batch
        self._found = found or SlotCounts()  # of the values that were found while they were counted
        self._candidates: list[list[int]] = []  # chunks of each batch
        self._people = PeopleOfValues(chunks, most)

    def __repr__(self) -> str:
        return "<SharedValueSearch>"

    def count(self, records: Any, tagged: TaggedKeys) -> CountedBatch:
        """Count the values of a batch of `records` (RECORD_SCHEMA), of which these are the tags. For any thread."""
        slots = slots_of(tagged.tags)
        places = self._counts.count(slots)
        found = slots[places]
        slots[places] |= FOUND
        return CountedBatch(slots, found, *_candidates_of_source(places, records, tagged))

    def add(self, counted: CountedBatch) -> None:
        """Gather what `count` gave back, batch by batch."""
        slots = counted.slots.view(np.uint8).data
        self._slots += self._chunks.append_all([slots]) if len(slots) else [NO_CHUNK]
        self._found.add(counted.found)
        self._candidates.append([])
        self._gather(len(self._candidates) - 1, counted.candidates, counted.pairs)

    def _gather(self, batch: int, candidates: Candidates, pairs: Pairs) -> None:
        if len(candidates):
            self._candidates[batch] += self._chunks.append_all([candidates.view(np.uint8).data])
            self._people.add(pairs)

    def find(self, unsealed: Callable[[int], HashedRecords], tagger: Tagger) -> tuple[SharedValues, list[list[int]]]:
        """The shared values; the chunks of each batch's candidates for them.

        `unsealed` gives the records of each batch.
        """
        if not any(self._candidates):
            return SharedValues(np.zeros(0, dtype=TAG)), self._candidates
        places = self._early_places()
        look = partial(_look, places, unsealed, tagger)
        for number, (candidates, pairs) in enumerate(in_order(look, range(len(self._slots)), workers=cores())):
            self._gather(number, candidates, pairs)
        return self._people.find(), self._candidates

    def _early_places(self) -> Callable[[int], Places]:
        """Of a batch, the places of values that may be shared, and were not found while they were counted.

        Of a few found values all are counted again, exactly: hardly any batch is looked at for nothing then.
        """
        if self._found.are_few:
            early = list(in_order(self._early, range(len(self._slots)), workers=cores()))
            for slots, _ in early:
                self._found.add(slots)
            many = self._found.of_at_least(self._counts.least)
            return lambda number: early[number][1][are_slots_in(early[number][0], many)]
        return lambda number: self._early(number)[1]

    def _early(self, number: int) -> tuple[Slots, Places]:
        """Those slots of a batch that may be of values found later, and their places."""
        if self._slots[number] == NO_CHUNK:
            return np.zeros(0, dtype=np.uint32), np.zeros(0, dtype=np.int64)
        slots = np.frombuffer(self._chunks.read_all([self._slots[number]]), dtype=np.uint32)
        places = self._counts.find(slots)
        if self._found.are_few:
            places = places[self._found.hold(slots[places])]
        return slots[places], places


def _look(
    places: Callable[[int], Places], unsealed: Callable[[int], HashedRecords], tagger: Tagger, number: int
) -> tuple[Candidates, Pairs]:
    """Candidates of a batch that were none yet when it was counted."""
    found = places(number)
    return _candidates_of(unsealed(number), found, tagger) if len(found) else _NONE


@guarded
def _candidates_of(records: HashedRecords, places: Places, tagger: Tagger) -> tuple[Candidates, Pairs]:
    """Tags those records of the batch alone that have the values."""
    batch = records.unwrap()
    offsets = offsets_by_kind(batch)
    owners = _owners_of(places, list(offsets.values()))
    chosen, lines = np.unique(owners, return_inverse=True)
    part = batch.take(pa.array(chosen))
    found, pairs = _candidates_of_source(_places_in_part(places, owners, lines, offsets, part), part, tagger.tag(part))
    found["place"], found["record"] = places, owners
    return found, pairs


def _places_in_part(places: Places, owners: Places, lines: Places, offsets: dict[Kind, Offsets], part: Any) -> Places:
    """Where the values at `places` are among those of some records, `part`; `lines` say which of these have them."""
    in_part, own = offsets_by_kind(part), []
    starts, starts_in_part = starts_of(offsets.values()), dict(zip(in_part, starts_of(in_part.values()), strict=True))
    for (kind, begins), start in zip(offsets.items(), starts, strict=True):
        values = slice(*np.searchsorted(places, [start, start + begins[-1] - begins[0]]))
        if values.start < values.stop:
            within = places[values] - start - (begins[owners[values]] - begins[0])
            own.append(starts_in_part[kind] + in_part[kind][lines[values]] - in_part[kind][0] + within)
    return np.concatenate(own)


def _candidates_of_source(places: Places, batch: Any, tagged: TaggedKeys) -> tuple[Candidates, Pairs]:
    found, pairs = _candidates_at(places, batch, tagged)
    if len(found):
        found["row"] = batch.column(ROW).to_numpy()[found["record"]]
    return found, pairs


def _candidates_at(places: Places, batch: Any, tagged: TaggedKeys) -> tuple[Candidates, Pairs]:
    """The values at `places`; what stands beside each in its record, and the parts of that."""
    if not len(places):
        return _NONE
    found = np.zeros(len(places), dtype=CANDIDATE)
    found["high"], found["low"] = tagged.tags["high"][places], tagged.tags["low"][places]
    found["place"] = places
    numbers = {kind: number for number, kind in enumerate(Kind)}
    kinds = [numbers[kind] for kind in offsets_by_kind(batch)]
    found["kind"] = np.array(kinds)[np.searchsorted(tagged.starts(), places, side="right") - 1]
    found["record"] = records = _owners_of(places, tagged.offsets)
    for number, offsets in zip(kinds, tagged.offsets, strict=True):
        found["values"][:, number] = offsets[records + 1] - offsets[records]
    return found, _pairs_of_keys(tagged, found)


def _owners_of(places: Places, of_kinds: list[Offsets]) -> Places:
    """The record of each value; `of_kinds` are the offsets of a batch."""
    owners = np.empty(len(places), dtype=np.int64)
    for start, offsets in zip(starts_of(of_kinds), of_kinds, strict=True):
        own = slice(*np.searchsorted(places, [start, start + offsets[-1] - offsets[0]]))
        owners[own] = np.searchsorted(offsets, places[own] - start + offsets[0], side="right") - 1
    return owners


def _pairs_of_keys(tagged: TaggedKeys, found: Candidates) -> Pairs:
    """Fills in the key sets, too."""
    of_records = found["values"].sum(axis=1, dtype=np.int64)
    pairs = []
    for size in np.unique(of_records).tolist():
        chosen = np.flatnonzero(of_records == size)
        every = _places_of(tagged, found["record"][chosen], size)
        sums = _sum(tagged.tags[every], range(size))
        found["set_high"][chosen], found["set_low"][chosen] = sums["high"], sums["low"]
        keys = found["place"][chosen]
        others = tagged.tags[every[every != keys[:, None]].reshape(len(keys), size - 1)]
        values = tagged.tags[keys]
        pairs.append(_paired(values, _sum(others, range(size - 1)), is_whole=True))
        pairs += [_paired(values, _sum(others, part), is_whole=False) for part in _parts(size - 1)]
    return _joined(pairs)


def _places_of(tagged: TaggedKeys, records: npt.NDArray[np.uint32], size: int) -> Places:
    """The places of all values of `records`, a line each, which have so many."""
    places, filled = np.empty((len(records), size), dtype=np.int64), np.zeros(len(records), dtype=np.int64)
    lines = np.arange(len(records))
    for start, offsets in zip(tagged.starts(), tagged.offsets, strict=True):
        begins, counts = offsets[records] - offsets[0] + start, offsets[records + 1] - offsets[records]
        for further in range(int(counts.max(initial=0))):
            has = counts > further
            places[lines[has], filled[has]] = begins[has] + further
            filled += has
    return places


def _parts(size: int) -> Iterator[list[int]]:
    """The parts of so many that are neither none nor all of them; of many those of one, and those without one."""
    if size <= MOST_BESIDE:
        for bits in range(1, 2**size - 1):
            yield [place for place in range(size) if bits >> place & 1]
        return
    for place in range(size):
        yield [place]
        yield [other for other in range(size) if other != place]


def _sum(others: Tags, part: list[int] | range) -> Tags:
    sums = np.zeros(len(others), dtype=TAG)
    for place in part:
        sums["high"] += others["high"][:, place]
        sums["low"] += others["low"][:, place]
    return sums


def _paired(values: Tags, beside: Tags, *, is_whole: bool) -> Pairs:
    pairs = np.empty(len(values), dtype=PAIR)
    pairs["high"], pairs["low"], pairs["beside_high"] = values["high"], values["low"], beside["high"]
    pairs["beside_low"] = beside["low"] >> np.uint64(1) << np.uint64(1) | np.uint64(is_whole)
    return pairs


def _people_of(pairs: Pairs) -> Pairs:
    """How many of `pairs` are people, of each value: whole ones, each once, that are no part of another."""
    # The lowest bit alone decides last: of what is the same, the part comes first.
    found = pairs[np.lexsort([pairs[name] for name in ("beside_low", "beside_high", "low", "high")])]
    same = np.append(False, _are_same(found))[: len(found)]
    bare = found["beside_low"] >> np.uint64(1)
    repeats = same & np.append(False, (found["beside_high"][1:] == found["beside_high"][:-1]) & (bare[1:] == bare[:-1]))
    # A value that stands alone in a record says nothing of who that is: it is a part of everyone.
    is_alone = (found["beside_high"] == 0) & (bare == 0)
    is_whole = (found["beside_low"] & np.uint64(1)).astype(bool)
    counted = np.empty(int(np.count_nonzero(chosen := is_whole & ~repeats & ~is_alone)), dtype=PEOPLE)
    counted["high"], counted["low"], counted["people"] = found["high"][chosen], found["low"][chosen], 1
    return _added_up(counted)


def _added_up(counted: Pairs) -> Pairs:
    """The people of each value, each value once, ascending."""
    if not len(counted):
        return counted
    ordered = counted[np.lexsort([counted["low"], counted["high"]])]
    firsts = np.flatnonzero(np.append(True, ~_are_same(ordered)))
    added = ordered[firsts]
    added["people"] = np.add.reduceat(ordered["people"], firsts)
    return added


def _are_same(ordered: Pairs) -> Bools:
    """Of each but the first, whether it is of the value of the one before."""
    same: Bools = (ordered["high"][1:] == ordered["high"][:-1]) & (ordered["low"][1:] == ordered["low"][:-1])
    return same


class _Aside:
    """Entries of one type in parts, put aside as they come to be many."""

    def __init__(self, chunks: Chunks, dtype: np.dtype[np.void]) -> None:
        self._chunks, self._dtype = chunks, dtype
        self._waiting: list[Pairs] = []
        self._chosen_by: list[npt.NDArray[np.uint64]] = []
        self._numbers: list[list[int]] = [[] for _ in range(2**_SINGLE_BITS)]

    def add(self, entries: Pairs, chosen_by: npt.NDArray[np.uint64]) -> None:
        """Put each of `entries` in the part that the first bits of its number choose."""
        self._waiting.append(entries)
        self._chosen_by.append(chosen_by)
        if sum(each.nbytes for each in self._waiting) > _ASIDE_BYTES:
            for numbers, own in zip(self._numbers, self._in_parts(), strict=True):
                if len(own):
                    numbers += self._chunks.append_all([own.view(np.uint8).data])
            self._waiting, self._chosen_by = [], []

    def _in_parts(self) -> list[Pairs]:
        """The entries that wait, of each part."""
        if not self._waiting:
            return [np.zeros(0, dtype=self._dtype)] * len(self._numbers)
        parts = (np.concatenate(self._chosen_by) >> np.uint64(64 - _SINGLE_BITS)).astype(np.uint8)
        ends = np.cumsum(np.bincount(parts, minlength=len(self._numbers)))
        return np.split(_joined(self._waiting)[np.argsort(parts, kind="stable")], ends[:-1])

    def pieces(self) -> Iterator[Pairs]:
        """The entries of each part that holds any."""
        for numbers, own in zip(self._numbers, self._in_parts(), strict=True):
            if numbers:
                yield _joined([np.frombuffer(self._chunks.read_all(numbers), dtype=self._dtype), own])
            elif len(own):
                yield own


def _joined(pieces: list[Pairs]) -> Pairs:
    """One behind the other. As bytes: for each piece of entries numpy would compare their types, name by name."""
    return np.concatenate([piece.view(np.uint8) for piece in pieces]).view(pieces[0].dtype)
