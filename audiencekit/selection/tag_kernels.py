"""Kernels that make tags, and put entries of them in parts."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from audiencekit.kernels.layouts import KernelStructure, Slice, require
from audiencekit.records.columns.arrays import Bytes, Matrix
from audiencekit.selection.tag_arrays import HALF_BYTES, Entries, Offsets, OrderedTags, PartOfSlots, Places, Slots, Tags

_TAG_WORDS: Final = 2
_ENTRY_WORDS: Final = 5  # of half the size
_NO_RECORDS: Final = np.zeros(0, dtype=np.int64)


class _Tagged(KernelStructure):
    _fields_ = (("tags", Slice), ("records", Slice), ("first", ctypes.c_int64))

    @classmethod
    def of(cls, batch: OrderedTags, first: int) -> _Tagged:
        if batch.records is not None and len(batch.records) != len(batch.tags):
            raise ValueError("there is a record for each tag")
        records = Slice.of(_NO_RECORDS if batch.records is None else batch.records, np.int64)
        return cls(tag_slice(batch.tags), records, first)


class _Buffers(KernelStructure):
    _fields_ = (
        ("entries", ctypes.c_void_p),
        ("room", ctypes.c_size_t),
        ("filled", ctypes.c_void_p),
        ("parts", ctypes.c_size_t),
    )


class _PartOfSlots(KernelStructure):
    _fields_ = (("bits", ctypes.c_uint32), ("number", ctypes.c_uint32))


class _Listed(KernelStructure):
    _fields_ = (("slots", Slice), ("marks", Slice), ("begins", Slice))


class TagKernels:
    """Tags are two words each, a high and a low half, and entries five of half the size: a tag and a record."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def halve(self, hashes: Matrix, mask: Bytes, halves: Matrix) -> None:
        """Put the first half of each of `hashes`, with `mask` upon it, into `halves`."""
        if halves.shape != (len(hashes), mask.size) or mask.nbytes != HALF_BYTES:
            raise ValueError("there is a half for each hash")
        given = (Slice.of(array, np.uint8) for array in (hashes, mask))
        begin, count = place_of(Slice.to_fill(halves, np.uint8)), ctypes.c_size_t(len(halves))
        require(self._library.audiencekit_halves(*map(ctypes.byref, given), begin, count))

    def find_likely(self, hashes: Matrix, near: Bytes, far: Bytes) -> Places:
        """The places of those `hashes` whose bit is set in `near`, by the first four bytes, and in `far`, by the next.

        Both have a power of two of bytes.
        """
        places, found = np.empty(len(hashes), dtype=np.int64), ctypes.c_size_t()
        given = (Slice.of(array, np.uint8) for array in (hashes, near, far))
        room = place_of(Slice.to_fill(places, np.int64)), ctypes.c_size_t(len(places))
        require(self._library.audiencekit_likely(*map(ctypes.byref, given), *room, ctypes.byref(found)))
        return places[: found.value]

    def add_up(self, tags: Tags, kinds: Sequence[Offsets], sums: Tags) -> None:
        """Write the sum of the tags of its keys to the place of each record.

        `tags` are those of all kinds, one kind after the other; `kinds` says of each where in its tags those of each
        record begin, and where the last end, counted from the first number on.
        """
        given = tag_slice(tags), Slice.of_all([Slice.of(offsets, np.int32) for offsets in kinds], Slice)
        own = tag_slice(sums, Slice.to_fill)
        require(self._library.audiencekit_add_up(*map(ctypes.byref, given), place_of(own), ctypes.c_size_t(own.count)))

    def count(self, slots: Slots, part: PartOfSlots, counters: Bytes, least: int) -> Slots:
        """Count those of `slots` of `part` in two of `counters`, a power of two; the lesser is never too few.

        Those that came `least` times or more.
        """
        chosen, table = np.empty(len(slots), dtype=np.uint32), Slice.to_fill(counters, np.uint8)
        given = Slice.of(slots, np.uint32), _PartOfSlots(part.bits, part.number), table
        own, found = place_of(Slice.to_fill(chosen, np.uint32)), ctypes.c_size_t()
        function = self._library.audiencekit_count
        require(function(*map(ctypes.byref, given), ctypes.c_uint8(least), own, ctypes.byref(found)))
        return chosen[: found.value].copy()

    def find_listed_slots(self, slots: Slots, listed: Slots, marks: Bytes, begins: Slots) -> Places:
        """The places of those `slots` that are `listed`, which ascend.

        `marks`, a power of two of bytes, have a bit set for the last bits of each of these; those with the same first
        bits stand between two of `begins`, which are a power of two and one more.
        """
        places, found = np.empty(len(slots), dtype=np.int64), ctypes.c_size_t()
        looked = _Listed(Slice.of(listed, np.uint32), Slice.of(marks, np.uint8), Slice.of(begins, np.uint32))
        given, own = (Slice.of(slots, np.uint32), looked), place_of(Slice.to_fill(places, np.int64))
        require(self._library.audiencekit_listed_slots(*map(ctypes.byref, given), own, ctypes.byref(found)))
        return places[: found.value].copy()

    def sort(self, tags: Tags, order: npt.NDArray[np.uint32], ends: Places) -> None:
        """Put the numbers of `tags` into `order`, part by part and as they come, and into `ends` where each part ends.

        There are as many parts as `ends`, a power of two.
        """
        if len(tags) != len(order):
            raise ValueError("there is a place for each tag")
        given, parts = tag_slice(tags), ctypes.c_size_t(len(ends))
        own = place_of(Slice.to_fill(order, np.uint32)), place_of(Slice.to_fill(ends, np.int64))
        require(self._library.audiencekit_sort(ctypes.byref(given), *own, parts))

    def spread(self, batch: OrderedTags, starts: Places, *, first: int, buffers: Entries, filled: Places) -> int:
        """Append the entries of each part, from its start to its end, to its buffer, while there is room.

        `buffers` have a line for each part, and `filled` entries in each; starts move, and records are counted from
        `first` on. How many buffers are full.
        """
        parts = len(batch.ends)
        if buffers.shape[:1] != (parts,) or starts.shape != (parts,) or filled.shape != (parts,):
            raise ValueError("there is a buffer for each part")
        entries = entry_slice(buffers, Slice.to_fill)
        own = [Slice.to_fill(each, np.int64) for each in (starts, filled)]
        to_structure = _Buffers(entries.data, entries.count // max(parts, 1), own[1].data, parts)
        given = _Tagged.of(batch, first), Slice.of(batch.order, np.uint32), Slice.of(batch.ends, np.int64)
        full = ctypes.c_size_t()
        more = map(ctypes.byref, (to_structure, full))
        require(self._library.audiencekit_spread(*map(ctypes.byref, given), place_of(own[0]), *more))
        return full.value

    def find_repeated(self, pieces: Sequence[Entries]) -> Entries:
        """The entries of `pieces` that share their high half with another, ordered by tag and then by record."""
        # Pages that are never touched take no memory.
        found = np.empty(sum(map(len, pieces)), dtype=pieces[0].dtype)
        own, count = entry_slice(found, Slice.to_fill), ctypes.c_size_t()
        given = Slice.of_all([entry_slice(piece) for piece in pieces], Slice)
        room = ctypes.c_size_t(own.count)
        require(self._library.audiencekit_repeated(ctypes.byref(given), place_of(own), room, ctypes.byref(count)))
        return found[: count.value].copy()


def tag_slice(array: Tags, take: Callable[[Any, Any], Slice] = Slice.of) -> Slice:
    """Tags as the library reads them, or, with `Slice.to_fill`, writes them."""
    return _words(array, _TAG_WORDS, np.dtype("<u8"), take)


def entry_slice(array: Entries, take: Callable[[Any, Any], Slice] = Slice.of) -> Slice:
    """The same of entries."""
    return _words(array, _ENTRY_WORDS, np.dtype("<u4"), take)


def _words(array: Tags, each: int, word: np.dtype[Any], take: Callable[[Any, Any], Slice]) -> Slice:
    """`array`, of which so many words are one value."""
    if array.dtype.itemsize != each * word.itemsize:
        raise ValueError("a kernel takes tags of two words, and entries of five small ones")
    made = take(array.view(word), word)
    made.count //= each
    return made


def place_of(own: Slice) -> ctypes.c_void_p:
    """Where its values begin."""
    return ctypes.c_void_p(own.data)
