"""Kernels that look for tags and marks among others, and compare entries with the members of a snapshot."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from audiencekit.kernels.layouts import KernelStructure, Slice, require
from audiencekit.records.columns.arrays import Bytes
from audiencekit.records.record_bits import Bools
from audiencekit.selection.tag_arrays import Entries, Places, Tags
from audiencekit.selection.tag_kernels import entry_slice, place_of, tag_slice
from audiencekit.snapshots.mark_arrays import Begins, Comparison, DayLimits, Halves


class _Ordered(KernelStructure):
    _fields_ = (("high", Slice), ("low", Slice))

    @classmethod
    def of(cls, halves: Halves, low: type[np.uint16 | np.uint64]) -> _Ordered:
        """`halves`, of which the second are of the type `low`."""
        if len(halves.high) != len(halves.low):
            raise ValueError("there is a second half for each first")
        own = _in_place(halves.high, np.uint64), _in_place(halves.low, low)
        made = cls(Slice.of(own[0], np.uint64), Slice.of(own[1], low))
        made._kept = own
        return made


class _Members(KernelStructure):
    _fields_ = (("marks", _Ordered), ("days", Slice))

    @classmethod
    def of(cls, marks: Halves, days: npt.NDArray[np.int16]) -> _Members:
        if len(days) != len(marks.high):
            raise ValueError("there is a day for each mark")
        own = _Ordered.of(marks, np.uint16), _in_place(days, np.int16)
        made = cls(own[0], Slice.of(own[1], np.int16))
        made._kept = own
        return made


class _Horizon(KernelStructure):
    _fields_ = (
        ("lapsed_before", ctypes.c_int64),
        ("renewed_to", ctypes.c_int64),
        ("doubtful", ctypes.c_int64),
        ("dropped", ctypes.c_int64),
        ("all_members", ctypes.c_bool),
    )


class _Counts(KernelStructure):
    _fields_ = tuple((name, ctypes.c_size_t) for name in ("wanted", "additions", "sent", "gone"))


class MarkKernels:
    """Searches in ascending, distinct numbers."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def find_marks(self, asked: Halves, ordered: Halves) -> tuple[Places, Bools]:
        """The place of each of `asked` in `ordered`, or the place to insert it, and whether it is there."""
        count = len(asked.high)
        places, known = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.uint8)
        given = [_Ordered.of(halves, np.uint16) for halves in (asked, ordered)]
        own = place_of(Slice.to_fill(places, np.int64)), place_of(Slice.to_fill(known, np.uint8))
        require(self._library.audiencekit_find_marks(*map(ctypes.byref, given), *own, ctypes.c_size_t(count)))
        return places, known.view(np.bool_)

    def prepare(self, high: npt.NDArray[np.uint64]) -> Begins:
        """Return the index that `find_tags` takes, for ordered numbers with these first halves."""
        begins, count = np.empty(2 * len(high) + 2, dtype=np.uint32), ctypes.c_size_t()
        own = place_of(Slice.to_fill(begins, np.uint32)), ctypes.c_size_t(len(begins))
        given = Slice.of(_in_place(high, np.uint64), np.uint64)
        require(self._library.audiencekit_prepare(ctypes.byref(given), *own, ctypes.byref(count)))
        return begins[: count.value].copy()

    def find_tags(self, tags: Tags, ordered: Halves, begins: Begins) -> Places:
        """The place of each of `tags` in `ordered`, -1 if it is not there; `begins` is the index of `ordered`."""
        places = np.empty(len(tags), dtype=np.int64)
        given = tag_slice(tags), _Ordered.of(ordered, np.uint64), Slice.of(begins, np.uint32)
        own = place_of(Slice.to_fill(places, np.int64)), ctypes.c_size_t(len(places))
        require(self._library.audiencekit_find_tags(*map(ctypes.byref, given), *own))
        return places

    def compare(
        self, pieces: Sequence[Entries], wanted: Bytes, marks: Halves, days: npt.NDArray[np.int16], by: DayLimits
    ) -> Comparison:
        """The entries of `pieces` against the members that have these marks and days.

        `wanted` has one bit a record, the lowest bit of a byte first.
        """
        members = _Members.of(marks, days)
        horizon = _Horizon(by.lapsed_before, by.renewed_to, by.doubtful, by.dropped, by.all_members)
        given = Slice.of_all([entry_slice(piece) for piece in pieces], Slice), Slice.of(wanted, np.uint8)
        # Pages that are never touched take no memory.
        sent, gone = (np.empty(size, dtype=np.int64) for size in (sum(map(len, pieces)), len(days)))
        room, counts = (place_of(Slice.to_fill(sent, np.int64)), ctypes.c_size_t(len(sent))), _Counts()
        more = place_of(Slice.to_fill(gone, np.int64)), ctypes.byref(counts)
        require(self._library.audiencekit_compare(*map(ctypes.byref, (*given, members, horizon)), *room, *more))
        found = sent[: counts.sent].copy(), gone[: counts.gone].copy()
        return Comparison(counts.wanted, counts.additions, *found)


def _in_place(array: npt.NDArray[Any], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return the values as the library reads them: stored values may begin at an unaligned address."""
    if array.dtype.newbyteorder("=") != dtype:
        raise ValueError("a kernel takes values of one size")
    return np.require(array, dtype, ["C", "A"])
