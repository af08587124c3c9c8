"""A set of keys, by their tags, that a hundred million others can be looked up in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from audiencekit.preparation.bits import Bools, Indices
from audiencekit.preparation.tags import TAG, Tags

_FILTER_BITS: Final = 24  # most keys that are not in the set end here


class KeyTable:
    """Numbers the distinct `tags` from 0."""

    def __init__(self, tags: Sequence[Tags]) -> None:
        every = np.concatenate([np.zeros(0, dtype=TAG), *tags])
        every = every[np.lexsort((every["low"], every["high"]))]
        fresh = np.ones(len(every), dtype=bool)
        fresh[1:] = (every["high"][1:] != every["high"][:-1]) | (every["low"][1:] != every["low"][:-1])
        self._high, self._low = every["high"][fresh], every["low"][fresh]
        self._filter = np.zeros(2**_FILTER_BITS, dtype=bool)
        self._filter[_first_bits(self._high)] = True

    def __len__(self) -> int:
        return len(self._high)

    def __repr__(self) -> str:
        return f"<KeyTable of {len(self)}>"

    def find(self, tags: Tags) -> tuple[Indices, Indices]:
        """The places of those `tags` that are in the set, and the number of each."""
        likely = np.flatnonzero(self._filter[_first_bits(tags["high"])])
        high, low = tags["high"][likely], tags["low"][likely]
        numbers = np.searchsorted(self._high, high)
        numbers += ~self._is(numbers, high, low)  # two of the set may share their first half
        found = self._is(numbers, high, low)
        return likely[found], numbers[found]

    def _is(self, numbers: Indices, high: Indices, low: Indices) -> Bools:
        within = np.minimum(numbers, max(len(self) - 1, 0))
        if not len(self):
            return np.zeros(len(numbers), dtype=bool)
        same: Bools = (self._high[within] == high) & (self._low[within] == low) & (numbers < len(self))
        return same


def _first_bits(high: Indices) -> Indices:
    return (high >> np.uint64(64 - _FILTER_BITS)).astype(np.int64)
