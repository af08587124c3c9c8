"""A set of keys that a hundred million others can be looked up in: by bits of their hashes, then by their tags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from audiencekit.kernels.library import kernels
from audiencekit.preparation.columnar.buffers import Bytes, Matrix
from audiencekit.preparation.recordbits import Bools, Indices
from audiencekit.selection.tagkernels import TagKernels
from audiencekit.selection.tags import TAG, Tags
from audiencekit.snapshots.mark_kernels import Halves, MarkKernels

Numbers = npt.NDArray[np.uint64]

_NO_TAGS: Final = np.zeros(0, dtype=TAG)
_NEAR_BITS: Final = 24  # of 200,000 keys one in eighty others passes; two megabytes
_FAR_BITS: Final = 27  # and of these one in six hundred; 16 megabytes


class KeyFilter:
    """Knows some bits of the hash of every key that was added: most others end here, before they are given a tag.

    Its callers hold hashes, and are guarded.
    """

    def __init__(self) -> None:
        self._near, self._far = (np.zeros(2**bits // 8, dtype=np.uint8) for bits in (_NEAR_BITS, _FAR_BITS))

    def __repr__(self) -> str:
        return "<KeyFilter>"

    def add(self, hashes: Matrix) -> None:
        """Take in these keys."""
        for word, bits in enumerate((self._near, self._far)):
            numbers = _numbers(hashes, word, bits)
            np.bitwise_or.at(bits, numbers >> 3, _masks(numbers))

    def likely(self, hashes: Matrix) -> Indices:
        """The places of those `hashes` that may have been added."""
        if compiled := kernels(TagKernels):
            return compiled.find_likely(hashes, self._near, self._far)
        places = np.arange(len(hashes))
        for word, bits in enumerate((self._near, self._far)):
            numbers = _numbers(hashes[places], word, bits)
            places = places[bits[numbers >> 3] & _masks(numbers) != 0]
        return places


def _numbers(hashes: Matrix, word: int, bits: Bytes) -> Indices:
    """The number of the bit that each of `hashes` has in `bits`, by that word of four bytes."""
    numbers: Indices = hashes.view("<u4")[:, word].astype(np.int64) & (8 * len(bits) - 1)
    return numbers


def _masks(numbers: Indices) -> Bytes:
    return np.left_shift(np.uint8(1), (numbers & 7).astype(np.uint8))


class KeyTable:
    """Numbers the distinct `tags` from 0."""

    def __init__(self, tags: Sequence[Tags]) -> None:
        halves = (np.concatenate([_NO_TAGS[half], *(each[half] for each in tags)]) for half in ("high", "low"))
        self._high, self._low = _distinct(*halves)
        compiled = kernels(MarkKernels)
        self._begins = None if compiled is None else compiled.prepare(self._high)

    def __len__(self) -> int:
        return len(self._high)

    def __repr__(self) -> str:
        return f"<KeyTable of {len(self)}>"

    def find(self, tags: Tags) -> tuple[Indices, Indices]:
        """The places of those `tags` that are in the set, and the number of each."""
        if self._begins is not None and (compiled := kernels(MarkKernels)):
            numbers = compiled.find_tags(tags, Halves(self._high, self._low), self._begins)
            places = np.flatnonzero(numbers >= 0)
            return places, numbers[places]
        high, low = tags["high"], tags["low"]
        numbers = np.searchsorted(self._high, high)
        numbers += ~self._is(numbers, high, low)  # two of the set may share their first half
        found = self._is(numbers, high, low)
        return np.flatnonzero(found), numbers[found]

    def _is(self, numbers: Indices, high: Indices, low: Indices) -> Bools:
        within = np.minimum(numbers, max(len(self) - 1, 0))
        if not len(self):
            return np.zeros(len(numbers), dtype=bool)
        same: Bools = (self._high[within] == high) & (self._low[within] == low) & (numbers < len(self))
        return same


def _distinct(high: Numbers, low: Numbers) -> tuple[Numbers, Numbers]:
    """Each pair of halves once, ascending."""
    order = np.argsort(high)
    is_same, is_equal = _neighbours(high, order), _neighbours(low, order)
    if bool((is_same & ~is_equal).any()):  # hardly ever
        order = np.lexsort((low, high))
        is_same, is_equal = _neighbours(high, order), _neighbours(low, order)
    order = order[np.append(True, ~(is_same & is_equal))[: len(order)]]
    return high[order], low[order]


def _neighbours(halves: Numbers, order: Indices) -> Bools:
    """Of all but the first in this order, whether each is equal to the one before it."""
    ordered = halves[order]
    equal: Bools = ordered[1:] == ordered[:-1]
    return equal
