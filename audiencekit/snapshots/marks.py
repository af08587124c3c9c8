"""Marks: the first 80 bits of the keyed tags of members, which order a snapshot and find people in it.

They are short, since one is stored for each member. With a hundred million members and as many other people, one in a
hundred million pairs of such lists would take one person for another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from audiencekit.kernels.library import choose
from audiencekit.records.record_bits import Bools, Indices
from audiencekit.selection.partitions import PARTITION_BITS
from audiencekit.selection.tag_arrays import Tags
from audiencekit.snapshots.mark_arrays import Halves
from audiencekit.snapshots.mark_kernels import MarkKernels
from audiencekit.snapshots.plain_marks import PlainMarks

MARK_LOOPS: Final = choose(MarkKernels, PlainMarks)
MARK_BYTES: Final = 9  # as stored: the first byte is the number of the part

_PART_SHIFT: Final = np.uint64(64 - PARTITION_BITS)
_STORED_HIGH_BYTES: Final = 7
_STORED_HIGH: Final = np.uint64((1 << 8 * _STORED_HIGH_BYTES) - 1)


@dataclass(frozen=True, slots=True)
class Marks:
    """The first 64 bits of each mark, and the 16 bits after them."""

    high: npt.NDArray[np.uint64] = field(repr=False)
    low: npt.NDArray[np.uint16] = field(repr=False)

    @classmethod
    def of(cls, tags: Tags) -> Self:
        """Return the marks of `tags`, or of entries that hold tags."""
        low = np.ascontiguousarray(tags["low"]) >> np.uint64(48)
        return cls(np.ascontiguousarray(tags["high"]), low.astype(np.uint16))

    @classmethod
    def joined(cls, parts: Sequence[Marks]) -> Self:
        """Return all of them, in order."""
        return cls(np.concatenate([each.high for each in parts]), np.concatenate([each.low for each in parts]))

    @classmethod
    def from_bytes(cls, content: bytes | memoryview, part: int) -> Self:
        """Return the marks that `to_bytes` wrote; all of them are in `part`."""
        count = len(content) // MARK_BYTES
        # Eight bytes are read for each: the last belongs to the next, or to the second halves, and is masked out.
        wide = np.ndarray(count, dtype="<u8", buffer=content, strides=(_STORED_HIGH_BYTES,)) & _STORED_HIGH
        high = wide | (np.uint64(part) << _PART_SHIFT)
        return cls(high, np.frombuffer(content, dtype="<u2", offset=count * _STORED_HIGH_BYTES))

    def to_bytes(self) -> bytes:
        """Return the marks as bytes, MARK_BYTES each."""
        wide = self.high.astype("<u8").view(np.uint8).reshape(-1, 8)
        return wide[:, :_STORED_HIGH_BYTES].tobytes() + self.low.astype("<u2").tobytes()

    def __len__(self) -> int:
        return len(self.high)

    def take(self, places: Indices | Bools | slice) -> Marks:
        """Return the marks at `places`, in that order."""
        return Marks(self.high[places], self.low[places])

    def ends(self, parts: range) -> list[int]:
        """Return where each of `parts` ends, for ascending marks of these parts."""
        nexts = np.array(parts[1:], dtype=np.uint64) << _PART_SHIFT
        return [*self.high.searchsorted(nexts).tolist(), len(self)]

    def order(self) -> Indices:
        """Return their places in ascending order."""
        order = np.argsort(self.high)
        high = self.high[order]
        if bool((high[1:] == high[:-1]).any()):  # hardly ever
            return np.lexsort((self.low, self.high))
        return order

    def find_in(self, ordered: Marks) -> tuple[Indices, Bools]:
        """The place of each in `ordered` (ascending, distinct), or the place to insert it, and whether it is there."""
        return MARK_LOOPS.find_marks(self.halves(), ordered.halves())

    def halves(self) -> Halves:
        """The marks as `MARK_LOOPS` takes them."""
        return Halves(self.high, self.low)


NO_MARKS: Final = Marks(np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.uint16))
