"""Values in the records of more than a few people: the phone of an office, the address of a shop's till.

Such a value identifies none of them. It is found by keyed tags, exactly and in flat memory: when the source was read,
tables of small counters say which values may stand in many records; of these, and hardly any others, the people are
counted.

A person is what stands beside the value in a record. Two records are of one person where what stands beside it is the
same in both, or in one of them a part of what the other has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import HashedRecords, guarded
from audiencekit.process.memory import give_back
from audiencekit.process.workers import cores, in_order
from audiencekit.records.batches import ROW
from audiencekit.records.columns.arrays import arrow_array
from audiencekit.records.record_bits import Bools
from audiencekit.selection.partitions import Chunks
from audiencekit.selection.tag_arrays import TAG, Offsets, Places, Slots, Tags
from audiencekit.selection.tags import TaggedKeys, TaggedRows, Tagger, are_among, offsets_by_kind, starts_of
from audiencekit.selection.value_counts import COUNTER_BITS, ListedSlots, find_many

MOST_BESIDE: Final = 7  # beside the value in a record: of more, not every part is compared

# A value, and the tag of it together with what stands beside it.
PERSON: Final = np.dtype([("high", "<u8"), ("low", "<u8"), ("pair_high", "<u8"), ("pair_low", "<u8")])
# A value of a batch that may be shared: its place among all of the batch, kind after kind; its record, and the row, the
# key set and the number of values of each kind of that.
CANDIDATE: Final = np.dtype(
    [
        *(("high", "<u8"), ("low", "<u8"), ("set_high", "<u8"), ("set_low", "<u8"), ("row", "<i8")),
        *(("place", "<u4"), ("record", "<u4"), ("kind", "u1"), ("values", "<u4", (len(Kind),))),
    ]
)
Candidates = npt.NDArray[np.void]
People = npt.NDArray[np.void]
NO_CHUNK: Final = -1  # in the place of the number of a chunk: a batch has no values, or none that may be shared
_ODD: Final = np.uint64(0x9E3779B97F4A7C15)  # mixes a value with what stands beside it


@dataclass(frozen=True, slots=True)
class Pairs:
    """Values, each with all other values of its record (PERSON); and the tags of each with a part of these (TAG)."""

    people: People = field(repr=False)
    parts: Tags = field(repr=False)


NO_PAIRS: Final = Pairs(np.zeros(0, dtype=PERSON), np.zeros(0, dtype=TAG))
NO_CANDIDATES: Final = np.zeros(0, dtype=CANDIDATE), NO_PAIRS


@dataclass(frozen=True, slots=True)
class SharedValues:
    """The tags of shared values, ascending; `people` of the most shared one."""

    tags: Tags = field(repr=False)
    people: int = 0

    def __len__(self) -> int:
        return len(self.tags)

    def holds(self, asked: Tags) -> Bools:
        """Return for each of `asked` whether it is one of them."""
        return are_among(asked, self.tags)

    def among(self, candidates: Candidates) -> Candidates:
        """The `candidates` that are shared."""
        tags = np.empty(len(candidates), dtype=TAG)
        tags["high"], tags["low"] = candidates["high"], candidates["low"]
        return candidates.compress(are_among(tags, self.tags))

    def without(self, others: Tags) -> SharedValues:
        """The shared values without `others`, which ascend."""
        return SharedValues(self.tags[~are_among(self.tags, others)], self.people)


@guarded
def candidates_in_records(records: HashedRecords, tagger: Tagger, places: Places) -> tuple[Candidates, Pairs]:
    """Return the values at `places` of a batch, as `candidates_at` does. Only records that have one are tagged.

    When these are more than half, all records are tagged: selecting them would cost as much as the tags.
    """
    batch = records.unwrap()
    offsets = offsets_by_kind(batch)
    owners = _owners_of(places, list(offsets.values()))
    is_chosen = np.zeros(batch.num_rows, dtype=bool)
    is_chosen[owners] = True
    chosen = np.flatnonzero(is_chosen)
    if 2 * len(chosen) > batch.num_rows:
        return candidates_at(places, TaggedRows(batch.column(ROW).to_numpy(), tagger.tag(batch)))
    lines = (np.cumsum(is_chosen) - 1)[owners]
    part = batch.take(arrow_array(chosen))
    tagged = TaggedRows(part.column(ROW).to_numpy(), tagger.tag(part))
    found, pairs = candidates_at(_places_in_part(places, owners, lines, offsets, part), tagged)
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


def candidates_at(places: Places, batch: TaggedRows) -> tuple[Candidates, Pairs]:
    """The values at `places` among all of a batch, kind after kind (CANDIDATE).

    With them the other values of their records, and the parts of these.
    """
    if not len(places):
        return NO_CANDIDATES
    tagged = batch.keys
    found = np.zeros(len(places), dtype=CANDIDATE)
    found["high"], found["low"] = tagged.tags["high"][places], tagged.tags["low"][places]
    found["place"] = places
    numbers = {kind: number for number, kind in enumerate(Kind)}
    kinds = [numbers[kind] for kind in tagged.offsets]
    found["kind"] = np.array(kinds)[np.searchsorted(tagged.starts(), places, side="right") - 1]
    found["record"] = records = _owners_of(places, list(tagged.offsets.values()))
    found["row"] = batch.rows[records]
    of_records = np.zeros(len(places), dtype=np.int64)
    for number, offsets in zip(kinds, tagged.offsets.values(), strict=True):
        found["values"][:, number] = counts = np.diff(offsets)[records]
        of_records += counts
    return found, _pairs_of_keys(tagged, found, of_records)


def _owners_of(places: Places, of_kinds: list[Offsets]) -> Places:
    """The record of each value; `of_kinds` are the offsets of a batch."""
    owners = np.empty(len(places), dtype=np.int64)
    for start, offsets in zip(starts_of(of_kinds), of_kinds, strict=True):
        own = slice(*np.searchsorted(places, [start, start + offsets[-1] - offsets[0]]))
        owners[own] = np.searchsorted(offsets, places[own] - start + offsets[0], side="right") - 1
    return owners


def _pairs_of_keys(tagged: TaggedKeys, found: Candidates, of_records: Places) -> Pairs:
    """The pairs of each value in `found` with the people of its records; fills in the key sets, too."""
    people, parts = [NO_PAIRS.people], [NO_PAIRS.parts]
    for size in np.flatnonzero(np.bincount(of_records)).tolist():
        chosen = np.flatnonzero(of_records == size)
        every = _places_of(tagged, found["record"][chosen], size)
        sums = _sum(tagged.tags[every], range(size))
        found["set_high"][chosen], found["set_low"][chosen] = sums["high"], sums["low"]
        if size == 1:  # a value that stands alone in a record says nothing of who that is: it is a part of everyone
            continue
        keys = found["place"][chosen]
        others = tagged.tags[every[every != keys[:, None]].reshape(len(keys), size - 1)]
        values = tagged.tags[keys]
        people.append(_people(values, _paired(values, _sum(others, range(size - 1)))))
        parts += [_paired(values, _sum(others, part)) for part in _parts(size - 1)]
    return Pairs(joined(people), joined(parts))


def _places_of(tagged: TaggedKeys, records: npt.NDArray[np.uint32], size: int) -> Places:
    """The places of all values of `records`, a line each, which have so many."""
    places, filled = np.empty((len(records), size), dtype=np.int64), np.zeros(len(records), dtype=np.int64)
    lines = np.arange(len(records))
    for start, offsets in zip(tagged.starts(), tagged.offsets.values(), strict=True):
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


def _paired(values: Tags, beside: Tags) -> Tags:
    """Return the tag of each value together with the other values of its record."""
    pairs = np.empty(len(values), dtype=TAG)
    for half in ("high", "low"):
        pairs[half] = values[half] * _ODD + beside[half]
    return pairs


def _people(values: Tags, pairs: Tags) -> People:
    people = np.empty(len(values), dtype=PERSON)
    for half in ("high", "low"):
        people[half], people[f"pair_{half}"] = values[half], pairs[half]
    return people


def joined(pieces: Sequence[npt.NDArray[np.void]]) -> npt.NDArray[np.void]:
    """Concatenate `pieces`, as bytes: numpy would compare the types of each piece, name by name."""
    return np.concatenate([piece.view(np.uint8) for piece in pieces]).view(pieces[0].dtype)


_SINGLE_BITS: Final = 8  # parts in which the people of values are told apart
_ASIDE_BYTES: Final = 4_000_000  # in memory before they are put aside

# A value, and how many people of it are in one part.
COUNTED: Final = np.dtype([("high", "<u8"), ("low", "<u8"), ("people", "<u8")])
Counted: TypeAlias = npt.NDArray[np.void]
# Of a batch, by its number and with the slots of all its values, those at these places, as `candidates_at`.
Look: TypeAlias = Callable[[int, Slots, Places], tuple[Candidates, Pairs]]


class PeopleOfValues:
    """Counts the people of values, exactly, and finds those of more than `most`. Its memory is `chunks`."""

    def __init__(self, chunks: Chunks, most: int) -> None:
        self._chunks, self._most = chunks, most
        self._people, self._parts = _Aside(chunks, PERSON, "pair_high"), _Aside(chunks, TAG, "high")

    def __repr__(self) -> str:
        return "<PeopleOfValues>"

    def add(self, pairs: Pairs) -> None:
        """Add the values of a batch, each with the other values of its record."""
        self._people.add(pairs.people)
        self._parts.add(pairs.parts)

    def find(self) -> SharedValues:
        """The values that more people share."""
        counted = _Aside(self._chunks, COUNTED, "high")
        at_once = self._people.holds_all and self._parts.holds_all
        pieces = zip(self._people.pieces(at_once=at_once), self._parts.pieces(at_once=at_once), strict=True)
        for found in in_order(_count_people, filter(_holds_people, pieces), workers=cores()):
            counted.add(found)
        tags, most = [np.zeros(0, dtype=TAG)], 0
        for found in counted.pieces(at_once=counted.holds_all):  # the parts ascend, as the first bits of their tags do
            added = _added_up(found)
            shared = added.compress(added["people"] > self._most)
            tags.append(_tags_of(shared.take(np.lexsort([shared["low"], shared["high"]]))))
            most = max(most, int(shared["people"].max(initial=0)))
        return SharedValues(np.concatenate(tags), most)


@guarded
def pairs_of(records: HashedRecords, asked: Tags, tagger: Tagger) -> Pairs:
    """The pairs of the values of a batch that are among `asked`, which ascend: for PeopleOfValues."""
    batch = records.unwrap()
    tagged = TaggedRows(np.zeros(batch.num_rows, dtype=np.int64), tagger.tag(batch))  # members have no rows
    return candidates_at(np.flatnonzero(are_among(tagged.keys.tags, asked)), tagged)[1]


class SharedValueSearch:
    """Finds the values in the records of more than `most` people. Its memory is `chunks`.

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


