"""Kernels that make tags, and put entries of them in parts."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from audiencekit.preparation.columnar.buffers import Bytes, Places
from audiencekit.preparation.columnar.hexadecimal import Matrix

from .layouts import Layout, Slice, require

Tagged = npt.NDArray[np.void]  # tags, or entries
Counts = npt.NDArray[np.int64]

_WORD: Final = np.dtype("<u8")
TAG_WORDS: Final = 2
ENTRY_WORDS: Final = 3


class _Buffers(Layout):
    _fields_ = (
        ("entries", ctypes.c_void_p),
        ("room", ctypes.c_size_t),
        ("filled", ctypes.c_void_p),
        ("parts", ctypes.c_size_t),
    )


class Tagging:
    """Tags are two words each, a high and a low half, and entries three: a tag and a record."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def halve(self, hashes: Matrix, mask: Bytes, halves: Matrix) -> None:
        """Put the first half of each of `hashes`, with `mask` upon it, into `halves`."""
        if halves.shape != (len(hashes), mask.size) or mask.nbytes != TAG_WORDS * _WORD.itemsize:
            raise ValueError("there is a half for each hash")
        given = (Slice.of(array, np.uint8) for array in (hashes, mask))
        begin, count = place_of(Slice.to_fill(halves, np.uint8)), ctypes.c_size_t(len(halves))
        require(self._library.audiencekit_halves(*map(ctypes.byref, given), begin, count))

    def find_likely(self, hashes: Matrix, near: Bytes, far: Bytes) -> Counts:
        """The places of those `hashes` whose bit is set in `near`, by the first four bytes, and in `far`, by the next.

        Both have a power of two of bytes.
        """
        places, found = np.empty(len(hashes), dtype=np.int64), ctypes.c_size_t()
        given = (Slice.of(array, np.uint8) for array in (hashes, near, far))
        room = place_of(Slice.to_fill(places, np.int64)), ctypes.c_size_t(len(places))
        require(self._library.audiencekit_likely(*map(ctypes.byref, given), *room, ctypes.byref(found)))
        return places[: found.value]

    def add_up(self, tags: Tagged, kinds: Sequence[Places], sums: Tagged) -> None:
        """Add the tag of each key to the sum of its record.

        `tags` are those of all kinds, one kind after the other; `kinds` says of each where in its tags those of each
        record begin, and where the last end, counted from the first number on.
        """
        given = words(tags, TAG_WORDS), Slice.of_all([Slice.of(offsets, np.int32) for offsets in kinds], Slice)
        own = _words_to_fill(sums, TAG_WORDS)
        require(self._library.audiencekit_add_up(*map(ctypes.byref, given), place_of(own), ctypes.c_size_t(own.count)))

    def sort(self, tags: Tagged, records: Counts, entries: Tagged, ends: Counts) -> None:
        """Put the entries of `tags` and `records` in the order of their part, and into `ends` where each part ends.

        Entries of one part stay in order. There are as many parts as `ends`, a power of two.
        """
        if not len(tags) == len(records) == len(entries):
            raise ValueError("there is an entry for each tag")
        given = words(tags, TAG_WORDS), Slice.of(records, np.int64)
        own, own_ends = _words_to_fill(entries, ENTRY_WORDS), Slice.to_fill(ends, np.int64)
        parts = ctypes.c_size_t(own_ends.count)
        require(self._library.audiencekit_sort(*map(ctypes.byref, given), place_of(own), place_of(own_ends), parts))

    def spread(
        self, entries: Tagged, starts: Counts, ends: Counts, *, first: int, buffers: Tagged, filled: Counts
    ) -> int:
        """Copy the entries of each part, from its start to its end, behind what is in its buffer, while there is room.

        `buffers` have a line for each part, and `filled` entries in each; starts move, and records are counted from
        `first` on. How many buffers are full.
        """
        parts = len(ends)
        if buffers.shape[:1] != (parts,) or starts.shape != ends.shape or filled.shape != ends.shape:
            raise ValueError("there is a buffer for each part")
        own = [_words_to_fill(buffers, ENTRY_WORDS), *(Slice.to_fill(each, np.int64) for each in (starts, filled))]
        laid_out = _Buffers(own[0].data, own[0].count // max(parts, 1), own[2].data, parts)
        given, full = (words(entries, ENTRY_WORDS), Slice.of(ends, np.int64)), ctypes.c_size_t()
        records = ctypes.c_int64(first)
        more = map(ctypes.byref, (laid_out, full))
        require(self._library.audiencekit_spread(*map(ctypes.byref, given), place_of(own[1]), records, *more))
        return full.value

    def find_repeated(self, pieces: Sequence[Tagged]) -> Tagged:
        """Those entries of `pieces` of which another has the same high half, ordered by tag and then by record."""
        # What is not touched takes no memory.
        found = np.empty(sum(map(len, pieces)), dtype=pieces[0].dtype)
        own, count = _words_to_fill(found, ENTRY_WORDS), ctypes.c_size_t()
        given, room = Slice.of_all([words(piece, ENTRY_WORDS) for piece in pieces], Slice), ctypes.c_size_t(own.count)
        require(self._library.audiencekit_repeated(ctypes.byref(given), place_of(own), room, ctypes.byref(count)))
        return found[: count.value].copy()


def words(array: Tagged, each: int, take: Callable[[Any, Any], Slice] = Slice.of) -> Slice:
    """`array`, of which so many words are one value."""
    if array.dtype.itemsize != each * _WORD.itemsize:
        raise ValueError("a kernel takes tags of two words, and entries of three")
    made = take(array.view(_WORD), _WORD)
    made.count //= each
    return made


def _words_to_fill(array: Tagged, each: int) -> Slice:
    return words(array, each, Slice.to_fill)


def place_of(own: Slice) -> ctypes.c_void_p:
    """Where its values begin."""
    return ctypes.c_void_p(own.data)
