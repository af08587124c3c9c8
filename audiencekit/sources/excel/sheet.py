"""A sheet as a table: its header and first rows to map by, then all rows below the header in batches."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audiencekit.errors import SourceRefused, UsageError
from audiencekit.identifiers.kinds import Reason
from audiencekit.limits import BATCH_ROWS, MAX_COLUMNS, SAMPLE_ROWS
from audiencekit.personal import RawColumns
from audiencekit.records.batches import ColumnMapping, TextBatch
from audiencekit.records.columns.arrays import arrow_array
from audiencekit.sources.arrow import column_names, gathered, split_texts, text_columns, used_positions
from audiencekit.sources.bytes.files import RawFile
from audiencekit.sources.columns.header import Header
from audiencekit.sources.columns.header_row import LOOKED_AT_ROWS, find_header_row, header_names
from audiencekit.sources.excel.cell_values import MAX_SHARED_BYTES, CellReader, ReadCells, Use
from audiencekit.sources.excel.sheet_cells import CellColumn, SheetRows, column_of, letters_of
from audiencekit.sources.excel.workbook import Container, Sheet, Workbook, read_workbook, tables_of
from audiencekit.sources.excel.xml_rows import SheetRowReader
from audiencekit.sources.options import EVERY_SHEET, SourceOptions
from audiencekit.sources.sampling import Sample, by_column
from audiencekit.sources.table import Description, Look
from audiencekit.sources.unreadable_rows import Faults, FaultWords
from audiencekit.text import option, shown

Numbers: TypeAlias = npt.NDArray[np.int64]

SPREADSHEET: Final = "spreadsheet"
WORDS: Final = {
    Reason.NOT_TEXT: FaultWords(
        "hold a date, true, or a formula that was never computed, where an identifier belongs",
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
    header_row: int | None
    width: int
    first_row: int


class SheetTable:
    """The rows of a sheet below its header. Blank ones between them are numbered and not counted."""

    def __init__(self, file: RawFile, layout: SheetLayout, cells: CellReader, options: SourceOptions) -> None:
        self._file, self.layout, self._cells, self._split_cells = file, layout, cells, options.split_cells
        self._counts_cells = options.counts_cells
        self.rows_read = self.bytes_read = self._last_row = 0
        self._blank, self._first_blank, self._hidden = 0, 0, 0

    def __repr__(self) -> str:
        return f"<SheetTable of {self.layout.width} columns>"

    @property
    def description(self) -> Description:
        """The format of the file, for people."""
        return {
            "format": SPREADSHEET,
            "sheet": self.layout.name,
            "header": self.layout.header_row is not None,
            "header_row": self.layout.header_row,
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
        """Do nothing: each cell has a type."""

    def batches(self, mapping: ColumnMapping) -> Iterator[TextBatch]:
        """All rows, from the first. Raises SourceRefused when they cannot be read, or too many are faulty."""
        faults = Faults(WORDS, counts_cells=self._counts_cells)
        self.rows_read = self.bytes_read = self._last_row = self._blank = self._hidden = 0
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
        """`rows`, a batch at a time."""
        numbers = rows.numbers - self.layout.first_row + 1
        self._count_blank(numbers)
        cells = [self._read(rows.columns.get(place), place, mapping) for place in used_positions(mapping)]
        faulty = _faulty_rows(numbers, cells)
        for start in range(0, len(numbers), BATCH_ROWS):
            batch = numbers[start : start + BATCH_ROWS]
            self.rows_read += len(batch)
            arrays = {one.place: self._divided(one.laid_out(start, len(batch)), one.use) for one in cells}
            columns = text_columns(arrow_array(batch), arrays, mapping)
            sound = ~np.isin(batch, list(faulty))
            for row in batch[~sound].tolist():
                faults.add(row, *faulty[row])
            for one in cells:
                one.note_faults(numbers, batch[sound], faults)
            kept = RawColumns(columns if sound.all() else columns.filter(arrow_array(sound)))
            yield TextBatch(kept, faults.take(), faults.take_cells())

    def _count_blank(self, numbers: Numbers) -> None:
        gaps = np.diff(numbers, prepend=self._last_row) - 1
        if gaps.any() and not self._blank:
            at = int(np.flatnonzero(gaps)[0])
            self._first_blank = self.layout.first_row - 1 + int(numbers[at] - gaps[at])
        self._blank += int(gaps.sum())
        self._last_row = int(numbers[-1]) if len(numbers) else self._last_row

    def _read(self, column: CellColumn | None, place: int, mapping: ColumnMapping) -> _PlacedCells:
        use = Use.WORD if place in mapping.words else Use.IDENTIFIER
        if place == mapping.group:
            use = Use.SAMPLE  # it is only asked whether there is a cell
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

    def laid_out(self, start: int, count: int) -> Any:
        """The texts of `count` rows from that at `start` on, null where there is none."""
        begin, end = np.searchsorted(self.at, [start, start + count])
        if end - begin == count:
            return self.cells.texts.slice(begin, end - begin)
        places = np.zeros(count, dtype=np.int64)
        missing = np.ones(count, dtype=bool)
        places[self.at[begin:end] - start] = np.arange(begin, end)
        missing[self.at[begin:end] - start] = False
        return self.cells.texts.take(pa.array(places, mask=missing))

    def note_faults(self, numbers: Numbers, sound: Numbers, faults: Faults) -> None:
        """Note the unreadable cells of identifiers in the `sound` rows; the cells are in rows `numbers`."""
        for reason in dict.fromkeys(reason for _, reason in self.cells.faults if self.use is Use.IDENTIFIER):
            rows = numbers[self.at[[place for place, each in self.cells.faults if each is reason]]]
            faults.add_cells(rows[np.isin(rows, sound)], self.place, reason)


def _faulty_rows(numbers: Numbers, cells: Sequence[_PlacedCells]) -> dict[int, tuple[Reason, str]]:
    """The rows of which a word cannot be read, such as the country, each with the first reason and its column."""
    found: dict[int, tuple[Reason, str]] = {}
    for one in cells:
        for place, reason in one.cells.faults if one.use is Use.WORD else ():
            found.setdefault(int(numbers[one.at[place]]), (reason, one.name))
    return found


def _below(rows: SheetRows, first_row: int) -> SheetRows:
    """Return those of `rows` that are below the header."""
    skipped = int(np.searchsorted(rows.numbers, first_row))
    if not skipped:
        return rows
    columns = {place: column.behind(skipped) for place, column in rows.columns.items()}
    return replace(rows, numbers=rows.numbers[skipped:], columns=columns)


SAMPLE_CELLS: Final = 500_000


@dataclass(frozen=True, slots=True, repr=False)
class _FirstRows:
    """The first rows with a value: their numbers in the sheet, and their cells from column A on."""

    numbers: list[int]
    records: list[list[str]]


def open_sheet(file: RawFile, options: SourceOptions) -> Look:
    """A workbook, looked at. Raises SourceRefused for one that cannot be read, and where its list is ambiguous."""
    with Container(file) as container:
        workbook = read_workbook(container)
        wanted = options.sheets[0] if options.sheets else None
        every = filled_sheets(container, workbook) if wanted == EVERY_SHEET else []
        sheet = every[0] if every else choose_sheet(container, workbook, None if wanted == EVERY_SHEET else wanted)
        cells = CellReader.of(container, workbook)
        first = _first_rows(container, sheet, cells)
        notes = [
            *notes_on(workbook, sheet, asked=wanted not in (None, EVERY_SHEET)),
            *_notes_on_tables(container, sheet),
        ]
    found = find_header_row(first.records, first.numbers, options, is_sheet=True)
    named = found.place is not None
    layout = SheetLayout(
        part=sheet.part,
        name=shown(sheet.name),
        header_row=None if found.place is None else first.numbers[found.place],
        width=max(map(len, first.records)),
        first_row=first.numbers[found.first_row - 1] + 1 if named else first.numbers[0],
    )
    if found.place:
        notes.append(f"the rows above row {first.numbers[found.place]:,} of the sheet are taken for its title")
    rows = first.records[found.first_row :]
    names = None
    if found.place is not None:
        own = header_names(first.records, found.place, puts_in=options.puts_in)
        names = tuple(_filled_up(own, layout.width))
    notes += _notes_on_gaps(names, rows)
    notes.append(f"row 1 is row {layout.first_row:,} of the sheet '{shown(sheet.name)}'")
    table = SheetTable(file, layout, cells, options)
    sample = Sample(names, by_column(rows, layout.width))
    header = Header.of(names, layout.width, options.wanted_names)
    sheets = tuple(one.name for one in every)
    return Look(table, header, sample, notes=tuple(notes), later_notes=lambda: table.notes, sheets=sheets)


def _first_rows(container: Container, sheet: Sheet, cells: CellReader) -> _FirstRows:
    """Some first rows, fewer of wide ones. Raises SourceRefused for an empty sheet, and for too many columns."""
    numbers: list[int] = []
    records: list[list[str]] = []
    with closing(container.blocks(sheet.part)) as blocks:
        for rows in SheetRowReader(blocks, None):
            if rows.width > MAX_COLUMNS:
                raise SourceRefused(f"the sheet has more than {MAX_COLUMNS:,} columns")
            wanted = min(SAMPLE_ROWS + LOOKED_AT_ROWS, SAMPLE_CELLS // max(rows.width, 1)) - len(records)
            records += _records(rows, cells, wanted)
            numbers += rows.numbers[:wanted].tolist()
            if len(rows.numbers) >= wanted:
                break
    if not records:
        raise SourceRefused(
            f"the sheet '{shown(sheet.name)}' is empty", hint="see whether another one is meant, or leave the file out"
        )
    return _FirstRows(numbers, records)


def _records(rows: SheetRows, cells: CellReader, most: int) -> list[list[str]]:
    """The first of `rows`, each as its cells up to the last with a value."""
    found: list[list[str]] = [[] for _ in rows.numbers[:most]]
    size_bytes = 0
    for place, column in sorted(rows.columns.items()):
        few = column.before(most)
        read = cells.read(few, Use.SAMPLE).texts
        size_bytes += read.nbytes
        if size_bytes > MAX_SHARED_BYTES:
            raise SourceRefused(
                f"the first rows of the sheet hold more than {MAX_SHARED_BYTES:,} bytes", hint="look at them first"
            )
        texts: list[Any] = read.to_pylist()
        for at, text in zip(few.at.tolist(), texts, strict=True):
            found[at] += [""] * (place - len(found[at])) + [text or ""]
    return found


def _filled_up(record: Sequence[str], width: int) -> Iterator[str]:
    yield from record
    yield from [""] * (width - len(record))


def _notes_on_tables(container: Container, sheet: Sheet) -> list[str]:
    tables = tables_of(container, sheet)
    if len(tables) < 2:
        return []
    listed = ", ".join(map(shown, tables[:8])) + (" and more" if len(tables) > 8 else "")
    return [f"the sheet holds {len(tables)} tables ({listed}), which are read as one list"]


def _notes_on_gaps(names: tuple[str, ...] | None, rows: Sequence[list[str]]) -> list[str]:
    """Return a note on an empty column between others: there may be two tables side by side."""
    filled = {place for record in (names or (), *rows) for place, cell in enumerate(record) if cell.strip()}
    between = [place for place in range(min(filled, default=0), max(filled, default=0)) if place not in filled]
    if not between:
        return []
    empty = letters_of(between[0])
    return [f"column {empty} of the sheet is empty: a table right of it would be read as columns of this list"]


_SHOWN_SHEETS: Final = 8
_EMPTY_HINT: Final = "was the export cut off? An empty list still needs its header line; or leave it out"


def choose_sheet(container: Container, workbook: Workbook, name: str | None) -> Sheet:
    """The sheet called `name`, in capitals or not; without a name the only one that people see and that holds cells.

    Raises UsageError when there is no such sheet, SourceRefused where there are several, or none.
    """
    if name is not None:
        return _named(workbook, name)
    filled = filled_sheets(container, workbook)
    if len(filled) == 1:
        return filled[0]
    if filled:
        raise SourceRefused(
            f"the workbook has {len(filled)} sheets with cells: {_listed(filled)}",
            hint=f"say which is the list: {option('sheet', filled[0].name)}; of several with one header give each,"
            f" or {option('sheet', EVERY_SHEET)}",
        )
    hidden = [sheet for sheet in workbook.sheets if sheet.is_hidden]
    if hidden:
        raise SourceRefused(
            f"no visible sheet of the workbook holds a cell; hidden are {_listed(hidden)}",
            hint=f"name a hidden one if it is meant: {option('sheet', hidden[0].name)}",
        )
    raise SourceRefused("the workbook has no sheet with a cell", hint=_EMPTY_HINT)


def filled_sheets(container: Container, workbook: Workbook) -> list[Sheet]:
    """The sheets that people see and that hold cells; a single one in any case."""
    visible = [sheet for sheet in workbook.sheets if not sheet.is_hidden]
    return [sheet for sheet in visible if _is_filled(container, sheet)] if len(visible) > 1 else visible


def notes_on(workbook: Workbook, sheet: Sheet, asked: bool) -> list[str]:
    """The notes on the choice: a hidden sheet that is read, and hidden ones that are not."""
    hidden = [one for one in workbook.sheets if one.is_hidden and one is not sheet]
    notes = [f"the sheet {_quoted(sheet)} is hidden, and read because it was named"] if sheet.is_hidden else []
    if hidden and not asked:
        notes.append(f"not read, since hidden: {_listed(hidden)}")
    return notes


def _named(workbook: Workbook, name: str) -> Sheet:
    same = [sheet for sheet in workbook.sheets if sheet.name == name]
    alike = [sheet for sheet in workbook.sheets if sheet.name.strip().casefold() == name.strip().casefold()]
    if found := same or alike:
        return found[0]
    raise UsageError(
        f"{option('sheet', name)}: the workbook has no such sheet", hint=f"its sheets are {_listed(workbook.sheets)}"
    )


def _is_filled(container: Container, sheet: Sheet) -> bool:
    """Whether a cell of the sheet holds a value: most sheets are left after their first block."""
    with closing(container.blocks(sheet.part)) as blocks:
        return any(len(rows.numbers) for rows in SheetRowReader(blocks, frozenset()))


def _listed(sheets: Sequence[Sheet]) -> str:
    more = len(sheets) - _SHOWN_SHEETS
    return ", ".join(map(_quoted, sheets[:_SHOWN_SHEETS])) + (f" and {more} more" if more > 0 else "")


def _quoted(sheet: Sheet) -> str:
    return f"'{shown(sheet.name)}'"