def _holds_people(piece: tuple[People, Tags]) -> bool:
    return len(piece[0]) > 0


def _count_people(piece: tuple[People, Tags]) -> Counted:
    """Count the people of each value: each once, and without those that are a part of another."""
    people, parts = piece
    found, known = _distinct(people, "pair_"), _distinct(parts)
    whole = found.compress(~are_among(_tags_of(found, "pair_"), known))
    counted = np.ones(len(whole), dtype=COUNTED)
    counted["high"], counted["low"] = whole["high"], whole["low"]
    return _added_up(counted)


def _tags_of(entries: npt.NDArray[np.void], name: str = "") -> Tags:
    tags = np.empty(len(entries), dtype=TAG)
    tags["high"], tags["low"] = entries[f"{name}high"], entries[f"{name}low"]
    return tags


def _added_up(counted: Counted) -> Counted:
    """The people of each value, each value once."""
    if not len(counted):
        return counted
    order, firsts = _grouped(counted)
    added = counted.take(order[firsts])
    added["people"] = np.add.reduceat(counted["people"].take(order), firsts)
    return added


def _distinct(tags: npt.NDArray[np.void], name: str = "") -> npt.NDArray[np.void]:
    """Each tag once; the first halves ascend."""
    order, firsts = _grouped(tags, name)
    return tags.take(order[firsts])


