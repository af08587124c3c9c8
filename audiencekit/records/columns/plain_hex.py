"""The digits of hashes where there are no kernels: by a table of pairs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from audiencekit.records.columns.arrays import Bytes, Matrix, Places, offsets_of
from audiencekit.records.columns.hashes import hex_digits


class PlainHex:
    """The function of `HexKernels`, which describes it, with the same results."""

    def write_lists(self, lists: Places, hashes: Matrix, places: npt.NDArray[np.int64], digits: Bytes) -> Places:
        counts = np.diff(lists)[places]
        ends = offsets_of(counts)
        chosen = np.repeat(lists[:-1][places] - ends[:-1], counts) + np.arange(ends[-1])
        written = hex_digits(np.ascontiguousarray(hashes[chosen])).reshape(-1)
        digits[: len(written)] = written
        return ends
