"""Values that stand in the records of more than a few people: the phone of an office, the address of a shop's till.

Such a value identifies none of them. It is found by keyed tags, exactly and in flat memory: while the source is read, a
table of small counters says which values may stand in many records; of these, and of no others, the people are counted
afterwards.

A person is what stands beside the value in a record. Two records are of one person where what stands beside it is the
same in both, or in one of them a part of what the other has.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from audiencekit.identifiers.kinds import Kind
from audiencekit.machine.workers import cores, in_order
from audiencekit.personal import HashedRecords, guarded
from audiencekit.preparation.batches import ROW
from audiencekit.preparation.bits import Bools
from audiencekit.preparation.columnar.kernels.library import kernels
from audiencekit.selection.partitions import Chunks
from audiencekit.selection.tags import TAG, Places, TaggedKeys, Tagger, Tags, are_among, hashes_by_kind

COUNTER_BITS: Final = 26  # 64 MB, of which a small list touches little: so seldom do rare values fall together
MOST_COUNTED: Final = 200  # a counter stops here
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
NO_CHUNK: Final = -1  # in the place of a number: a batch has no candidates


class ValueCounts:
    """About how many records each value stands in, never too few.

    Each value has two counters. Others may count in one of them, and hardly ever do so in both: the lesser one counts.
    """

    def __init__(self, most: int, *, bits: int = COUNTER_BITS) -> None:
        self._least = min(most, MOST_COUNTED - 1) + 1
        self._counters = np.zeros(2**bits, dtype=np.uint8)
        self._mask = np.uint64(2**bits - 1)
        self._lock = threading.Lock()
        self.has_many = False

    def __repr__(self) -> str:
        return "<ValueCounts>"

    def add(self, tags: Tags) -> None:
        """Count the values of one batch, each record's once. May be called from any thread."""
        with self._lock:
            if compiled := kernels():
                compiled.tagging.count(tags, self._counters, MOST_COUNTED)
            else:
                self._count(tags)
            self.has_many = self.has_many or bool(self.may_be_many(tags).any())

    def _count(self, tags: Tags) -> None:
        """Count in both counters: what others counted is not left out, as a kernel does."""
        both = np.concatenate([tags[half] & self._mask for half in ("high", "low")])
        places, counts = np.unique(both, return_counts=True)
        self._counters[places] = np.minimum(self._counters[places] + counts, MOST_COUNTED)

    def may_be_many(self, tags: Tags) -> Bools:
        """Of each of `tags`, whether it may stand in more records than are few."""
        found: Bools = self._counters[tags["low"] & self._mask] >= self._least
        chosen = np.flatnonzero(found)
        found[chosen] = self._counters[tags["high"][chosen] & self._mask] >= self._least
        return found


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


def find_shared(
    unsealed: Callable[[int], HashedRecords],
    batches: int,
    *,
    counts: ValueCounts,
    tagger: Tagger,
    chunks: Chunks,
    most: int,
) -> tuple[SharedValues, list[int]]:
    """The values that stand in the records of more than `most` people; the chunks of each batch's candidates for them.

    `unsealed` gives the records of each of so many `batches`, whose values `counts` has counted. What does not fit a
    fixed memory goes to `chunks`.
    """
    pairs, people, numbers = _Aside(chunks, PAIR), _Aside(chunks, PEOPLE), []

    def look(number: int) -> tuple[Candidates, Pairs]:
        return _candidates_of(unsealed(number), counts, tagger)

    for candidates, found in in_order(look, range(batches), workers=cores()):
        numbers += chunks.append_all([candidates.view(np.uint8).data]) if len(candidates) else [NO_CHUNK]
        pairs.add(found, found["high"] ^ found["beside_high"])
    for counted in in_order(_people_of, pairs.pieces(), workers=cores()):
        people.add(counted, counted["high"])
    shared = [np.zeros(0, dtype=PEOPLE)]
    for counted in map(_added_up, people.pieces()):
        shared.append(counted[counted["people"] > most])
    found = _added_up(np.concatenate(shared))
    tags = np.empty(len(found), dtype=TAG)
    tags["high"], tags["low"] = found["high"], found["low"]
    return SharedValues(tags, int(found["people"].max(initial=0))), numbers


