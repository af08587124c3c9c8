"""The loops over tags where there are no kernels: arrays of numpy at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from audiencekit.records.columns.arrays import Bytes, Matrix
from audiencekit.selection.tag_arrays import HALF_BYTES, Entries, Offsets, OrderedTags, PartOfSlots, Places, Slots, Tags

_BLOCK: Final = 128  # counters next to each other, of which a slot has two
_SLOT_BITS: Final = 32
_HIGH_BITS: Final = 64


class PlainTags:
    """The functions of `TagKernels`, which describes them, with the same results."""

    def halve(self, hashes: Matrix, mask: Bytes, halves: Matrix) -> None:
        np.bitwise_xor(hashes[:, :HALF_BYTES], mask, out=halves)

    def find_likely(self, hashes: Matrix, near: Bytes, far: Bytes) -> Places:
        places = np.arange(len(hashes))
        for word, bits in enumerate((near, far)):
            places = places[_are_set(bits, hashes[places].view("<u4")[:, word])]
        return places

    def add_up(self, tags: Tags, kinds: Sequence[Offsets], sums: Tags) -> None:
        sums[:] = np.zeros(1, dtype=sums.dtype)
        start = 0
        for offsets in kinds:
            counts = np.diff(offsets)
            own = tags[start : start + int(counts.sum())]
            owners = np.repeat(np.arange(len(sums)), counts)
            for half in ("high", "low"):
                if counts.max(initial=0) <= 1:
                    sums[half][owners] += own[half]
                else:
                    np.add.at(sums[half], owners, own[half])
            start += len(own)

    def count(self, slots: Slots, part: PartOfSlots, counters: Bytes, least: int) -> Slots:
        own = slots[slots >> np.uint32(_SLOT_BITS - part.bits) == part.number] if part.bits else slots
        # Counts in both counters: what others counted is not left out, as a kernel does.
        one, other = _counters_of(own, counters)
        ordered = np.sort(np.concatenate([one, other]))
        firsts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])
        places, counts = ordered[firsts], np.diff(firsts, append=len(ordered))
        now = np.minimum(_counts_at(counters, places) + counts, least).astype(np.uint8)
        for half, others in ((0, 0xF0), (1, 0x0F)):
            is_half = places % 2 == half
            at = places[is_half] // 2
            counters[at] = counters[at] & others | now[is_half] << 4 * half
        return own[np.minimum(_counts_at(counters, one), _counts_at(counters, other)) >= least]

    def find_listed_slots(self, slots: Slots, listed: Slots, marks: Bytes, begins: Slots) -> Places:
        near = np.flatnonzero(_are_set(marks, slots))  # none, where none are listed
        asked = slots[near]
        found: Places = near[listed[np.minimum(np.searchsorted(listed, asked), len(listed) - 1)] == asked]
        return found

    def sort(self, tags: Tags, order: npt.NDArray[np.uint32], ends: Places) -> None:
        bits = len(ends).bit_length() - 1
        parts = (tags["high"] >> np.uint64(_HIGH_BITS - bits)).astype(np.uint16)
        order[:] = np.argsort(parts, kind="stable")
        ends[:] = np.cumsum(np.bincount(parts, minlength=len(ends)))

    def spread(self, batch: OrderedTags, starts: Places, *, first: int, buffers: Entries, filled: Places) -> int:
        moved = np.minimum(batch.ends - starts, buffers.shape[1] - filled)
        for part in np.flatnonzero(moved).tolist():
            own = batch.order[starts[part] : starts[part] + moved[part]]
            place = buffers[part, filled[part] :][: len(own)]
            place["high"], place["low"] = batch.tags["high"][own], batch.tags["low"][own]
            place["record"] = (own if batch.records is None else batch.records[own]) + np.int64(first)
        starts += moved
        filled += moved
        return int(np.count_nonzero(filled == buffers.shape[1]))

    def find_repeated(self, pieces: Sequence[Entries]) -> Entries:
        entries = np.concatenate(pieces)
        high = np.sort(entries["high"])
        twice = high[1:][high[1:] == high[:-1]]
        if not len(twice):
            return entries[:0]
        places = np.minimum(np.searchsorted(twice, entries["high"]), len(twice) - 1)
        found = entries[twice[places] == entries["high"]]
        ordered: Entries = found[np.lexsort((found["record"], found["low"], found["high"]))]
        return ordered


def _are_set(bits: Bytes, numbers: Slots) -> npt.NDArray[np.bool_]:
    """Return for each of `numbers` whether its bit is set, by its last bits: `bits` has a power of two of bytes."""
    places = numbers & np.uint32(8 * len(bits) - 1)
    are_set: npt.NDArray[np.bool_] = bits[places >> 3] >> (places & 7).astype(np.uint8) & 1 != 0
    return are_set


def _counters_of(slots: Slots, counters: Bytes) -> tuple[Slots, Slots]:
    """The two counters of each slot, as the kernel chooses them."""
    block, first, further = slots >> 11, slots & 127, (slots >> 7 & 15) + 1
    mask = np.uint32(2 * len(counters) - 1)
    return (block * _BLOCK + first) & mask, (block * _BLOCK + (first ^ further)) & mask


def _counts_at(counters: Bytes, places: Slots) -> Bytes:
    """The counters at `places`; even ones are the low half of a byte."""
    counts = counters[places // 2] >> (places % 2 * 4).astype(np.uint8)
    return counts & np.uint8(15)
