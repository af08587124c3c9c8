"""A workbook of one sheet, as ECMA-376 has it, with its cells as texts in place."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from pathlib import Path
from xml.sax.saxutils import escape

_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_FORMAT = "http://schemas.openxmlformats.org"
_OFFICE = f"{_FORMAT}/officeDocument/2006/relationships"
_MAIN = f"{_FORMAT}/spreadsheetml/2006/main"
_WORKBOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"
_WITH_MACROS = "application/vnd.ms-excel.sheet.macroEnabled.main+xml"
_SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"


def write_workbook(
    path: Path, header: tuple[str, ...], rows: Iterable[tuple[str, ...]], *, with_macros: bool = False
) -> None:
    """One sheet with these rows."""
    kind = _WITH_MACROS if with_macros else _WORKBOOK
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_FORMAT}/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_SHEET}"/></Types>',
        "_rels/.rels": _relation("officeDocument", "xl/workbook.xml"),
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}">'
        '<sheets><sheet name="People" sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": _relation("worksheet", "worksheets/sheet1.xml"),
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, _XML + text)
        with archive.open("xl/worksheets/sheet1.xml", "w") as sheet:
            sheet.write(f'{_XML}<worksheet xmlns="{_MAIN}"><sheetData>'.encode())
            for number, cells in enumerate((header, *rows), 1):
                sheet.write(_row(number, cells))
            sheet.write(b"</sheetData></worksheet>")


def _relation(kind: str, target: str) -> str:
    return (
        f'<Relationships xmlns="{_FORMAT}/package/2006/relationships">'
        f'<Relationship Id="rId1" Type="{_OFFICE}/{kind}" Target="{target}"/></Relationships>'
    )


def _row(number: int, cells: tuple[str, ...]) -> bytes:
    inner = "".join(
        f'<c r="{chr(ord("A") + place)}{number}" t="inlineStr"><is><t>{escape(cell)}</t></is></c>'
        for place, cell in enumerate(cells)
    )
    return f'<row r="{number}">{inner}</row>'.encode()
