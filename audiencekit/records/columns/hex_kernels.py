"""Kernels that write hashes as digits."""

from __future__ import annotations

import ctypes

import numpy as np
import numpy.typing as npt

from audiencekit.kernels.layouts import Slice, address, output_slice, require
from audiencekit.records.columns.arrays import Bytes, Matrix, Places


class HexKernels:
    """Digits of many hashes at once, without the lock of the interpreter."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def write_lists(self, lists: Places, hashes: Matrix, places: npt.NDArray[np.int64], digits: Bytes) -> Places:
        """Put the hex digits of the lists of hashes at `places` into `digits`, and give where among the hashes that are
        written each of these lists begins, and where the last one ends."""
        ends = np.empty(len(places) + 1, dtype=np.int32)
        given = (Slice.of(lists, np.int32), Slice.of(hashes, np.uint8), Slice.of(places, np.int64))
        room = (ctypes.c_void_p(address(ends)), *output_slice(digits, np.uint8))
        require(self._library.audiencekit_hex_lists(*map(ctypes.byref, given), *room))
        return ends
