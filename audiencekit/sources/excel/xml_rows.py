"""Rows of a sheet in any valid XML, cell by cell: the definition of correct, for rows that are not read in bulk."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.errors import SourceRefused
from audiencekit.sources.excel.fast_rows import (
    CLOSED,
    PREFIX,
    Grammar,
    MarkupForm,
    Units,
    joined,
    plain_rows,
    rewritten,
    runs_end,
    without_fonts,
)
from audiencekit.sources.excel.sheet_cells import (
    MAX_ROWS,
    MAX_SHEET_COLUMNS,
    CellColumn,
    CellType,
    SheetRows,
    column_of,
)
from audiencekit.sources.excel.workbook import Attributes, Container, damaged, parse

_REFERENCE: Final = re.compile(r"([A-Z]{1,3})([1-9][0-9]{0,6})")
_TYPES: Final = {
    "n": CellType.NUMBER, "s": CellType.SHARED, "str": CellType.TEXT, "inlineStr": CellType.TEXT,
    "b": CellType.BOOLEAN, "e": CellType.ERROR, "d": CellType.DATE,
}  # fmt: skip
_STYLE_DIGITS: Final = 6
_TRUE: Final = frozenset({"1", "true"})


class AnyRows:
    """Rows of one sheet after row `behind`, as a parser finds them.

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
        """Yield the rows that end in each of `blocks`. Raises SourceRefused for a damaged sheet."""
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
            raise damaged("a cell is in another row than it says")
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


MAX_STRINGS_BYTES: Final = 268_435_456  # of XML; the texts are held in memory
_ITEM, _TEXT, _RUN, _READING, _FONT, _ITEM_END, _TEXT_END, _RUN_END, _READING_END = range(1, 10)
_BETWEEN: Final = (_ITEM, _ITEM + CLOSED, 0)
# Excel in Japanese and Chinese writes behind a text how it is read, and in which font that is shown.
_BEHIND_TEXT: Final = (_READING, _FONT + CLOSED, _ITEM_END)
_GRAMMAR: Final = Grammar(
    {
        b"si>": _ITEM, b"t>": _TEXT, b"t ": _TEXT, b"t/>": _TEXT, b"rPh ": _READING, b"phoneticPr ": _FONT,
        b"r>": _RUN, b"/si>": _ITEM_END, b"/t>": _TEXT_END, b"/rPh>": _READING_END, b"/r>": _RUN_END,
    },
    {
        0: _BETWEEN,
        _ITEM: (_TEXT, _TEXT + CLOSED, _RUN),
        _RUN: (_TEXT, _TEXT + CLOSED),
        _TEXT: (_TEXT_END,),
        _TEXT + CLOSED: (_FONT + CLOSED, _ITEM_END, _RUN_END),
        _TEXT_END: (*_BEHIND_TEXT, _READING_END, _RUN_END),
        _RUN_END: (_RUN, *_BEHIND_TEXT),
        _READING: (_TEXT,),
        _READING_END: _BEHIND_TEXT,
        _FONT + CLOSED: (_ITEM_END,),
        _ITEM_END: _BETWEEN,
    },
)  # fmt: skip
_STRINGS_FORM: Final = MarkupForm(b"sst", re.compile(b"<" + PREFIX + rb"sst(?:\s[^<>]*[^/<>])?>"), b"si", b"sst")
_ESCAPE: Final = re.compile(r"_x([0-9A-Fa-f]{4})_")


def read_strings(container: Container, part: str | None) -> Any:
    """All shared texts of a workbook, a pa.StringArray. Raises SourceRefused when they take too much memory."""
    if part is None:
        return pa.array([], pa.string())
    if container.size_bytes(part) > MAX_STRINGS_BYTES:
        raise SourceRefused(
            f"the texts of the workbook take more than {MAX_STRINGS_BYTES:,} bytes", hint="save the sheet as CSV UTF-8"
        )
    units = Units(container.blocks(part), _STRINGS_FORM)
    pieces = [piece for unit in units for piece in _texts(units, unit)]
    pieces += AnyTexts().read(units.rest())
    return unescaped(pa.concat_arrays(pieces))


