"""About how often each value of a source came, in flat memory, and never too few."""

from __future__ import annotations

import threading
from typing import Final

import numpy as np
import numpy.typing as npt

from audiencekit.machine.heap import zeros
from audiencekit.preparation.columnar.kernels.library import kernels
from audiencekit.selection.tags import Places, Tags

Slots = npt.NDArray[np.uint32]
COUNTER_BITS: Final = 22  # at first: as much as stays in the caches of a processor
MOST_COUNTER_BITS: Final = 26  # 64 MB
_LIKELY: Final = 2**19  # as much as stays there, too
MOST_COUNTED: Final = 200  # a counter stops here
FOUND: Final = np.uint32(1 << 31)  # of a slot: its value was found while it was counted
_LOAD: Final = (
    0.3  # values to a counter, at most: with twice as many rare values seem to be many, which costs more time
)
_BLOCK: Final = 64  # counters next to each other, of which a value has two: they cost one look into memory


def slots_of(tags: Tags) -> Slots:
    """The numbers by which values are counted."""
    slots: Slots = tags["low"].astype(np.uint32) & ~FOUND
    return slots


class ValueCounts:
    """About how many records each value stands in, never too few.

    Each value has two counters. Others may count in one of them, and hardly ever do so in both: the lesser one counts.
    There are about as many counters as values, up to 2**`most_bits`.
    """

    def __init__(self, most: int, *, bits: int = COUNTER_BITS, most_bits: int = MOST_COUNTER_BITS) -> None:
        self._least = min(most, MOST_COUNTED - 1) + 1
        self._room = np.frombuffer(zeros(2 ** max(bits, most_bits)), dtype=np.uint8)
        self._counters, self._values = self._room[: 2**bits], 0
        self._likely = np.zeros(_LIKELY, dtype=np.uint8)  # by the last bits of slots: whether any was found
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return "<ValueCounts>"

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
        if compiled := kernels():
            return compiled.tagging.find_counted(slots, self._likely, self._counters, self._least)
        return np.flatnonzero(self._many(slots) & (slots < FOUND) & (self._likely[slots % _LIKELY] == 1))

    def _make_room(self, values: int) -> None:
        """Let so many more values in. A value counts on in the half of the counters that one more bit of it chooses."""
        self._values += values
        while _LOAD * len(self._counters) < self._values and len(self._counters) < len(self._room):
            used = len(self._counters)
            self._room[used : 2 * used] = self._counters
            self._counters = self._room[: 2 * used]

    def _count(self, slots: Slots) -> Places:
        if compiled := kernels():
            return compiled.tagging.count(slots, self._counters, self._least)
        # Counts in both counters: what others counted is not left out, as a kernel does.
        places, counts = np.unique(np.concatenate(self._places(slots)), return_counts=True)
        self._counters[places] = np.minimum(self._counters[places] + counts, self._least)
        return np.flatnonzero(self._many(slots))

    def _many(self, slots: Slots) -> npt.NDArray[np.bool_]:
        one, other = self._places(slots)
        many: npt.NDArray[np.bool_] = np.minimum(self._counters[one], self._counters[other]) >= self._least
        return many

    def _places(self, slots: Slots) -> tuple[Places, Places]:
        """The two counters of each slot, as the kernel chooses them."""
        block, first, further = slots.astype(np.int64) >> 11, slots & 63, (slots >> 6 & 31) + 1
        mask = len(self._counters) - 1
        return (block * _BLOCK + first) & mask, (block * _BLOCK + (first ^ further)) & mask
