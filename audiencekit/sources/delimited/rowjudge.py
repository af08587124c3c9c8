"""Which rows of a delimited file are sound: not ragged, UTF-8, no cell too large."""

from __future__ import annotations

from typing import Final

from audiencekit.identifiers.kinds import Reason
from audiencekit.limits import MAX_CELL_BYTES
from audiencekit.records.batches import ColumnMapping
from audiencekit.sources.arrow.textcolumns import column_names
from audiencekit.sources.delimited.layout import BROKEN, Layout
from audiencekit.sources.unreadablerows import Faults

BYTES_PER_LETTER: Final = 4  # at most, in UTF-8


class RowJudge:
    """Says which rows are read, and notes the others as faults."""

    def __init__(self, layout: Layout, mapping: ColumnMapping, faults: Faults) -> None:
        self._layout, self.faults = layout, faults
        self._names = column_names(mapping)
        self.letters = 0  # of accepted rows, until the count starts anew

    def accepts(self, row: int, cells: list[str]) -> bool:
        """Whether a row is sound; if not, it is noted."""
        if len(cells) != self._layout.width and self._is_ragged(cells):
            self.faults.add(row, Reason.RAGGED)
            return False
        text = "".join(cells)
        self.letters += len(text)
        if not text.isascii() and BROKEN.search(text):
            self.faults.add(row, Reason.ENCODING)
            return False
        if len(text) * BYTES_PER_LETTER > MAX_CELL_BYTES and (place := self._too_large(cells)) is not None:
            self.faults.add(row, Reason.TOO_LARGE, self._names[place])
            return False
        return True

    def _is_ragged(self, cells: list[str]) -> bool:
        return len(cells) < self._layout.least or any(map(str.strip, cells[self._layout.width :]))

    def _too_large(self, cells: list[str]) -> int | None:
        for place in self._names:
            if place < len(cells) and len(cells[place].encode()) > MAX_CELL_BYTES:
                return place
        return None