def _texts(units: Units, piece: bytes) -> Iterator[Any]:
    texts = plain_texts(units.unprefixed(piece))
    if texts is None:
        yield from AnyTexts().read(units.alone(piece))
    else:
        yield texts


def plain_texts(piece: bytes) -> Any | None:
    """Return the texts of `piece`, one an item; None if it is not plain."""
    tags = _GRAMMAR.find(without_fonts(piece))
    if tags is None or not runs_end(tags, _RUN, _RUN_END):
        return None
    items = np.flatnonzero((tags.codes == _ITEM) | (tags.codes == _ITEM + CLOSED))
    texts, readings = np.flatnonzero(tags.codes == _TEXT), np.flatnonzero(tags.codes == _READING)
    if (tags.codes == _READING_END).sum() != len(readings) or (tags.codes[readings + 3] != _READING_END).any():
        return None
    texts = texts[(tags.codes[texts - 1] == _ITEM) | (tags.codes[texts - 1] == _RUN)]
    found = tags.texts_behind(texts)
    owners = np.searchsorted(items, texts) - 1
    if found is not None and (owners[1:] == owners[:-1]).any():
        found, owners = joined(found, owners), np.unique(owners)
    if found is None or len(found) == len(items):
        return found
    places = np.full(len(items), -1, dtype=np.int64)
    places[owners] = np.arange(len(owners))
    return pc.fill_null(found.take(pa.array(places, mask=places < 0)), "")


class AnyTexts:
    """Shared texts in any sound XML, item by item: those in several fonts are one text, readings of it are none."""

    def __init__(self) -> None:
        self._within: list[str] = []
        self._parts: list[str] = []
        self._texts: list[str] = []

    def read(self, blocks: Iterable[bytes]) -> Iterator[Any]:
        """Yield the texts that end in each of `blocks`. Raises SourceRefused for a damaged list."""
        for _ in parse(blocks, self._begin, self._end, self._text):
            yield pa.array(self._texts, pa.string())
            self._texts = []

    def _begin(self, name: str, attributes: Attributes) -> None:
        self._within.append(name)
        if name == "si":
            self._parts = []

    def _text(self, text: str) -> None:
        if self._within[-1] == "t" and "rPh" not in self._within:
            self._parts.append(text)

    def _end(self, name: str) -> None:
        self._within.pop()
        if name == "si":
            self._texts.append("".join(self._parts))


def unescaped(texts: Any) -> Any:
    """`texts` with the letters that XML cannot hold, which stand in them as `_x000D_`: ISO 29500-1, 22.9.2.19."""
    are_escaped = pc.match_substring(texts, "_x")
    if not pc.any(are_escaped).as_py():
        return texts
    return rewritten(texts, are_escaped, lambda text: _ESCAPE.sub(_letter, text))


def _letter(found: re.Match[str]) -> str:
    letter = chr(int(found[1], 16))
    return found[0] if "\ud800" <= letter <= "\udfff" else letter


_SHEET_FORM: Final = MarkupForm(b"worksheet", re.compile(b"<" + PREFIX + b"sheetData>"), b"row", b"sheetData")


class SheetRowReader:
    """The rows of a sheet whose XML comes in `blocks`, with the cells in the `wanted` columns, or all.

    `merged`, the ranges of merged cells, are known when all rows were read.
    """

    def __init__(self, blocks: Iterator[bytes], wanted: Collection[int] | None) -> None:
        self._blocks, self._wanted = blocks, wanted
        self._last = 0
        self.merged: list[str] = []

    def __iter__(self) -> Iterator[SheetRows]:
        for rows in self._rows():
            if len(rows.numbers) and rows.numbers[0] <= self._last:
                raise damaged("its rows are not in order")
            self._last = max(self._last, rows.last)
            yield rows

    def _rows(self) -> Iterator[SheetRows]:
        units = Units(self._blocks, _SHEET_FORM)
        for piece in units:
            rows = plain_rows(units.unprefixed(piece), self._wanted, behind=self._last)
            if rows is None:
                yield from AnyRows(self._wanted, behind=self._last).read(units.alone(piece))
            else:
                yield rows
        rest = AnyRows(self._wanted, behind=self._last)
        yield from rest.read(units.rest())
        self.merged = rest.merged