@guarded
def _candidates_of(records: HashedRecords, counts: ValueCounts, tagger: Tagger) -> tuple[Candidates, Pairs]:
    """The values that may be shared; what stands beside each in its record, and the parts of that."""
    batch = records.unwrap()
    tagged = tagger.tag(batch)
    chosen = np.flatnonzero(counts.may_be_many(tagged.tags))
    found = np.zeros(len(chosen), dtype=CANDIDATE)
    if not len(chosen):
        return found, np.zeros(0, dtype=PAIR)
    owners = tagged.owners()
    found["high"], found["low"] = tagged.tags["high"][chosen], tagged.tags["low"][chosen]
    found["place"], found["record"] = chosen, owners[chosen]
    sets = tagged.of_sets()[owners[chosen]]
    found["set_high"], found["set_low"] = sets["high"], sets["low"]
    found["row"] = batch.column(ROW).to_numpy()[owners[chosen]]
    places = {kind: place for place, kind in enumerate(Kind)}
    ends = 0
    for (kind, _, _), offsets in zip(hashes_by_kind(batch), tagged.offsets, strict=True):
        begins, ends = ends, ends + int(offsets[-1] - offsets[0])
        found["kind"][(chosen >= begins) & (chosen < ends)] = places[kind]
        found["values"][:, places[kind]] = np.diff(offsets)[owners[chosen]]
    return found, _pairs_of_keys(tagged, owners, chosen)


def _pairs_of_keys(tagged: TaggedKeys, owners: Places, chosen: Places) -> Pairs:
    of_owners = np.bincount(owners, minlength=tagged.records)
    order = np.argsort(owners, kind="stable")
    starts = np.concatenate([[0], np.cumsum(of_owners)])
    beside = of_owners[owners[chosen]] - 1
    found = []
    for size in np.unique(beside).tolist():
        keys = chosen[beside == size]
        all_places = order[starts[owners[keys]][:, None] + np.arange(size + 1)]
        places = all_places[all_places != keys[:, None]].reshape(len(keys), size)
        values, others = tagged.tags[keys], tagged.tags[places]
        found.append(_paired(values, _sum(others, range(size)), is_whole=True))
        found += [_paired(values, _sum(others, part), is_whole=False) for part in _parts(size)]
    return np.concatenate(found)


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
    """Entries of one type in parts, put aside as they fill."""

    def __init__(self, chunks: Chunks, dtype: np.dtype[np.void]) -> None:
        self._chunks, self._dtype = chunks, dtype
        self._waiting: list[list[Pairs]] = [[] for _ in range(2**_SINGLE_BITS)]
        self._numbers: list[list[int]] = [[] for _ in range(2**_SINGLE_BITS)]
        self._waiting_bytes = 0

    def add(self, entries: Pairs, chosen_by: npt.NDArray[np.uint64]) -> None:
        """Put each of `entries` in the part that the first bits of its number choose."""
        parts = (chosen_by >> np.uint64(64 - _SINGLE_BITS)).astype(np.uint8)
        order = np.argsort(parts, kind="stable")
        ends = np.cumsum(np.bincount(parts, minlength=2**_SINGLE_BITS))
        for waiting, own in zip(self._waiting, np.split(entries[order], ends[:-1]), strict=True):
            if len(own):
                waiting.append(own)
        self._waiting_bytes += entries.nbytes
        if self._waiting_bytes > _ASIDE_BYTES:
            self._put_aside()

    def _put_aside(self) -> None:
        for waiting, numbers in zip(self._waiting, self._numbers, strict=True):
            if waiting:
                numbers += self._chunks.append_all([np.concatenate(waiting).view(np.uint8).data])
                waiting.clear()
        self._waiting_bytes = 0

    def pieces(self) -> Iterator[Pairs]:
        """The entries of each part that holds any."""
        for waiting, numbers in zip(self._waiting, self._numbers, strict=True):
            aside = [np.frombuffer(self._chunks.read_all(numbers), dtype=self._dtype)] if numbers else []
            if waiting or aside:
                yield np.concatenate([*aside, *waiting])
