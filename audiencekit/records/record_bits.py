"""One bit a record, because a run of a hundred million records cannot keep more of each in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.int64]

_PIECE_BYTES: Final = 2**20


class Bits:
    """Bits by index, eight in a byte, as many as were appended. While all of them are equal they take no memory."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._length = 0
        self._all: bool | None = False  # the value of all bits; None when they differ, and stand in the bytes

    @classmethod
    def of(cls, length: int, value: bool) -> Bits:
        """`length` bits, all equal to `value`."""
        bits = cls()
        bits._length, bits._all = length, value
        return bits

    def __len__(self) -> int:
        return self._length

    def __repr__(self) -> str:
        return f"<{len(self)} bits>"

    def copy(self) -> Bits:
        """The same bits, to be changed on their own."""
        bits = Bits()
        bits._bytes, bits._length, bits._all = self._bytes[:], self._length, self._all
        return bits

    def append(self, values: Bools) -> None:
        """Add one bit for each of `values`."""
        if not self._length and len(values):
            self._all = bool(values[0])
        if self._all is not None and bool((values == self._all).all()):
            self._length += len(values)
            return
        self._lay_out()
        started = self._length % 8
        if started:  # the last byte is taken back, and filled up
            values = np.concatenate([self.slice(self._length - started, self._length), values])
            self._length -= started
            del self._bytes[-1]
        self._bytes += np.packbits(values, bitorder="little").tobytes()
        self._length += len(values)

    def slice(self, start: int, end: int) -> Bools:
        """The bits from `start` to `end`."""
        if self._all is not None:
            return np.full(end - start, self._all)
        first = start // 8
        packed = self.packed()[first : -(-end // 8)]
        return np.unpackbits(packed, bitorder="little")[start - 8 * first : end - 8 * first].view(np.bool_)

    def packed(self) -> npt.NDArray[np.uint8]:
        """Its bytes, without a copy; append nothing while they are in use."""
        self._lay_out()
        return np.frombuffer(self._bytes, dtype=np.uint8)

    def at(self, indices: Indices) -> Bools:
        """The bits of `indices`."""
        if self._all is not None:
            return np.full(len(indices), self._all)
        packed = self.packed()[indices >> 3]
        found: Bools = (packed >> (indices & 7).astype(np.uint8) & 1).astype(bool)
        return found

    def set(self, indices: Indices, value: bool) -> None:
        """Make the bits of `indices` equal to `value`."""
        if not len(indices) or value == self._all:
            return
        packed = self.packed()
        masks = np.left_shift(np.uint8(1), (indices & 7).astype(np.uint8))
        if value:
            np.bitwise_or.at(packed, indices >> 3, masks)
        else:
            np.bitwise_and.at(packed, indices >> 3, ~masks)

    def subtract(self, others: Bits) -> None:
        """Clear every bit that is set in `others`, which has as many."""
        if others._all is False or self._all is False:
            return
        for own, other in zip(self._pieces(), others._pieces(), strict=True):
            np.bitwise_and(own, ~other, out=own)

    def count(self) -> int:
        """How many are set."""
        if self._all is not None:
            return self._length * self._all
        return sum(int.from_bytes(piece, "little").bit_count() for piece in self._pieces())

    def _lay_out(self) -> None:
        """Have a bit for each from now on, since they differ or may be changed."""
        if self._all is None:
            return
        self._bytes = bytearray(b"\xff" if self._all else b"\0") * -(-self._length // 8)
        if self._all and self._length % 8:
            self._bytes[-1] = (1 << self._length % 8) - 1
        self._all = None

    def _pieces(self) -> Iterator[npt.NDArray[np.uint8]]:
        """Yield the bytes in pieces: a result for all at once would be as large as they are."""
        packed = self.packed()
        return (packed[start : start + _PIECE_BYTES] for start in range(0, len(packed), _PIECE_BYTES))


def bools_of(column: Any) -> Bools:
    """The values of an Arrow array of booleans, none of them null. Arrow itself takes several times as long."""
    first, start = divmod(column.offset, 8)  # of a slice, only what is its own
    packed = np.frombuffer(column.buffers()[1] or b"", dtype=np.uint8)[first:]
    return np.unpackbits(packed, count=start + len(column), bitorder="little")[start:].view(np.bool_)
