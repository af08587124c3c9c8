"""Kernels that look at pieces of text files."""

from __future__ import annotations

import ctypes

import numpy as np

from .layouts import Slice, require


class Reading:
    """Pieces are bytes as they stand in the file."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def count_lines(self, piece: bytes | memoryview) -> int:
        """The lines of a text that are not blank, each with its end."""
        given, found = Slice.of(np.frombuffer(piece, dtype=np.uint8), np.uint8), ctypes.c_size_t()
        require(self._library.audiencekit_count_lines(ctypes.byref(given), ctypes.byref(found)))
        return found.value

    def are_plain(self, piece: bytes, *, lines: int, longest: int) -> bool:
        """Whether a text is UTF-8 without NUL, of so many lines that all end in LF or CR LF, none of more bytes."""
        given, found = Slice.of(np.frombuffer(piece, dtype=np.uint8), np.uint8), ctypes.c_int32()
        bounds = ctypes.c_size_t(lines), ctypes.c_size_t(longest)
        require(self._library.audiencekit_are_plain(ctypes.byref(given), *bounds, ctypes.byref(found)))
        return bool(found.value)
