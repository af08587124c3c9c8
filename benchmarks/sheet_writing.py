"""Sheets of invented people, of any length, written as quickly as a program can: XML straight into the archive.

    python -m benchmarks.sheet_writing --rows 1048576 --form shared people.xlsx

Forms: `shared` as Excel writes them (texts in a list of their own), `inline` as exporting libraries do, and `numbers`,
shared, whose phone numbers are stored as numbers.
"""

from __future__ import annotations

import argparse
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from benchmarks.benchmark import count

FORMS: Final = ("shared", "inline", "numbers")
FULL_SHEET: Final = 1_048_576  # rows, the header among them
_MAIN: Final = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE: Final = "http://schemas.openxmlformats.org/package/2006/"
_TYPE: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_ROWS_AT_ONCE: Final = 16_384


def write_sheet(path: Path, rows: int, form: str) -> None:
    """A workbook of one sheet with so many rows: a header, and people with an email and a phone number each."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, text in _small_parts(shares=form != "inline").items():
            archive.writestr(name, text)
        _write(archive, "xl/worksheets/sheet1.xml", f'<worksheet xmlns="{_MAIN}"><sheetData>', _rows(rows, form))
        if form != "inline":
            _write(archive, "xl/sharedStrings.xml", f'<sst xmlns="{_MAIN}">', _texts(rows, form))


def _write(archive: zipfile.ZipFile, name: str, begin: str, pieces: Iterator[str]) -> None:
    with archive.open(name, "w") as part:
        part.write(f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n{begin}'.encode())
        for piece in pieces:
            part.write(piece.encode())


def _email(row: int) -> str:
    return f"person.{row * 7_919 % 9_999_991}@mail{row % 97}.example.com"


def _phone(row: int) -> str:
    return f"44770090{row % 10_000:04d}"


def _rows(rows: int, form: str) -> Iterator[str]:
    for begin in range(1, rows + 1, _ROWS_AT_ONCE):
        numbers = range(begin, min(begin + _ROWS_AT_ONCE, rows + 1))
        yield "".join(f'<row r="{n}" spans="1:2">{_cell("A", n, form)}{_cell("B", n, form)}</row>' for n in numbers)
    yield "</sheetData></worksheet>"


def _cell(column: str, row: int, form: str) -> str:
    if form == "inline":
        return f'<c r="{column}{row}" t="inlineStr"><is><t>{_text(column, row)}</t></is></c>'
    if form == "numbers" and column == "B" and row > 1:
        return f'<c r="B{row}"><v>{_phone(row)}</v></c>'
    return f'<c r="{column}{row}" t="s"><v>{2 * (row - 1) + (column == "B")}</v></c>'


def _text(column: str, row: int) -> str:
    if row == 1:
        return "email" if column == "A" else "phone"
    return _email(row) if column == "A" else f"+{_phone(row)}"


def _texts(rows: int, form: str) -> Iterator[str]:
    for begin in range(1, rows + 1, _ROWS_AT_ONCE):
        numbers = range(begin, min(begin + _ROWS_AT_ONCE, rows + 1))
        yield "".join(f"<si><t>{_text(column, n)}</t></si>" for n in numbers for column in "AB")
    yield "</sst>"


def _small_parts(*, shares: bool) -> dict[str, str]:
    relation = '<Relationship Id="{}" Type="' + _OFFICE + '/{}" Target="{}"/>'
    strings = relation.format("rId2", "sharedStrings", "sharedStrings.xml") if shares else ""
    listed = f'<Override PartName="/xl/sharedStrings.xml" ContentType="{_TYPE}.sharedStrings+xml"/>' if shares else ""
    begin = f'<Relationships xmlns="{_PACKAGE}relationships">'
    return {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_TYPE}.worksheet+xml"/>'
        f"{listed}</Types>",
        "_rels/.rels": f"{begin}{relation.format('rId1', 'officeDocument', 'xl/workbook.xml')}</Relationships>",
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>'
        '<sheet name="people" sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f"{begin}{relation.format('rId1', 'worksheet', 'worksheets/sheet1.xml')}{strings}"
        "</Relationships>",
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the sheet that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sheet_writing", description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--rows", type=count, default=FULL_SHEET, help="the header among them (default %(default)s)")
    parser.add_argument("--form", choices=FORMS, default=FORMS[0])
    given = parser.parse_args(arguments)
    write_sheet(given.path, given.rows, given.form)


if __name__ == "__main__":
    main()
