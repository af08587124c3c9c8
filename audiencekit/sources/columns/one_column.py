"""Files whose rows were read as one cell each: the cause, if it can be seen."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from audiencekit.errors import MappingRefused

_LEAST_CELLS: Final = 3  # of a row: two words with a sign between them are a text
_ALIKE: Final = 0.8  # of the rows are divided like the first
_BLANKS: Final = re.compile(" {2,}|\t+")


def refuse_one_column(lines: Sequence[str]) -> None:
    """Raises MappingRefused for lines that are rows in quotes, or columns of a fixed width; the first is the header."""
    for sign in (",", ";", "\t", "|"):
        if _are_divided([line.count(sign) + 1 for line in lines]):
            raise MappingRefused(
                "each line is one quoted cell: the file was saved twice",
                hint="save the list as CSV once, or take the outer quotes off:"
                ' sed \'s/^"//; s/"\\r*$//; s/""/"/g\' FILE > list.csv',
            )
    if _are_divided([len(_BLANKS.split(line.strip())) for line in lines]):
        raise MappingRefused(
            "the columns are of a fixed width, with blanks between them, and so are not read",
            hint="save the list as CSV; in Python pandas.read_fwf reads it as a data frame",
        )


def _are_divided(cells: list[int]) -> bool:
    """Whether the first line and most others have as many cells, and these are several."""
    return len(cells) > 1 and cells[0] >= _LEAST_CELLS and cells.count(cells[0]) >= _ALIKE * len(cells)
