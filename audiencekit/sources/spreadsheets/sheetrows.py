"""The rows of one sheet in a stream: in bulk where they are plain, by a parser where they are not."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from audiencekit.sources.spreadsheets.anyrows import AnyRows
from audiencekit.sources.spreadsheets.container import damaged
from audiencekit.sources.spreadsheets.plainrows import plain_rows
from audiencekit.sources.spreadsheets.sheetcells import SheetRows
from audiencekit.sources.spreadsheets.xmlblocks import PREFIX, MarkupForm, Units

_FORM: Final = MarkupForm(b"worksheet", re.compile(b"<" + PREFIX + b"sheetData>"), b"row", b"sheetData")


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
        units = Units(self._blocks, _FORM)
        for piece in units:
            rows = plain_rows(units.unprefixed(piece), self._wanted, behind=self._last)
            if rows is None:
                yield from AnyRows(self._wanted, behind=self._last).read(units.alone(piece))
            else:
                yield rows
        rest = AnyRows(self._wanted, behind=self._last)
        yield from rest.read(units.rest())
        self.merged = rest.merged
