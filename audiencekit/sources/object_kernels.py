"""Kernels that read the values of JSON objects."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audiencekit.kernels.layouts import KernelStructure, Slice, Texts, address, output_slice, require


class _Values(KernelStructure):
    _fields_ = (
        ("offsets", ctypes.c_void_p),
        ("offset_count", ctypes.c_size_t),
        ("filled", ctypes.c_void_p),
        ("filled_count", ctypes.c_size_t),
        ("data", ctypes.c_void_p),
        ("data_bytes", ctypes.c_size_t),
    )

    @classmethod
    def new(cls, size_bytes: int, *, lines: int) -> _Values:
        """Room for the values of so many lines."""
        offsets, filled = np.zeros(lines + 1, dtype=np.int32), np.zeros(lines, dtype=np.uint8)
        data = np.empty(size_bytes, dtype=np.uint8)
        made = cls(*(each for array in (offsets, filled, data) for each in (address(array), len(array))))
        made._kept = (offsets, filled, data)
        return made

    def texts(self) -> Any:
        """The texts that were written there, null where there is none: a pa.StringArray."""
        offsets, filled, data = self._kept
        written = pa.py_buffer(data[: offsets[-1]].tobytes())  # the room is as large as the text, and not kept
        mask = None if filled.all() else pa.py_buffer(np.packbits(filled, bitorder="little"))
        return pa.StringArray.from_buffers(len(filled), pa.py_buffer(offsets), written, mask)


class ObjectKernels:
    """Lines are bytes of the file, unchanged and without their ends."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def read_objects(self, lines: Sequence[bytes], keys: Sequence[str]) -> tuple[list[Any], npt.NDArray[np.bool_]]:
        """The values of `keys`, a pa.StringArray each, and which lines are apart, whose values are null.

        A line is read when it is one JSON object in UTF-8 without a key that stands twice, and each of `keys` has a
        text without escapes, a whole number of at most 18 digits, null, or is missing. A number is its digits.
        """
        text, apart = b"\n".join(lines), np.zeros(len(lines), dtype=np.uint8)
        encoded = [key.encode("utf-8", "surrogatepass") for key in keys]
        ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
        names = Texts.of(ends, np.frombuffer(b"".join(encoded), dtype=np.uint8))
        columns = [_Values.new(len(text), lines=len(lines)) for _ in keys]
        given = Slice.of(np.frombuffer(text, dtype=np.uint8), np.uint8)
        rooms = Slice.of_all(columns, _Values)
        told = map(ctypes.byref, (given, names, rooms))
        require(self._library.audiencekit_read_objects(*told, *output_slice(apart, np.uint8)))
        return [column.texts() for column in columns], apart.astype(bool)
