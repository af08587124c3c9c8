"""Kernels that look at pieces of text files."""

from __future__ import annotations

import ctypes
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audiencekit.kernels.layouts import KernelStructure, Slice, address, require
from audiencekit.limits import MAX_CELL_BYTES
from audiencekit.sources.csv.cells import Cells, LinesApart, WantedCells
from audiencekit.sources.csv.records import Patterns, cut

_BLOCK: Final = 64  # cells of so many bytes are noted at once, and room for as many is asked for
_LEAST_LINE_BYTES: Final = 2  # a letter and a line end
_MORE: Final = 1.25  # room for pieces that are somewhat larger than the one before
_OFFSET_BYTES: Final = 4


class _Shape(KernelStructure):
    _fields_ = (
        ("delimiter", ctypes.c_uint8),
        ("width", ctypes.c_size_t),
        ("least", ctypes.c_size_t),
        ("wanted", ctypes.c_size_t),
        ("longest", ctypes.c_size_t),
    )

    @classmethod
    def of(cls, wanted: WantedCells, longest: int) -> _Shape:
        """The lines of which `wanted` is read. Raises ValueError where they have no such cells."""
        last = max(wanted.positions, default=0)
        if len(wanted.delimiter.encode()) != 1 or min(wanted.positions, default=0) < 0 or last >= wanted.width:
            raise ValueError("a kernel takes a delimiter of one byte, and positions that the lines have")
        least = wanted.width if wanted.least is None else max(wanted.least, last + 1)
        return cls(ord(wanted.delimiter), wanted.width, least, last + 1, longest)


class _Lines(KernelStructure):
    _fields_ = (
        ("count", ctypes.c_size_t),
        ("cells", ctypes.c_size_t),
        ("apart", ctypes.c_size_t),
        ("bytes", ctypes.c_size_t),
        ("quotes", ctypes.c_int32),
    )


class _Places(KernelStructure):
    _fields_ = tuple(
        field
        for name in ("begins", "ends", "apart")
        for field in ((name, ctypes.c_void_p), (f"{name}_count", ctypes.c_size_t))
    )


class _Column(KernelStructure):
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


class Room:
    """Where a kernel notes the places of lines and cells, for one piece after the other.

    It is as large as a piece can need; only the pages that are written to are had.
    """

    def __init__(self) -> None:
        self.begins = self.ends = np.empty(0, dtype=np.uint32)
        self.apart = np.empty((0, 3), dtype=np.uint32)  # number, begin and end of each line

    def for_bytes(self, piece_bytes: int) -> _Places:
        """Room for the lines and cells of a piece."""
        if len(self.ends) < piece_bytes + _BLOCK:
            count = int(piece_bytes * _MORE) + _BLOCK
            self.ends = np.empty(count, dtype=np.uint32)
            self.begins = np.empty(count // _LEAST_LINE_BYTES, dtype=np.uint32)
            self.apart = np.empty((count // _LEAST_LINE_BYTES, 3), dtype=np.uint32)
        arrays = (self.begins, self.ends, self.apart)
        return _Places(*(each for array in arrays for each in (address(array), len(array))))


class CellReader:
    """Reads the wanted cells of one piece after the other, in one thread."""

    def __init__(self, kernels: CellKernels, wanted: WantedCells) -> None:
        self._kernels, self._wanted, self._room = kernels, wanted, Room()
        self._patterns = Patterns(wanted.delimiter)

    def read(self, data: bytes) -> Cells:
        """Return the complete records at the beginning of `data`, and their cells where a kernel is certain.

        They are counted, too: a line end by a line end, and the reader must have found as many cells as they have.
        Those that are apart are read by `csv`, which must find as many.
        """
        found = None
        if self._wanted.positions:
            found = self._kernels.read_cells(data, self._wanted, self._room, longest=MAX_CELL_BYTES)
        if found is None:
            records, carry, _ = cut(data, self._patterns)
            return Cells(records, len(data) - len(carry), None)
        return found


class CellKernels:
    """Pieces are bytes of the file, unchanged."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def reader(self, wanted: WantedCells) -> CellReader:
        """A reader of the cells that are `wanted`."""
        return CellReader(self, wanted)

    def read_cells(self, piece: bytes, wanted: WantedCells, room: Room, *, longest: int) -> Cells | None:
        """Return the wanted cells of the complete lines at the beginning of `piece`; None if no line is plain, or a
        quote is wrong.

        A line is plain when it is UTF-8, not longer than `longest` bytes with its end, LF, CR LF or CR, and has the
        width that is wanted or nothing behind that, or lacks cells that it may. The others are apart. Blank lines are
        left out, a line end in quotes is a letter, and so is a quote within a cell; behind a closing one a cell ends.
        """
        positions, shape = wanted.positions, _Shape.of(wanted, longest)
        given = Slice.of(np.frombuffer(piece, dtype=np.uint8), np.uint8)
        places, lines, sizes = room.for_bytes(len(piece)), _Lines(), np.zeros(len(positions), dtype=np.uintp)
        own_positions = Slice.of(np.array(positions, dtype=np.uintp), np.uintp)
        found = ctypes.byref(own_positions), ctypes.c_void_p(address(sizes)), ctypes.byref(lines)
        told = ctypes.byref(shape), ctypes.byref(places)
        require(self._library.audiencekit_index_cells(ctypes.byref(given), *told, *found))
        if not lines.count:
            return None
        columns = [_Column.new(*one, lines=lines.count) for one in zip(positions, sizes.tolist(), strict=True)]
        begins = Slice.of(room.begins[: lines.count], np.uint32)
        ends = Slice.of(room.ends[: lines.count * lines.cells], np.uint32)
        arguments = (ctypes.byref(begins), ctypes.byref(ends), ctypes.byref(Slice.of_all(columns, _Column)))
        seen = ctypes.byref(given), ctypes.c_size_t(lines.cells), ctypes.c_int32(lines.quotes)
        require(self._library.audiencekit_copy_cells(*seen, *arguments))
        texts = (column.texts() for column in columns)
        apart = _lines_apart(piece, room.apart[: lines.apart]) if lines.apart else None
        return Cells(lines.count + lines.apart, lines.bytes, dict(zip(positions, texts, strict=True)), apart)


def _lines_apart(piece: bytes, places: npt.NDArray[np.uint32]) -> LinesApart:
    data = b"".join(piece[begin:end] for begin, end in places[:, 1:].tolist())
    return LinesApart(places[:, 0].astype(np.int64), data)
