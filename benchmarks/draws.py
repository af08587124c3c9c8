"""Random numbers that a seed decides, on every machine and with every version of numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa


class Draws:
    """Columns of random choices for `rows` rows. What is drawn follows from `seed`, `stream` and the order of calls."""

    def __init__(self, seed: int, stream: int, rows: int) -> None:
        # numpy promises the raw stream of a bit generator for good, and that of `Generator` only until it is improved.
        self._bits = np.random.PCG64([seed, stream])
        self.rows = rows

    def below(self, bound: int) -> npt.NDArray[np.int64]:
        """One whole number from 0 to `bound` - 1 a row."""
        return (self._bits.random_raw(self.rows) % np.uint64(bound)).astype(np.int64)

    def chance(self, one_in: int) -> pa.Array:
        """True in one of `one_in` rows."""
        return pa.array(self.below(one_in) == 0)

    def words(self, choices: pa.Array) -> Any:
        """One of `choices` a row, all equally often."""
        return choices.take(pa.array(self.below(len(choices))))

    def numbers(self, bound: int) -> Any:
        """One whole number from 0 to `bound` - 1 a row, as text."""
        return pa.array(self.below(bound)).cast(pa.string())
