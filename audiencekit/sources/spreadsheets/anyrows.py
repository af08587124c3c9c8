"""Rows of a sheet in any sound XML, cell by cell: the definition of correct, for what is not read in bulk."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final

import numpy as np
import pyarrow as pa

from audiencekit.sources.spreadsheets.container import damaged
from audiencekit.sources.spreadsheets.markup import Attributes, parse
from audiencekit.sources.spreadsheets.sheetcells import (
    MAX_ROWS,
    MAX_SHEET_COLUMNS,
    CellColumn,
    CellType,
    SheetRows,
    column_of,
)

_REFERENCE: Final = re.compile(r"([A-Z]{1,3})([1-9][0-9]{0,6})")
_TYPES: Final = {
    "n": CellType.NUMBER, "s": CellType.SHARED, "str": CellType.TEXT, "inlineStr": CellType.TEXT,
    "b": CellType.BOOLEAN, "e": CellType.ERROR, "d": CellType.DATE,
}  # fmt: skip
_STYLE_DIGITS: Final = 6
_TRUE: Final = frozenset({"1", "true"})


class AnyRows:
    """Rows of one sheet, `behind` the one with this number, as a parser finds them.

    `merged` are the ranges of merged cells, such as `A1:B2`.
    """

    def __init__(self, wanted: Collection[int] | None, *, behind: int = 0) -> None:
        self._wanted = wanted
        self._number, self._ended, self._position, self._width, self._hidden = behind, behind, -1, 0, 0
        self._attributes: Attributes = {}
        self._within: list[str] = []
        self._parts: list[str] = []
        self._is_formula = False
        self._row: list[tuple[int, CellType, int, str]] = []
        self._numbers: list[int] = []
        self._cells: dict[int, list[tuple[int, int, int, str]]] = {}
        self.merged: list[str] = []

    def read(self, blocks: Iterable[bytes]) -> Iterator[SheetRows]:
        """The rows that end in each of `blocks`. Raises SourceRefused for what is no sound sheet."""
        for _ in parse(blocks, self._begin, self._end, self._text):
            yield self._take()

    def _begin(self, name: str, attributes: Attributes) -> None:
        self._within.append(name)
        if name == "row":
            self._begin_row(attributes)
        elif name == "c":
            self._begin_cell(attributes)
        elif name == "f":
            self._is_formula = True
        elif name == "mergeCell":
            self.merged.append(attributes.get("ref", ""))

    def _begin_row(self, attributes: Attributes) -> None:
        told = attributes.get("r", str(self._number + 1))
        number = int(told) if told.isdecimal() and len(told) < 9 else 0
        if not self._number < number <= MAX_ROWS:
            raise damaged("its rows are not in order")
        self._number, self._position = number, -1
        self._hidden += attributes.get("hidden") in _TRUE

    def _begin_cell(self, attributes: Attributes) -> None:
        reference = attributes.get("r")
        found = None if reference is None else _REFERENCE.fullmatch(reference)
        if reference is not None and (found is None or int(found[2]) != self._number):
            raise damaged("a cell stands in another row than it says")
        position = self._position + 1 if found is None else column_of(found[1])
        if not self._position < position < MAX_SHEET_COLUMNS:
            raise damaged("the cells of a row are not in order")
        self._position, self._attributes, self._parts, self._is_formula = position, attributes, [], False

    def _text(self, text: str) -> None:
        if self._within[-1:] == ["v"] or (self._within[-1:] == ["t"] and "rPh" not in self._within):
            self._parts.append(text)

    def _end(self, name: str) -> None:
        self._within.pop()
        if name == "c" and (self._parts or self._is_formula):
            self._end_cell("".join(self._parts))
        elif name == "row":
            self._ended = self._number
            if self._row:
                self._end_row()

    def _end_cell(self, text: str) -> None:
        style, kind = self._attributes.get("s", "0"), _TYPES.get(self._attributes.get("t", "n"))
        if kind is None or not style.isdecimal() or len(style) > _STYLE_DIGITS:
            raise damaged("a cell is of an unknown type or style")
        if not text:
            if kind == CellType.TEXT:  # what the formula comes to
                return
            kind = CellType.UNCOMPUTED
        self._row.append((self._position, kind, int(style), text))

    def _end_row(self) -> None:
        for position, kind, style, text in self._row:
            if self._wanted is None or position in self._wanted:
                self._cells.setdefault(position, []).append((len(self._numbers), kind, style, text))
        self._width = max(self._width, self._row[-1][0] + 1)
        self._numbers.append(self._number)
        self._row = []

    def _take(self) -> SheetRows:
        """The rows that ended since the last time."""
        columns = {place: _column(cells) for place, cells in self._cells.items()}
        taken = SheetRows(
            np.array(self._numbers, dtype=np.int64), columns, width=self._width, last=self._ended, hidden=self._hidden
        )
        self._numbers, self._cells, self._hidden = [], {}, 0
        return taken


def _column(cells: list[tuple[int, int, int, str]]) -> CellColumn:
    at, types, styles, texts = zip(*cells, strict=True)
    return CellColumn(
        np.array(at, dtype=np.int64),
        np.array(types, dtype=np.uint8),
        np.array(styles, dtype=np.int32),
        pa.array(texts, pa.string()),
    )
