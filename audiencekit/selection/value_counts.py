"""Values that may be in many records of a source: none of them is missed, and memory is flat."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np

from audiencekit.process.memory import zeros
from audiencekit.process.workers import cores, in_order
from audiencekit.selection.tag_arrays import PartOfSlots, Places, Slots
from audiencekit.selection.tags import TAG_LOOPS

ReadSlots: TypeAlias = Callable[[int], Slots]  # those of a batch, by its number

COUNTER_BITS: Final = 23  # 8 MB: as much as stays in the caches of a processor
MOST_COUNTED: Final = 15  # a counter is half a byte
_SLOT_BITS: Final = 32
_MOST_PART_BITS: Final = 4  # the other bits of a slot choose its counters
_LOAD: Final = 1.2  # values to a counter, at most: one rare value in 200,000 seems to be many then
_VALUES_A_THREAD: Final = 2**20  # fewer are counted before another thread has begun
_TABLES: Final = 4  # of counters at once, however many processors there are
_TOGETHER: Final = 2**18  # slots of frequent values before those that came several times are left out
_FEW_A_BATCH: Final = 16  # slots found for each batch: of more, hardly a batch would be without any

_LEAST_MARK_BITS, _MOST_MARK_BITS = 18, 24  # 32 kB to 2 MB
_MARKS_A_SLOT: Final = 64
_FEWER_BITS: Final = 6  # so that each stretch of slots with the same first bits has about one
ALL_SLOTS: Final = PartOfSlots(0, 0)


def find_many(read: ReadSlots, batches: int, values: int, most: int, *, bits: int = COUNTER_BITS) -> Slots:
    """Return the slots of the values in more than `most` records of so many `batches`, and hardly any others.

    They ascend. All batches have so many `values`, which are counted in parts, by 2**`bits` bytes of counters or fewer
    each. Every part reads all batches: that costs less than to put parts aside. Few slots are then counted exactly: a
    batch without any is not looked into, and with one other in each batch all of them would be.
    """
    needed = values / (2 * _LOAD * 2**bits)
    threads = min(cores(), values // _VALUES_A_THREAD)
    part_bits = min(max(_bits_of(needed), _bits_of(threads)), _MOST_PART_BITS)
    table_bits = max(_bits_of(values / (2 * _LOAD * 2**part_bits)), 0)

    def count(part: int) -> Slots:
        counts, found, held = ValueCounts(most, bits=table_bits), [np.zeros(0, dtype=np.uint32)], 0
        for number in range(batches):
            found.append(counts.count(read(number), PartOfSlots(part_bits, part)))
            held += len(found[-1])
            if held > _TOGETHER:
                found, held = [_distinct(found)], 0
        return _distinct(found)

    workers = min(cores(), _TABLES, 2**part_bits)
    found = np.concatenate(list(in_order(count, range(2**part_bits), workers=workers)))
    return _counted(found, read, batches, most) if 0 < len(found) <= _FEW_A_BATCH * batches else found


def _counted(slots: Slots, read: ReadSlots, batches: int, most: int) -> Slots:
    """The `slots`, ascending, whose values are in more than `most` records."""
    listed, counts = ListedSlots(slots), np.zeros(len(slots), dtype=np.int64)

    def find(number: int) -> Places:
        return np.searchsorted(slots, (held := read(number))[listed.places_in(held)])

    for places in in_order(find, range(batches), workers=cores()):
        counts += np.bincount(places, minlength=len(slots))
    return slots[counts > most]


def _distinct(slots: list[Slots]) -> Slots:
    """Each once, ascending. `numpy.unique` does the same, and imports all of `numpy.ma` for it, at 12 ms a start."""
    ordered = np.sort(np.concatenate(slots))
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


def _bits_of(number: float) -> int:
    """So many that 2 to the power of them is no less than `number`."""
    return max(int(np.ceil(np.log2(max(number, 1)))), 0)


class ValueCounts:
    """Estimates the number of records of each value, never too low.

    Each value has two counters. Others may count in one of them, and hardly ever do so in both: the lesser one counts.
    Two counters are a byte, of 2**`bits`.
    """

    def __init__(self, most: int, *, bits: int) -> None:
        self._least = min(most, MOST_COUNTED - 1) + 1
        self._counters = np.frombuffer(zeros(2**bits), dtype=np.uint8)

    def __repr__(self) -> str:
        return "<ValueCounts>"

    def count(self, slots: Slots, part: PartOfSlots = ALL_SLOTS) -> Slots:
        """Count the values of a batch that are of `part`, each record's once; those that are many by now."""
        return TAG_LOOPS.count(slots, part, self._counters, self._least)


class ListedSlots:
    """Some slots, which ascend, to look for others among them."""

    def __init__(self, slots: Slots) -> None:
        self._slots = slots
        bits = min(max(_bits_of(_MARKS_A_SLOT * len(slots)), _LEAST_MARK_BITS), _MOST_MARK_BITS)
        marked = np.zeros(2**bits, dtype=bool)
        marked[slots & np.uint32(2**bits - 1)] = True
        self._marks = np.packbits(marked, bitorder="little")
        first_bits = np.arange(2 ** (bits - _FEWER_BITS), dtype=np.uint64) << np.uint64(_SLOT_BITS + _FEWER_BITS - bits)
        self._begins = np.append(np.searchsorted(slots, first_bits.astype(np.uint32)), len(slots)).astype(np.uint32)

    def __repr__(self) -> str:
        return f"<{len(self)} slots>"

    def __len__(self) -> int:
        return len(self._slots)

    def places_in(self, slots: Slots) -> Places:
        """The places of those of `slots` that are among them. May be called from any thread."""
        return TAG_LOOPS.find_listed_slots(slots, self._slots, self._marks, self._begins)
