"""A set of keys that a hundred million others can be looked up in: by bits of their hashes, then by their tags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from audiencekit.preparation.bits import Bools, Indices
from audiencekit.preparation.columnar.hexadecimal import Matrix
from audiencekit.preparation.tags import TAG, Tags

_FILTER_BITS: Final = 24


class KeyFilter:
    """Knows some bits of the hash of every key that was added: most others end here, before they are given a tag.

    Whoever calls it holds hashes, and is guarded.
    """

    def __init__(self) -> None:
        self._bits = np.zeros(2**_FILTER_BITS, dtype=bool)

    def __repr__(self) -> str:
        return "<KeyFilter>"

    def add(self, hashes: Matrix) -> None:
        """Take in these keys."""
        self._bits[_first_bits(hashes)] = True

    def likely(self, hashes: Matrix) -> Indices:
        """The places of those `hashes` that may have been added."""
        return np.flatnonzero(self._bits[_first_bits(hashes)])


class KeyTable:
    """Numbers the distinct `tags` from 0."""

    def __init__(self, tags: Sequence[Tags]) -> None:
        every = np.concatenate([np.zeros(0, dtype=TAG), *tags])
        every = every[np.lexsort((every["low"], every["high"]))]
        fresh = np.ones(len(every), dtype=bool)
        fresh[1:] = (every["high"][1:] != every["high"][:-1]) | (every["low"][1:] != every["low"][:-1])
        self._high, self._low = every["high"][fresh], every["low"][fresh]

    def __len__(self) -> int:
        return len(self._high)

    def __repr__(self) -> str:
        return f"<KeyTable of {len(self)}>"

    def find(self, tags: Tags) -> tuple[Indices, Indices]:
        """The places of those `tags` that are in the set, and the number of each."""
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


def _first_bits(hashes: Matrix) -> Indices:
    bits = hashes.view("<u4")[:, 0] & np.uint32((1 << _FILTER_BITS) - 1)
    return bits.astype(np.int64)
