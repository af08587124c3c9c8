"""Values that stand in the records of more than a few people: the phone of an office, the address of a shop's till.

Such a value identifies none of them. It is found by keyed tags, exactly and in flat memory: when the source was read,
tables of small counters say which values may stand in many records; of these, and hardly any others, the people are
counted.

A person is what stands beside the value in a record. Two records are of one person where what stands beside it is the
same in both, or in one of them a part of what the other has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from audiencekit.machine.heap import give_back
from audiencekit.machine.workers import cores, in_order
from audiencekit.personal import HashedRecords, guarded
from audiencekit.preparation.recordbits import Bools
from audiencekit.selection.candidates import (
    NO_CANDIDATES,
    NO_CHUNK,
    PAIR,
    Candidates,
    Pairs,
    SharedValues,
    candidates_at,
    joined_candidates,
)
from audiencekit.selection.partitions import Chunks
from audiencekit.selection.taggedrows import TaggedRows
from audiencekit.selection.tags import TAG, Places, Slots, Tagger, Tags, are_among
from audiencekit.selection.valuecounts import COUNTER_BITS, ListedSlots, find_many

_SINGLE_BITS: Final = 8  # parts in which the people of values are told apart
_ASIDE_BYTES: Final = 4_000_000  # in memory before they are put aside

# A value, and how many people of it are in one part.
PEOPLE: Final = np.dtype([("high", "<u8"), ("low", "<u8"), ("people", "<u8")])
# Of a batch, by its number and with the slots of all its values, those at these places, as `candidates_at`.
Look: TypeAlias = Callable[[int, Slots, Places], tuple[Candidates, Pairs]]
_ODD: Final = np.uint64(0x9E3779B97F4A7C15)  # mixes numbers


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
        tags, most = [np.zeros(0, dtype=TAG)], 0
        for counted in map(_added_up, people.pieces()):  # the parts ascend, as the first bits of their tags do
            shared = counted[counted["people"] > self._most]
            tags.append(_tags_of(shared[np.lexsort([shared["low"], shared["high"]])]))
            most = max(most, int(shared["people"].max(initial=0)))
        return SharedValues(np.concatenate(tags), most)


@guarded
def pairs_of(records: HashedRecords, asked: Tags, tagger: Tagger) -> Pairs:
    """Those values of a batch with a column for every kind that are among `asked`, which ascend: for PeopleOfValues."""
    batch = records.unwrap()
    tagged = TaggedRows(np.zeros(batch.num_rows, dtype=np.int64), tagger.tag(batch))  # members have no rows
    return candidates_at(np.flatnonzero(are_among(tagged.keys.tags, asked)), tagged)[1]


class SharedValueSearch:
    """Looks for the values that stand in the records of more than `most` people. Its memory is `chunks`.

    By `slots_of` all values are counted, in tables of 2**`bits` bytes, when all batches were added.
    """

    def __init__(self, chunks: Chunks, most: int, *, bits: int = COUNTER_BITS) -> None:
        self._chunks, self._most, self._bits = chunks, most, bits
        self._slots: list[int] = []  # chunks, one a batch
        self._values = 0

    def __repr__(self) -> str:
        return "<SharedValueSearch>"

    def add(self, slots: Slots) -> None:
        """Gather the values of the next batch."""
        self._values += len(slots)
        self._slots += self._chunks.append_all([slots.view(np.uint8).data]) if len(slots) else [NO_CHUNK]

    def find(self, look: Look) -> tuple[SharedValues, list[int]]:
        """The shared values; the chunk of each batch's candidates for them, or NO_CHUNK."""
        give_back()  # what the batches took while they were read
        listed = ListedSlots(find_many(self._read, len(self._slots), self._values, self._most, bits=self._bits))
        people, chunks = PeopleOfValues(self._chunks, self._most), [NO_CHUNK] * len(self._slots)

        def look_for(number: int) -> tuple[Candidates, Pairs]:
            places = listed.places_in(slots := self._read(number))
            return look(number, slots, places) if len(places) else NO_CANDIDATES

        numbers = range(len(self._slots)) if len(listed) else ()
        for number, (candidates, pairs) in enumerate(in_order(look_for, numbers, workers=cores())):
            if len(candidates):
                [chunks[number]] = self._chunks.append_all([candidates.view(np.uint8).data])
                people.add(pairs)
        return people.find(), chunks

    def _read(self, number: int) -> Slots:
        """The values of a batch. May be called from any thread."""
        if self._slots[number] == NO_CHUNK:
            return np.zeros(0, dtype=np.uint32)
        return np.frombuffer(self._chunks.read_all([self._slots[number]]), dtype=np.uint32)


