"""Kernels that look at pieces of text files."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audiencekit.kernels.layouts import Layout, Slice, address, require

_BLOCK: Final = 64  # cells of so many bytes are noted at once, and room for as many is asked for
_MORE: Final = 1.25  # room for pieces that are somewhat larger than the one before
_OFFSET_BYTES: Final = 4


class _Shape(Layout):
    _fields_ = (("delimiter", ctypes.c_uint8), ("width", ctypes.c_size_t), ("longest", ctypes.c_size_t))


class _Lines(Layout):
    _fields_ = (("count", ctypes.c_size_t), ("bytes", ctypes.c_size_t), ("quotes", ctypes.c_int32))


class _Column(Layout):
    _fields_ = (
        ("position", ctypes.c_size_t),
        ("offsets", ctypes.c_void_p),
        ("offset_count", ctypes.c_size_t),
        ("data", ctypes.c_void_p),
        ("data_bytes", ctypes.c_size_t),
    )

    @classmethod
    def new(cls, position: int, size_bytes: int, *, lines: int) -> _Column:
        """Room for the cells at `position` of so many lines."""
        # Of Arrow, which frees it without the lock of the interpreter, in whatever thread.
        offsets, data = pa.allocate_buffer((lines + 1) * _OFFSET_BYTES), pa.allocate_buffer(size_bytes)
        made = cls(position, offsets.address, lines + 1, data.address, data.size)
        made._kept = (offsets, data)
        return made

    def texts(self) -> Any:
        """The texts that were written there: a pa.StringArray."""
        return pa.StringArray.from_buffers(self.offset_count - 1, *self._kept)


@dataclass(frozen=True, slots=True)
class WantedCells:
    """The cells at `positions` of records that have `width` of them."""

    delimiter: str
    width: int
    positions: Sequence[int]


class Room:
    """Where a kernel notes the ends of cells, for one piece after the other. Only the pages that it needs are had."""

    def __init__(self) -> None:
        self._ends = np.empty(0, dtype=np.uint32)

    def for_bytes(self, piece_bytes: int) -> npt.NDArray[np.uint32]:
        """As many ends as a piece can have."""
        if len(self._ends) < piece_bytes + _BLOCK:
            self._ends = np.empty(int(piece_bytes * _MORE) + _BLOCK, dtype=np.uint32)
        return self._ends


@dataclass(frozen=True, slots=True, repr=False)
class Cells:
    """The begin of a text: so many records, in so many bytes, and their cells by position (pa.StringArray)."""

    records: int
    whole_bytes: int
    columns: dict[int, Any]


class CellKernels:
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

    def read_cells(self, piece: bytes, wanted: WantedCells, room: Room, *, longest: int) -> Cells | None:
        """The wanted cells of all whole lines that `piece` begins with; None when it is not plain.

        It is when it is UTF-8 without NUL, no line is longer than `longest` bytes with its end, LF or CR LF, each has
        the width that is wanted or is blank, and quotes stand around whole cells only. Blank lines are left out; a line
        end in quotes is a letter.
        """
        delimiter, width, positions = wanted.delimiter, wanted.width, wanted.positions
        if len(delimiter.encode()) != 1 or not all(0 <= position < width for position in positions):
            raise ValueError("a kernel takes a delimiter of one byte, and positions that the lines have")
        given, shape = Slice.of(np.frombuffer(piece, dtype=np.uint8), np.uint8), _Shape(ord(delimiter), width, longest)
        ends, lines, sizes = room.for_bytes(len(piece)), _Lines(), np.zeros(len(positions), dtype=np.uintp)
        places = ctypes.c_void_p(address(ends)), ctypes.c_size_t(len(ends))
        own_positions = Slice.of(np.array(positions, dtype=np.uintp), np.uintp)
        found = ctypes.byref(own_positions), ctypes.c_void_p(address(sizes)), ctypes.byref(lines)
        require(self._library.audiencekit_index_cells(ctypes.byref(given), ctypes.byref(shape), *places, *found))
        if not lines.count:
            return None
        columns = [_Column.new(*one, lines=lines.count) for one in zip(positions, sizes.tolist(), strict=True)]
        laid_out = (_Column * len(columns))(*columns)
        ends_found = Slice.of(ends[: lines.count * width], np.uint32)
        arguments = (given, shape, lines, ends_found, Slice(ctypes.addressof(laid_out), len(columns)))
        require(self._library.audiencekit_copy_cells(*map(ctypes.byref, arguments)))
        texts = (column.texts() for column in columns)
        return Cells(lines.count, lines.bytes, dict(zip(positions, texts, strict=True)))
