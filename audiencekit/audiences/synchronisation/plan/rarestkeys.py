"""Which keys of those who leave may have to be struck although a member who stays holds them.

A member goes by the key that the fewest hold. So one that many hold, as the telephone of a whole household, is hardly
ever struck, and its holders need not be looked at while the others are still being counted.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from audiencekit.preparation.columnar.buffers import Places
from audiencekit.preparation.recordbits import Bools, Indices

_TIMES: Final = 2  # so many times as many batches are counted before it is looked at again
_CHANCE: Final = 2  # so many holders more may be chance, while few are counted


class RarestKeys:
    """Counts the holders of keys, each of which some members who leave hold: `owners` those of `numbers`.

    `likely` says of each of so many `keys`, by the holders counted so far, whether of the keys of some member it may
    turn out to be the one that the fewest hold.
    """

    def __init__(self, owners: Places, numbers: Places, keys: int) -> None:
        self._owners, self._numbers = owners, numbers
        self.holders = np.zeros(keys, dtype=np.int64)
        self.likely: Bools = np.ones(keys, dtype=bool)
        self._batches, self._due = 0, 1

    def __repr__(self) -> str:
        return f"<RarestKeys of {len(self.holders)}>"

    def count(self, numbers: Indices) -> None:
        """Take in the keys that the records of the next batch hold."""
        np.add.at(self.holders, numbers, 1)
        self._batches += 1
        if self._batches == self._due:
            self._due *= _TIMES
            self.likely = self._find()

    def _find(self) -> Bools:
        held = self.holders[self._numbers]
        least = np.full(int(self._owners.max(initial=-1)) + 1, np.iinfo(np.int64).max)
        np.minimum.at(least, self._owners, held)
        likely = np.zeros(len(self.holders), dtype=bool)
        likely[self._numbers[held <= least[self._owners] + _CHANCE]] = True
        return likely
