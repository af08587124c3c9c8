"""Kernels that write bodies."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from audiencekit.preparation.columnar.buffers import Bytes
from audiencekit.preparation.columnar.hexadecimal import Matrix

from .layouts import Layout, Slice, require


class _Slot(Layout):
    _fields_ = (("begin", ctypes.c_size_t), ("hashes", Slice), ("chosen", Slice))


class Writing:
    """Into bodies that the caller has made."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def write_entries(
        self, body: Bytes, places: npt.NDArray[np.int64], template: bytes, slots: Sequence[tuple[int, Matrix, Any]]
    ) -> None:
        """Put `template` at each of `places` of `body`, with the digits of a hash in each of its `slots`.

        A slot is where in the template the digits begin, hashes, and of each entry which of these it has.
        """
        laid_out = (_Slot * len(slots))(
            *(_Slot(begin, Slice.of(hashes, np.uint8), Slice.of(chosen, np.int64)) for begin, hashes, chosen in slots)
        )
        given = (Slice.of(places, np.int64), Slice.of(np.frombuffer(template, dtype=np.uint8), np.uint8))
        all_slots = Slice(ctypes.addressof(laid_out), len(slots))
        arguments = map(ctypes.byref, (*given, all_slots))
        if not body.flags.writeable:
            raise ValueError("a kernel writes only where writing is allowed")
        whole = Slice.of(body, np.uint8)
        begin, body_bytes = ctypes.c_void_p(whole.data), ctypes.c_size_t(whole.count)
        require(self._library.audiencekit_entries(begin, body_bytes, *arguments))