def _grouped(tags: npt.NDArray[np.void], name: str = "") -> tuple[Places, Places]:
    """An order in which equal tags stand side by side and the first halves ascend; where each such group begins.

    The first halves are sorted in the place of both: several times as fast. Where two that differ have the same one,
    both are.
    """
    high, low = tags[f"{name}high"], tags[f"{name}low"]
    order = np.argsort(high)
    if not np.array_equal(begins := _begins(order, high), both := begins | _begins(order, low)):
        order = np.lexsort([low, high])
        both = _begins(order, high) | _begins(order, low)
    return order, np.flatnonzero(both)


def _begins(order: Places, halves: npt.NDArray[np.uint64]) -> Bools:
    """Return for each line in `order` whether it differs from the one before."""
    begins = np.ones(len(order), dtype=bool)
    np.not_equal((ordered := halves.take(order))[1:], ordered[:-1], out=begins[1:])
    return begins


class _Aside:
    """Entries of one type in parts, stored when there are many; the first bits of the field `by` choose the part."""

    def __init__(self, chunks: Chunks, dtype: np.dtype[np.void], by: str) -> None:
        self._chunks, self._by = chunks, by
        self._nothing = np.zeros(0, dtype=dtype)
        self._waiting = [self._nothing]
        self._waiting_bytes = 0
        self._numbers: list[list[int]] = [[] for _ in range(2**_SINGLE_BITS)]

    def add(self, entries: npt.NDArray[np.void]) -> None:
        """Put each of `entries` in its part."""
        self._waiting.append(entries)
        self._waiting_bytes += entries.nbytes
        if self._waiting_bytes > _ASIDE_BYTES:
            held = [(numbers, own) for numbers, own in zip(self._numbers, self._in_parts(), strict=True) if len(own)]
            kept = self._chunks.append_all([own.view(np.uint8).data for _, own in held])
            for (numbers, _), number in zip(held, kept, strict=True):
                numbers.append(number)
            self._waiting, self._waiting_bytes = [self._nothing], 0

    def _in_parts(self) -> list[npt.NDArray[np.void]]:
        """The entries that wait, of each part."""
        waiting = joined(self._waiting)
        parts = (waiting[self._by] >> np.uint64(64 - _SINGLE_BITS)).astype(np.uint8)
        ends = np.cumsum(np.bincount(parts, minlength=len(self._numbers)))
        return np.split(waiting.take(np.argsort(parts, kind="stable")), ends[:-1])

    @property
    def holds_all(self) -> bool:
        """Whether all entries are still in memory."""
        return not any(self._numbers)

    def pieces(self, *, at_once: bool) -> Iterator[npt.NDArray[np.void]]:
        """The entries of each part; or `at_once`, where nothing was put aside: few are looked at in one go."""
        if at_once:
            yield joined(self._waiting)
            return
        for numbers, own in zip(self._numbers, self._in_parts(), strict=True):
            if numbers:
                yield joined([np.frombuffer(self._chunks.read_all(numbers), dtype=own.dtype), own])
            else:
                yield own
