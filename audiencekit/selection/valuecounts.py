"""About how often each value of a source came, in flat memory, and never too few."""

from __future__ import annotations

import threading
from typing import Final

import numpy as np
import numpy.typing as npt

from audiencekit.kernels.library import kernels
from audiencekit.machine.heap import zeros
from audiencekit.selection.tagkernels import TagKernels
from audiencekit.selection.tags import Places, Tags

Slots = npt.NDArray[np.uint32]
COUNTER_BITS: Final = 22  # at first 4 MB: as much as stays in the caches of a processor
MOST_COUNTER_BITS: Final = 26  # 64 MB
_LIKELY: Final = 2**19  # as much as stays there, too
MOST_SLOTS: Final = 2**18  # of found values that are counted exactly
MOST_COUNTED: Final = 15  # a counter is half a byte
FOUND: Final = np.uint32(1 << 31)  # of a slot: its value was found while it was counted
_LOAD: Final = 0.3  # values to a counter, at most: with twice as many rare values seem to be many, which costs time
_BLOCK: Final = 128  # counters next to each other, of which a value has two: they cost one look into memory


def slots_of(tags: Tags) -> Slots:
    """The numbers by which values are counted."""
    slots: Slots = tags["low"].astype(np.uint32) & ~FOUND
    return slots


class ValueCounts:
    """About how many records each value stands in, never too few.

    Each value has two counters. Others may count in one of them, and hardly ever do so in both: the lesser one counts.
    Two counters are a byte. There are about as many as values, in 2**`bits` to 2**`most_bits` bytes: of 200 million
    values one in a thousand is found although it is rare.
    """

    def __init__(self, most: int, *, bits: int = COUNTER_BITS, most_bits: int = MOST_COUNTER_BITS) -> None:
        self._least = min(most, MOST_COUNTED - 1) + 1
        self._room = np.frombuffer(zeros(2 ** max(bits, most_bits)), dtype=np.uint8)
        self._counters, self._values = self._room[: 2**bits], 0
        self._likely = np.zeros(_LIKELY, dtype=np.uint8)  # by the last bits of slots: whether any was found
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return "<ValueCounts>"

    @property
    def least(self) -> int:
        """A value that came so often is found."""
        return self._least

    def count(self, slots: Slots) -> Places:
        """Count the values of one batch, each record's once; the places of those that came in many records by now.

        May be called from any thread.
        """
        with self._lock:
            self._make_room(len(slots))
            found = self._count(slots)
            self._likely[slots[found] % _LIKELY] = 1
            return found

    def find(self, slots: Slots) -> Places:
        """The places of values that may stand in many records. Of these, none that is marked as `FOUND`."""
        if compiled := kernels(TagKernels):
            return compiled.find_counted(slots, self._likely, self._counters, self._least)
        return np.flatnonzero(self._many(slots) & (slots < FOUND) & (self._likely[slots % _LIKELY] == 1))

    def _make_room(self, values: int) -> None:
        """Let so many more values in. A value counts on in the half of the counters that one more bit of it chooses."""
        self._values += values
        while 2 * _LOAD * len(self._counters) < self._values and len(self._counters) < len(self._room):
            used = len(self._counters)
            self._room[used : 2 * used] = self._counters
            self._counters = self._room[: 2 * used]

    def _count(self, slots: Slots) -> Places:
        if compiled := kernels(TagKernels):
            return compiled.count(slots, self._counters, self._least)
        # Counts in both counters: what others counted is not left out, as a kernel does.
        places, counts = np.unique(np.concatenate(self._places(slots)), return_counts=True)
        now = np.minimum(self._at(places) + counts, self._least).astype(np.uint8)
        for half, other in ((0, 0xF0), (1, 0x0F)):
            own = places % 2 == half
            at = places[own] // 2
            self._counters[at] = self._counters[at] & other | now[own] << 4 * half
        return np.flatnonzero(self._many(slots))

    def _many(self, slots: Slots) -> npt.NDArray[np.bool_]:
        one, other = self._places(slots)
        many: npt.NDArray[np.bool_] = np.minimum(self._at(one), self._at(other)) >= self._least
        return many

    def _at(self, places: Places) -> npt.NDArray[np.uint8]:
        """The counters at `places`; even ones are the low half of a byte."""
        counters = self._counters[places // 2] >> (places % 2 * 4).astype(np.uint8)
        return counters & np.uint8(15)

    def _places(self, slots: Slots) -> tuple[Places, Places]:
        """The two counters of each slot, as the kernel chooses them."""
        block, first, further = slots.astype(np.int64) >> 11, slots & 127, (slots >> 7 & 15) + 1
        mask = 2 * len(self._counters) - 1
        return (block * _BLOCK + first) & mask, (block * _BLOCK + (first ^ further)) & mask


class SlotCounts:
    """Exactly how often slots came, while they are of no more than `most` values."""

    def __init__(self, most: int = MOST_SLOTS) -> None:
        self._most, self._are_few = most, True
        self._slots, self._counts = np.zeros(0, dtype=np.uint32), np.zeros(0, dtype=np.int64)
        self._waiting: list[Slots] = []

    def __repr__(self) -> str:
        return "<SlotCounts>"

    @property
    def are_few(self) -> bool:
        """Whether they can be counted: what follows is for those only."""
        self._gather()
        return self._are_few

    def add(self, slots: Slots) -> None:
        """Count these."""
        if len(slots) and self._are_few:
            self._waiting.append(slots)
            if sum(map(len, self._waiting)) > self._most:
                self._gather()

    def hold(self, slots: Slots) -> npt.NDArray[np.bool_]:
        """Of each of `slots`, whether it was counted."""
        self._gather()
        return are_slots_in(slots, self._slots)

    def of_at_least(self, least: int) -> Slots:
        """Those that came `least` times or more, ascending."""
        self._gather()
        return self._slots[self._counts >= least]

    def _gather(self) -> None:
        if not self._waiting:
            return
        slots, counts = np.unique(np.concatenate(self._waiting), return_counts=True)
        self._waiting = []
        every, places = np.unique(np.concatenate([self._slots, slots]), return_inverse=True)
        self._counts, added = np.zeros(len(every), dtype=np.int64), np.concatenate([self._counts, counts])
        np.add.at(self._counts, places, added)
        self._slots, self._are_few = every, len(every) <= self._most


def are_slots_in(slots: Slots, ordered: Slots) -> npt.NDArray[np.bool_]:
    """Of each of `slots`, whether it is among `ordered`, which ascend."""
    at = np.searchsorted(ordered, slots)
    among: npt.NDArray[np.bool_] = np.append(ordered, FOUND)[at] == slots
    return among
