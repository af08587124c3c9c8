"""The cells of a piece of delimited text, as both implementations of `CELL_LOOPS` read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class WantedCells:
    """The cells at `positions` of records that have `width` of them, or at least `least` where that is given."""

    delimiter: str
    width: int
    positions: Sequence[int]
    least: int | None = None


@dataclass(frozen=True, slots=True, repr=False)
class LinesApart:
    """Lines that call for a careful look: their numbers among the records, from 0, and their bytes in a row."""

    numbers: npt.NDArray[np.int64]
    data: bytes


@dataclass(frozen=True, slots=True, repr=False)
class Cells:
    """The begin of a text: so many records, in so many bytes, and their cells by position (pa.StringArray).

    Of the records that are `apart`, there are no cells; without `columns` there are none of any.
    """

    records: int
    whole_bytes: int
    columns: dict[int, Any] | None
    apart: LinesApart | None = None
