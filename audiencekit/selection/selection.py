"""Updates and Deletes that share a key: they go out in row order, the later in a wave after the earlier."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from audiencekit.process.workers import Memo, cores, in_order
from audiencekit.records.record_bits import Bits, Bools, Indices
from audiencekit.selection.partitions import Partitions, last_of_tag, records_of, repeated
from audiencekit.selection.tag_arrays import Entries

_BLOCK: Final = 100_000  # keys that are Python numbers at a time


@dataclass(frozen=True, slots=True)
class Conflicts:
    """`far_reaching`: superseded Deletes that are sent all the same. `later`: records of the waves after the first."""

    far_reaching: Indices = field(repr=False)
    later: dict[int, Indices] = field(repr=False)


class _Contender(NamedTuple):
    """A record and those of its keys that both an Update and a Delete have, by number."""

    record: int
    is_chosen: bool
    is_delete: bool
    keys: list[int]


def find_conflicts(keys: Partitions, chosen: Bits, superseded: Bits, deletes: Bits) -> Conflicts:
    """The consequences of keys that Updates and Deletes have in common. Records with no such key are not looked at.

    `chosen` are the last words on their key sets.
    """

    def contested(parts: Iterable[int]) -> Entries:
        heeded = []
        for entries in keys.pieces(parts):
            records = records_of(entries)
            heeded.append(entries.compress(chosen.at(records) | (superseded.at(records) & deletes.at(records))))
        return _contested(repeated(*heeded), deletes)

    contest = _Contest(in_order(contested, keys.runs(), workers=cores()), chosen, deletes)
    far_reaching = contest.far_reaching()
    return Conflicts(np.array(far_reaching, dtype=np.int64), contest.waves(set(far_reaching)))


def _contested(entries: Entries, deletes: Bits) -> Entries:
    """The entries (ordered by tag) whose key has both verbs, with the number of the key in place of its tag."""
    ends = last_of_tag(entries)
    numbers: Indices = np.cumsum(ends) - ends
    is_delete = deletes.at(records_of(entries))
    by_verb = [np.bincount(numbers[of_verb], minlength=int(ends.sum())) for of_verb in (is_delete, ~is_delete)]
    both = (by_verb[0] > 0) & (by_verb[1] > 0)
    found = entries[both[numbers]]
    found["high"] = numbers[both[numbers]]
    return found


class _Contest:
    """All contested keys and their records, in the order of the records."""

    def __init__(self, parts: Iterable[Entries], chosen: Bits, deletes: Bits) -> None:
        records, keys, self._key_count = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)], 0
        for entries in parts:
            records.append(records_of(entries))
            keys.append(entries["high"].astype(np.int64) + self._key_count)
            self._key_count = int(keys[-1].max(initial=self._key_count - 1)) + 1
        owners = np.concatenate(records)
        order = np.argsort(owners, kind="stable")
        self._records, self._keys = owners[order], np.concatenate(keys)[order]
        self._chosen, self._deletes = chosen, deletes

    def far_reaching(self) -> list[int]:
        """Superseded Deletes that reach an earlier entry of another key set.

        A Delete matches on any of its keys, so the later Update of its own key set does not undo all that it did.
        """
        found = []
        live = bytearray(self._key_count)
        for contender in self._contenders():
            keys = contender.keys
            if not contender.is_delete:
                for key in keys:
                    live[key] = True
            elif contender.is_chosen or any(live[key] for key in keys):
                if not contender.is_chosen:
                    found.append(contender.record)
                for key in keys:
                    live[key] = False
        return found

    def waves(self, far_reaching: set[int]) -> dict[int, Indices]:
        """For each record, one more than the latest wave of an earlier opposite record that shares a key."""
        later: dict[int, array[int]] = {}
        latest = [array("q", [-1]) * self._key_count for _ in range(2)]
        for contender in self._contenders():
            if not contender.is_chosen and contender.record not in far_reaching:
                continue
            own, opposite = latest[contender.is_delete], latest[not contender.is_delete]
            wave = max(opposite[key] + 1 for key in contender.keys)
            for key in contender.keys:
                own[key] = max(own[key], wave)
            if wave:
                later.setdefault(wave, array("q")).append(contender.record)
        return {wave: np.array(records, dtype=np.int64) for wave, records in later.items()}

    def _contenders(self) -> Iterator[_Contender]:
        for (record, is_chosen, is_delete), entries in groupby(self._numbers(), lambda entry: entry[:3]):
            yield _Contender(record, is_chosen, is_delete, [key for *_, key in entries])

    def _numbers(self) -> Iterator[tuple[int, bool, bool, int]]:
        for start in range(0, len(self._records), _BLOCK):
            records = self._records[start : start + _BLOCK]
            columns = (records, self._chosen.at(records), self._deletes.at(records), self._keys[start : start + _BLOCK])
            yield from zip(*(column.tolist() for column in columns), strict=True)


Wave: TypeAlias = tuple[int, bool]  # its number, and whether its Deletes are meant or its Updates

NEIGHBOURS: Final = 4  # batches of which something is remembered: two requests often share one


@dataclass(frozen=True, slots=True)
class Selection:
    """Over all records of a run, counted from 0: whether each is sent, and whether it is a Delete.

    `later` are those of a wave after the first (number 0), by wave, ascending; every other is in the first.
    `duplicates`, `superseded`, `suppressed` and `unchanged` count; the last were sent by an earlier run.
    """

    chosen: Bits
    deletes: Bits
    later: dict[int, Indices] = field(default_factory=dict, repr=False)
    duplicates: int = 0
    superseded: int = 0
    suppressed: int = 0
    unchanged: int = 0

    def waves(self) -> list[int]:
        """The numbers of the waves, ascending."""
        return [0, *sorted(self.later)]


class SelectionLayout:
    """The places of the chosen records: the batch of the run, and the place in it. `batch_records` has the counts of
    batches."""

    def __init__(self, selection: Selection, batch_records: list[int]) -> None:
        self._selection = selection
        self._ends = np.cumsum(np.array([0, *batch_records], dtype=np.int64))
        self._not_first = np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *selection.later.values()]))
        self._counts: dict[Wave, tuple[list[int], Indices]] = {}
        self._places: dict[Wave, Memo[Indices]] = {}  # of the waves whose records were asked for
        # Most runs have one verb: the other is not asked for.
        deletes = selection.deletes.count()
        self._is_one_verb = {True: deletes == len(selection.deletes), False: not deletes}

    def batches(self) -> range:
        """The numbers of all batches."""
        return range(len(self._ends) - 1)

    def sent(self, batch: int) -> Bools:
        """Return for each record of `batch` whether it is sent."""
        return self._selection.chosen.slice(*self._bounds(batch))

    def chosen(self, batch: int, wave: Wave) -> Bools:
        """Return for each record of `batch` whether it is sent in `wave`."""
        start, end = self._bounds(batch)
        number, deletes = wave
        if number:
            chosen = np.zeros(end - start, dtype=bool)
            chosen[_within(self._selection.later[number], start, end)] = True
        else:
            chosen = self.sent(batch)
            chosen[_within(self._not_first, start, end)] = False
        if not self._is_one_verb[deletes]:
            chosen &= self._selection.deletes.slice(start, end) == deletes
        return chosen

    def of_wave(self, wave: Wave) -> Iterator[tuple[int, Bools]]:
        """The batches that have records of `wave`, and which they are."""
        batches, counts = [], []
        for batch in self._batches_of(wave):
            chosen = self.chosen(batch, wave)
            if count := int(np.count_nonzero(chosen)):
                batches.append(batch)
                counts.append(count)
                yield batch, chosen
        self._counts[wave] = batches, np.cumsum(np.array(counts, dtype=np.int64))

    def stretch(self, wave: Wave, first: int, count: int) -> Iterator[tuple[int, Indices]]:
        """Yield `count` records of `wave`, from number `first` on, as numbers of batches and places in each batch.

        May be called in any thread.
        """
        batches, ends = self._counted(wave)
        at = int(np.searchsorted(ends, first, side="right"))
        # Of two threads that make one at once both have the same.
        found = self._places.get(wave) or self._places.setdefault(
            wave, Memo(partial(self._find_places, wave), most=NEIGHBOURS)
        )
        while count:
            begun = int(ends[at - 1]) if at else 0
            places = found(batches[at])[first - begun :][:count]
            yield batches[at], places
            first, count, at = first + len(places), count - len(places), at + 1

    def _find_places(self, wave: Wave, batch: int) -> Indices:
        places: Indices = np.flatnonzero(self.chosen(batch, wave))
        return places

    def _counted(self, wave: Wave) -> tuple[list[int], Indices]:
        """The batches that have records of `wave`, and how many there are up to the end of each."""
        if wave not in self._counts:
            deque(self.of_wave(wave), maxlen=0)
        return self._counts[wave]

    def _batches_of(self, wave: Wave) -> Iterable[int]:
        number, deletes = wave
        if self._is_one_verb[not deletes]:
            return []
        if not number:
            return self.batches()
        of_records = np.searchsorted(self._ends, self._selection.later[number], side="right") - 1
        return [int(batch) for batch in np.unique(of_records)]

    def _bounds(self, batch: int) -> tuple[int, int]:
        return int(self._ends[batch]), int(self._ends[batch + 1])


def _within(records: Indices, start: int, end: int) -> Indices:
    """The `records` (ascending) from `start` to `end`, counted from `start`."""
    first, last = np.searchsorted(records, [start, end])
    places: npt.NDArray[np.int64] = records[first:last] - start
    return places
