"""A sheet as a table: its header and first rows to map by, then all rows below the header in batches."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audiencekit.errors import SourceRefused
from audiencekit.identifiers.kinds import Reason
from audiencekit.limits import BATCH_ROWS
from audiencekit.personal import RawColumns
from audiencekit.records.batches import ColumnMapping, TextBatch
from audiencekit.records.columns.arrays import arrow_array
from audiencekit.sources.arrow.batchmerging import gathered
from audiencekit.sources.arrow.textcolumns import column_names, split_texts, text_columns, used_positions
from audiencekit.sources.bytes.rawbytes import RawFile
from audiencekit.sources.spreadsheets.cellvalues import CellReader, ReadCells, Use
from audiencekit.sources.spreadsheets.container import Container
from audiencekit.sources.spreadsheets.sheetcells import CellColumn, SheetRows, column_of
from audiencekit.sources.spreadsheets.sheetrows import SheetRowReader
from audiencekit.sources.table import Description
from audiencekit.sources.unreadablerows import Faults, FaultWords

Numbers: TypeAlias = npt.NDArray[np.int64]

SPREADSHEET: Final = "spreadsheet"
WORDS: Final = {
    Reason.RAGGED: FaultWords(
        "hold a date, true or false, or a formula that was never computed, where an identifier belongs",
        "check the mapping with `columns=`; a spreadsheet program computes formulas when it opens and saves the file",
    ),
    Reason.EXCEL_MANGLED: FaultWords(
        "hold a number that is not whole, or so large that the spreadsheet has rounded it",
        "format the column as text, and enter the numbers again",
    ),
    Reason.TOO_LARGE: FaultWords(
        "hold a cell that is too large for an identifier", "check the mapping with `columns=`"
    ),
}
_MERGED: Final = re.compile(r"([A-Z]{1,3})([0-9]{1,7}):([A-Z]{1,3})([0-9]{1,7})")


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetLayout:
    """The place of a list in its sheet: row n of the list is row `first_row` + n - 1 of the sheet.

    `name` is that of the sheet, as it may be shown.
    """

    part: str
    name: str
    header: bool
    width: int
    first_row: int


class SheetTable:
    """The rows of a sheet below its header. Those that are blank count up to the last that is not."""

    def __init__(self, file: RawFile, layout: SheetLayout, cells: CellReader, split_cells: str | None) -> None:
        self._file, self.layout, self._cells, self._split_cells = file, layout, cells, split_cells
        self.rows_read = self.bytes_read = 0
        self._blank, self._first_blank, self._hidden = 0, 0, 0

    def __repr__(self) -> str:
        return f"<SheetTable of {self.layout.width} columns>"

    @property
    def description(self) -> Description:
        """The format of the file, for people."""
        return {
            "format": SPREADSHEET,
            "sheet": self.layout.name,
            "header": self.layout.header,
            "columns": self.layout.width,
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """Rows of the last pass that people do not expect."""
        found = []
        if self._blank:
            rows = "row is" if self._blank == 1 else "rows are"
            found.append(
                f"{self._blank:,} {rows} blank between others, the first is row {self._first_blank:,} of the sheet: if"
                " another table begins below, it was read as a part of this list"
            )
        if self._hidden:
            found.append(f"rows that are hidden in the sheet are read like the others: {self._hidden:,}")
        return tuple(found)

    def check(self, mapping: ColumnMapping) -> None:
        """Nothing: each cell has a type of its own."""

    def batches(self, mapping: ColumnMapping) -> Iterator[TextBatch]:
        """All rows, from the first. Raises SourceRefused when they cannot be read, or too many are faulty."""
        faults = Faults(WORDS)
        self.rows_read = self.bytes_read = self._blank = self._hidden = 0
        yield from gathered(self._batches(mapping, faults))
        faults.refuse_too_many(self.rows_read)

    def _batches(self, mapping: ColumnMapping, faults: Faults) -> Iterator[TextBatch]:
        wanted = used_positions(mapping)
        with Container(self._file) as container:
            reader = SheetRowReader(container.blocks(self.layout.part), frozenset(wanted))
            for rows in reader:
                self._hidden += rows.hidden
                self.bytes_read = container.position
                below = _below(rows, self.layout.first_row)
                yield from self._in_batches(below, mapping, faults)
            self._refuse_merged(reader.merged, mapping)
            container.check_unchanged()
        self.bytes_read = self._file.size_bytes

    def _in_batches(self, rows: SheetRows, mapping: ColumnMapping, faults: Faults) -> Iterator[TextBatch]:
        """`rows` and those that are blank before them, a batch at a time."""
        numbers = rows.numbers - self.layout.first_row + 1
        self._count_blank(numbers)
        cells = [self._read(rows.columns.get(place), place, mapping) for place in used_positions(mapping)]
        faulty = _faulty_rows(numbers, cells)
        last = int(numbers[-1]) if len(numbers) else 0
        while self.rows_read < last:
            batch = np.arange(self.rows_read + 1, min(self.rows_read + BATCH_ROWS, last) + 1, dtype=np.int64)
            self.rows_read = int(batch[-1])
            arrays = {one.place: self._divided(one.laid_out(numbers, batch), one.use) for one in cells}
            columns = text_columns(arrow_array(batch), arrays, mapping)
            sound = ~np.isin(batch, list(faulty))
            for row in batch[~sound].tolist():
                faults.add(row, *faulty[row])
            yield TextBatch(RawColumns(columns if sound.all() else columns.filter(arrow_array(sound))), faults.take())

    def _count_blank(self, numbers: Numbers) -> None:
        gaps = np.diff(numbers, prepend=self.rows_read) - 1
        if gaps.any() and not self._blank:
            at = int(np.flatnonzero(gaps)[0])
            self._first_blank = self.layout.first_row - 1 + int(numbers[at] - gaps[at])
        self._blank += int(gaps.sum())

    def _read(self, column: CellColumn | None, place: int, mapping: ColumnMapping) -> _PlacedCells:
        words = {position for position, _ in mapping.single.values()}
        use = Use.WORD if place in words else Use.IDENTIFIER
        nothing = np.empty(0, dtype=np.int64)
        if column is None:
            return _PlacedCells(place, "", use, nothing, ReadCells(pa.array([], pa.string()), ()))
        return _PlacedCells(place, column_names(mapping)[place], use, column.at, self._cells.read(column, use))

    def _divided(self, cells: Any, use: Use) -> Any:
        if self._split_cells is None or use is not Use.IDENTIFIER:
            return cells
        return split_texts(cells, self._split_cells)

    def _refuse_merged(self, merged: Sequence[str], mapping: ColumnMapping) -> None:
        """Raises SourceRefused where one cell of a mapped column covers several rows: which of them has its value?"""
        names = column_names(mapping)
        for found in filter(None, map(_MERGED.fullmatch, merged)):
            first, last = int(found[2]), int(found[4])
            for place in range(column_of(found[1]), column_of(found[3]) + 1):
                if place in names and first < last and last >= self.layout.first_row:
                    raise SourceRefused(
                        f"a cell of column {names[place]} is merged over rows {first:,} to {last:,} of the sheet: which"
                        " of them has the value?",
                        column=names[place],
                        hint="unmerge the cells, and fill each row",
                    )


@dataclass(frozen=True, slots=True, repr=False)
class _PlacedCells:
    """The cells of a column that hold a value, and which of the rows they stand in."""

    place: int
    name: str
    use: Use
    at: Numbers
    cells: ReadCells

    def laid_out(self, numbers: Numbers, batch: Numbers) -> Any:
        """The texts of the rows `batch`, null where there is none; the cells stand in the rows `numbers`."""
        rows = numbers[self.at]
        begin, end = np.searchsorted(rows, [batch[0], batch[-1] + 1])
        if end - begin == len(batch):
            return self.cells.texts.slice(begin, end - begin)
        places = np.zeros(len(batch), dtype=np.int64)
        missing = np.ones(len(batch), dtype=bool)
        places[rows[begin:end] - batch[0]] = np.arange(begin, end)
        missing[rows[begin:end] - batch[0]] = False
        return self.cells.texts.take(pa.array(places, mask=missing))


def _faulty_rows(numbers: Numbers, cells: Sequence[_PlacedCells]) -> dict[int, tuple[Reason, str]]:
    """The rows with a fault, each with the first reason and its column."""
    found: dict[int, tuple[Reason, str]] = {}
    for one in cells:
        for place, reason in one.cells.faults:
            found.setdefault(int(numbers[one.at[place]]), (reason, one.name))
    return found


def _below(rows: SheetRows, first_row: int) -> SheetRows:
    """Those of `rows` that stand below the header."""
    skipped = int(np.searchsorted(rows.numbers, first_row))
    if not skipped:
        return rows
    columns = {place: column.behind(skipped) for place, column in rows.columns.items()}
    return replace(rows, numbers=rows.numbers[skipped:], columns=columns)