def _people_of(pairs: Pairs) -> Pairs:
    """How many of `pairs` are people, of each value: whole ones, each once, that are no part of another."""
    bare = pairs["beside_low"] >> np.uint64(1)
    # A value that stands alone in a record says nothing of who that is: it is a part of everyone.
    chosen = np.flatnonzero((pairs["beside_high"] != 0) | (bare != 0))
    found, bare = pairs[chosen], bare[chosen]
    order, firsts = _grouped(found["high"], found["low"], found["beside_high"], bare)
    is_whole = (found["beside_low"] & np.uint64(1))[order]
    whole = order[firsts[np.bitwise_and.reduceat(is_whole, firsts).astype(bool)]] if len(firsts) else firsts
    counted = np.empty(len(whole), dtype=PEOPLE)
    counted["high"], counted["low"], counted["people"] = found["high"][whole], found["low"][whole], 1
    return _added_up(counted)


def _tags_of(counted: Pairs) -> Tags:
    tags = np.empty(len(counted), dtype=TAG)
    tags["high"], tags["low"] = counted["high"], counted["low"]
    return tags


def _added_up(counted: Pairs) -> Pairs:
    """The people of each value, each value once."""
    if not len(counted):
        return counted
    order, firsts = _grouped(counted["high"], counted["low"])
    added = counted[order[firsts]]
    added["people"] = np.add.reduceat(counted["people"][order], firsts)
    return added


def _grouped(*columns: npt.NDArray[np.uint64]) -> tuple[Places, Places]:
    """An order in which lines that are equal in all columns stand side by side, and where each such group begins.

    One number is sorted in the place of all: several times as fast. Where two that differ have the same, all are.
    """
    mixed = columns[0]
    for column in columns[1:]:
        mixed = mixed * _ODD + column
    order = np.argsort(mixed)
    if not np.array_equal(begins := _begins(order, *columns), _begins(order, mixed)):
        begins = _begins(order := np.lexsort(columns), *columns)
    return order, np.flatnonzero(begins)


def _begins(order: Places, *columns: npt.NDArray[np.uint64]) -> Bools:
    """Of each line in `order`, whether it differs from the one before."""
    begins: Bools = np.arange(len(order)) == 0
    for column in columns:
        ordered = column[order]
        begins[1:] |= ordered[1:] != ordered[:-1]
    return begins


class _Aside:
    """Entries of one type in parts, put aside as they come to be many."""

    def __init__(self, chunks: Chunks, dtype: np.dtype[np.void]) -> None:
        self._chunks, self._dtype = chunks, dtype
        self._waiting: list[Pairs] = []
        self._waiting_bytes = 0
        self._chosen_by: list[npt.NDArray[np.uint64]] = []
        self._numbers: list[list[int]] = [[] for _ in range(2**_SINGLE_BITS)]

    def add(self, entries: Pairs, chosen_by: npt.NDArray[np.uint64]) -> None:
        """Put each of `entries` in the part that the first bits of its number choose."""
        self._waiting.append(entries)
        self._chosen_by.append(chosen_by)
        self._waiting_bytes += entries.nbytes
        if self._waiting_bytes > _ASIDE_BYTES:
            for numbers, own in zip(self._numbers, self._in_parts(), strict=True):
                if len(own):
                    numbers += self._chunks.append_all([own.view(np.uint8).data])
            self._waiting, self._chosen_by, self._waiting_bytes = [], [], 0

    def _in_parts(self) -> list[Pairs]:
        """The entries that wait, of each part."""
        if not self._waiting:
            return [np.zeros(0, dtype=self._dtype)] * len(self._numbers)
        parts = (np.concatenate(self._chosen_by) >> np.uint64(64 - _SINGLE_BITS)).astype(np.uint8)
        ends = np.cumsum(np.bincount(parts, minlength=len(self._numbers)))
        return np.split(joined_candidates(self._waiting)[np.argsort(parts, kind="stable")], ends[:-1])

    def pieces(self) -> Iterator[Pairs]:
        """The entries of each part that holds any."""
        for numbers, own in zip(self._numbers, self._in_parts(), strict=True):
            if numbers:
                yield joined_candidates([np.frombuffer(self._chunks.read_all(numbers), dtype=self._dtype), own])
            elif len(own):
                yield own
