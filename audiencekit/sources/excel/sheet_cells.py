"""Cells of a sheet as they are stored: of each its type, its style, and the text of its value."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

import numpy as np
import numpy.typing as npt

MAX_ROWS: Final = 1_048_576  # of a sheet: Excel specifications and limits
MAX_SHEET_COLUMNS: Final = 16_384


class CellType(IntEnum):
    """The sort of a value: ISO 29500-1, 18.18.11. The text of SHARED is a place in the list of shared strings.

    UNCOMPUTED is a formula without a value: of a program that writes workbooks and computes nothing.
    """

    NUMBER = 0
    SHARED = 1
    TEXT = 2
    BOOLEAN = 3
    ERROR = 4
    DATE = 5
    UNCOMPUTED = 6


@dataclass(frozen=True, slots=True, repr=False)
class CellColumn:
    """The cells of one column that hold a value: `at` which of the rows, and for each its type, style and text."""

    at: npt.NDArray[np.int64]
    types: npt.NDArray[np.uint8]
    styles: npt.NDArray[np.int32]
    texts: Any  # pa.StringArray without nulls

    def behind(self, rows: int) -> CellColumn:
        """Return the cells after this number of rows, which are dropped."""
        first = int(np.searchsorted(self.at, rows))
        return CellColumn(self.at[first:] - rows, self.types[first:], self.styles[first:], self.texts.slice(first))

    def before(self, rows: int) -> CellColumn:
        """The cells in the first so many rows."""
        end = int(np.searchsorted(self.at, rows))
        return CellColumn(self.at[:end], self.types[:end], self.styles[:end], self.texts.slice(0, end))


@dataclass(frozen=True, slots=True, repr=False)
class SheetRows:
    """The rows with a value, by their `numbers` in the sheet, ascending; `columns` by position, 0 is A.

    `width` is the position behind the last column with a value, `last` the number of the last row, with a value or
    not, and `hidden` how many of all rows are hidden.
    """

    numbers: npt.NDArray[np.int64]
    columns: dict[int, CellColumn]
    width: int
    last: int
    hidden: int = 0


def column_of(letters: str) -> int:
    """The position of the column that people call `letters`: 0 is A, 26 is AA."""
    position = 0
    for letter in letters:
        position = position * 26 + ord(letter) - ord("A") + 1
    return position - 1


def letters_of(position: int) -> str:
    """The letters of the column at `position`."""
    letters = ""
    position += 1
    while position:
        position, rest = divmod(position - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
