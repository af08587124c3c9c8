"""Which records of a run are sent, and in which order."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from audiencekit.preparation.recordbits import Bits, Bools, Indices
from audiencekit.process.workers import Memo

Wave: TypeAlias = tuple[int, bool]  # its number, and whether its Deletes are meant or its Updates

NEIGHBOURS: Final = 4  # batches of which something is remembered: two requests often share one


@dataclass(frozen=True, slots=True)
class Selection:
    """Over all records of a run, counted from 0: whether each is sent, and whether it is a Delete.

    `later` are those of a wave after the first (number 0), by wave, ascending; every other is in the first.
    `duplicates`, `superseded` and `suppressed` count.
    """

    chosen: Bits
    deletes: Bits
    later: dict[int, Indices] = field(default_factory=dict, repr=False)
    duplicates: int = 0
    superseded: int = 0
    suppressed: int = 0

    def waves(self) -> list[int]:
        """The numbers of the waves, ascending."""
        return [0, *sorted(self.later)]


class SelectionLayout:
    """Where the chosen records stand: in which batch of the run, and where in it. `batch_records` counts for each."""

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
        """Of each record of `batch`, whether it is sent."""
        return self._selection.chosen.slice(*self._bounds(batch))

    def chosen(self, batch: int, wave: Wave) -> Bools:
        """Of each record of `batch`, whether it is sent in `wave`."""
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
        """Of the records of `wave` those from the `first` on, `count` of them: their batches, and places in them.

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
    """Those of `records` (ascending) from `start` to `end`, counted from `start`."""
    first, last = np.searchsorted(records, [start, end])
    places: npt.NDArray[np.int64] = records[first:last] - start
    return places
