"""Workbooks from hand-written XML, and by an independent writer."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
Build = Callable[..., Path]


def sheet_xml(rows: str, *, behind: str = "") -> str:
    return f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData>{behind}</worksheet>'


def strings_xml(items: str) -> str:
    return f'<sst xmlns="{MAIN}">{items}</sst>'


def parts(sheets: Mapping[str, str], *, strings: str = "", styles: str = "") -> dict[str, str]:
    """The parts of a workbook whose `sheets` are XML, by their names; a name with `!` at its end is hidden."""
    listed, related = "", ""
    named = dict[str, str]()
    for number, (name, text) in enumerate(sheets.items(), 1):
        state = ' state="hidden"' if name.endswith("!") else ""
        listed += f'<sheet name="{name.rstrip("!")}" sheetId="{number}"{state} r:id="rId{number}"/>'
        related += _relation(f"rId{number}", "worksheet", f"worksheets/sheet{number}.xml")
        named[f"xl/worksheets/sheet{number}.xml"] = text
    for key, sort, part, text in (
        ("rId98", "sharedStrings", "sharedStrings.xml", strings),
        ("rId99", "styles", "styles.xml", styles),
    ):
        if text:
            related += _relation(key, sort, part)
            named[f"xl/{part}"] = text
    return {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}">{_relation("rId1", "officeDocument", "xl/workbook.xml")}'
        "</Relationships>",
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}">{related}</Relationships>',
        **named,
    }


def _relation(key: str, sort: str, target: str) -> str:
    return f'<Relationship Id="{key}" Type="{RELATIONS}/{sort}" Target="{target}"/>'


def packed(named: Mapping[str, str | bytes]) -> bytes:
    """The parts as an archive."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in named.items():
            archive.writestr(name, text)
    return target.getvalue()


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Write a workbook of the given rows (XML), or of whole parts, and return its path."""

    def build(rows: str = "", *, sheets: Mapping[str, str] | None = None, **others: str) -> Path:
        whole = parts({"People": sheet_xml(rows)} if sheets is None else sheets, **others)
        path = tmp_path / "list.xlsx"
        path.write_bytes(packed(whole))
        return path

    return build
