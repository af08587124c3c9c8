"""The look at a workbook: which of its sheets is the list, where its header is, and its first rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

from audiencekit.errors import SourceRefused
from audiencekit.limits import MAX_COLUMNS, SAMPLE_ROWS
from audiencekit.shown import shown
from audiencekit.sources.bytes.rawbytes import RawFile
from audiencekit.sources.columns.header import Header, is_header
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.sampling import Sample, by_column
from audiencekit.sources.spreadsheets.cellvalues import MAX_SHARED_BYTES, CellReader, Use
from audiencekit.sources.spreadsheets.container import Container
from audiencekit.sources.spreadsheets.sheetcells import SheetRows, letters_of
from audiencekit.sources.spreadsheets.sheetchoice import choose_sheet, notes_on
from audiencekit.sources.spreadsheets.sheetrows import SheetRowReader
from audiencekit.sources.spreadsheets.sheettable import SheetLayout, SheetTable
from audiencekit.sources.spreadsheets.workbook import Sheet, read_workbook, tables_of
from audiencekit.sources.table import Look

SAMPLE_CELLS: Final = 500_000
_MOST_TITLES: Final = 10  # rows of one cell above a header


@dataclass(frozen=True, slots=True, repr=False)
class _FirstRows:
    """The first rows with a value: their numbers in the sheet, and their cells from column A on."""

    numbers: list[int]
    records: list[list[str]]

    def behind(self, rows: int) -> _FirstRows:
        return _FirstRows(self.numbers[rows:], self.records[rows:])


def open_sheet(file: RawFile, options: SourceOptions) -> Look:
    """A workbook, looked at. Raises SourceRefused for one that cannot be read, and where its list is ambiguous."""
    with Container(file) as container:
        workbook = read_workbook(container)
        sheet = choose_sheet(container, workbook, options.sheet)
        cells = CellReader.of(container, workbook)
        first = _first_rows(container, sheet, cells)
        notes = [*notes_on(workbook, sheet, asked=options.sheet is not None), *_notes_on_tables(container, sheet)]
    titles = 0 if options.header is False else _titles(first.records, options)
    first = first.behind(titles)
    named = is_header(first.records[0], options.wanted_names) if options.header is None else options.header
    layout = SheetLayout(
        part=sheet.part,
        name=shown(sheet.name),
        header=named,
        width=max(map(len, first.records)),
        first_row=first.numbers[0] + named,
    )
    if titles:
        notes.append(f"what stands above row {first.numbers[0]:,} of the sheet is taken for its title")
    rows = first.behind(int(named)).records
    names = tuple(_filled_up(first.records[0], layout.width)) if named else None
    notes += _notes_on_gaps(names, rows)
    notes.append(f"row 1 is row {layout.first_row:,} of the sheet '{shown(sheet.name)}'")
    table = SheetTable(file, layout, cells, options.split_cells)
    sample = Sample(names, by_column(rows, layout.width))
    header = Header.of(names, layout.width, options.wanted_names)
    return Look(table, header, sample, notes=tuple(notes), later_notes=lambda: table.notes)


def _first_rows(container: Container, sheet: Sheet, cells: CellReader) -> _FirstRows:
    """Some first rows, fewer of wide ones. Raises SourceRefused for an empty sheet, and for too many columns."""
    numbers: list[int] = []
    records: list[list[str]] = []
    with closing(container.blocks(sheet.part)) as blocks:
        for rows in SheetRowReader(blocks, None):
            if rows.width > MAX_COLUMNS:
                raise SourceRefused(f"the sheet has more than {MAX_COLUMNS:,} columns")
            wanted = min(SAMPLE_ROWS + _MOST_TITLES, SAMPLE_CELLS // max(rows.width, 1)) - len(records)
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


def _titles(records: Sequence[list[str]], options: SourceOptions) -> int:
    """How many rows of one cell stand above a header of several: a title, the day of the export and the like."""
    widths = [sum(bool(cell.strip()) for cell in record) for record in records]
    titles = next((place for place, width in enumerate(widths) if width > 1), 0)
    are_titles = all(is_header(record, options.wanted_names) for record in records[:titles])
    return titles if titles <= _MOST_TITLES and are_titles and is_header(records[titles], options.wanted_names) else 0


def _filled_up(record: list[str], width: int) -> Iterator[str]:
    yield from record
    yield from [""] * (width - len(record))


def _notes_on_tables(container: Container, sheet: Sheet) -> list[str]:
    tables = tables_of(container, sheet)
    if len(tables) < 2:
        return []
    listed = ", ".join(map(shown, tables[:8])) + (" and more" if len(tables) > 8 else "")
    return [f"the sheet holds {len(tables)} tables ({listed}), which are read as one list"]


def _notes_on_gaps(names: tuple[str, ...] | None, rows: Sequence[list[str]]) -> list[str]:
    """A note on an empty column between others: two tables may stand side by side."""
    filled = {place for record in (names or (), *rows) for place, cell in enumerate(record) if cell.strip()}
    between = [place for place in range(min(filled, default=0), max(filled, default=0)) if place not in filled]
    if not between:
        return []
    empty = letters_of(between[0])
    return [f"column {empty} of the sheet is empty: a table right of it would be read as columns of this list"]
