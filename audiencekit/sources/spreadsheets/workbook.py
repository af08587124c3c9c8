"""The parts of a workbook by what they are: its sheets, which styles are dates, where the texts of its cells stand."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import Final

from audiencekit.errors import SourceRefused
from audiencekit.sources.spreadsheets.container import Container, damaged
from audiencekit.sources.spreadsheets.markup import Attributes, elements

_DOCUMENT, _SHEET, _STRINGS, _STYLES, _TABLE = "officeDocument", "worksheet", "sharedStrings", "styles", "table"
_BINARY: Final = ".bin"
_HIDDEN: Final = frozenset({"hidden", "veryHidden"})
# Numbers of built-in formats that show a date or a time: ISO 29500-1, 18.8.30, with those of East Asian languages.
_DATE_FORMATS: Final = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))
_LITERALS: Final = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]', re.IGNORECASE)
_DATE_LETTERS: Final = re.compile(r"[dmyhs]|general", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet of cells. `name` is what people call it; it comes from strangers."""

    name: str
    part: str
    is_hidden: bool


@dataclass(frozen=True, slots=True)
class Workbook:
    """The parts of a workbook. `dates` are the numbers of the styles that show dates or times."""

    sheets: tuple[Sheet, ...]
    strings: str | None
    dates: frozenset[int]


@dataclass(frozen=True, slots=True)
class Relation:
    """A part that another one names by `key`; `sort` says what it is."""

    key: str
    sort: str
    part: str


def read_workbook(container: Container) -> Workbook:
    """The workbook in `container`. Raises SourceRefused for another document, and for a binary workbook."""
    main = next((one.part for one in relations(container, "") if one.sort == _DOCUMENT), None)
    if main is None:
        raise damaged("it does not say where its sheets are")
    if main.endswith(_BINARY):
        raise SourceRefused("this is a binary workbook (xlsb), which is not read", hint="save it as xlsx or CSV UTF-8")
    found = elements(container.read(main))
    if not found or found[0][0] != "workbook":
        raise SourceRefused("this is a document of Office, and no workbook", hint="export the table as CSV UTF-8")
    related = {one.key: one for one in relations(container, main)}
    sheets = [_sheet(attributes, related) for name, attributes in found if name == "sheet"]
    styles = _part_of(related, _STYLES, container)
    return Workbook(
        sheets=tuple(sheet for sheet in sheets if sheet is not None),
        strings=_part_of(related, _STRINGS, container),
        dates=frozenset() if styles is None else _dates(elements(container.read(styles))),
    )


def tables_of(container: Container, sheet: Sheet) -> list[str]:
    """The ranges of the tables that a sheet is said to hold, such as `A1:C9`."""
    parts = [one.part for one in relations(container, sheet.part) if one.sort == _TABLE and one.part in container]
    found = [elements(container.read(part)) for part in parts]
    return [attributes["ref"] for (_, attributes), *_ in found if "ref" in attributes]


def relations(container: Container, part: str) -> list[Relation]:
    """The parts that `part` names; of the whole workbook for an empty name. None when it names none."""
    folder, name = posixpath.split(part)
    listed = posixpath.join(folder, "_rels", f"{name}.rels")
    if listed not in container:
        return []
    found = [attributes for element, attributes in elements(container.read(listed)) if element == "Relationship"]
    return [
        Relation(one.get("Id", ""), one.get("Type", "").rpartition("/")[2], _absolute(folder, one.get("Target", "")))
        for one in found
        if one.get("TargetMode") != "External"
    ]


def _absolute(folder: str, target: str) -> str:
    return posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")


def _sheet(attributes: Attributes, related: dict[str, Relation]) -> Sheet | None:
    """A sheet of cells; None for a chart, a dialog and the like."""
    relation = related.get(attributes.get("id", ""))
    if relation is None:
        raise damaged("it does not say where a sheet is")
    if relation.sort != _SHEET:
        return None
    return Sheet(attributes.get("name", ""), relation.part, attributes.get("state") in _HIDDEN)


def _part_of(related: dict[str, Relation], sort: str, container: Container) -> str | None:
    return next((one.part for one in related.values() if one.sort == sort and one.part in container), None)


def _dates(found: list[tuple[str, Attributes]]) -> frozenset[int]:
    """The numbers of the cell styles whose format shows a date or a time."""
    own = {
        given["numFmtId"]
        for name, given in found
        if name == "numFmt" and "numFmtId" in given and is_date_format(given.get("formatCode", ""))
    }
    places = [place for place, (name, _) in enumerate(found) if name == "cellXfs"]
    styles: list[Attributes] = []
    for name, given in found[places[0] + 1 :] if places else ():
        if name in ("cellStyles", "dxfs", "tableStyles", "cellStyleXfs"):
            break
        if name == "xf":
            styles.append(given)
    numbers = [given.get("numFmtId", "0") for given in styles]
    return frozenset(
        style
        for style, number in enumerate(numbers)
        if number in own or (number.isdecimal() and int(number) in _DATE_FORMATS)
    )


def is_date_format(code: str) -> bool:
    """Whether a format of numbers shows a date or a time: it has letters of one outside of its literal texts."""
    letters = _DATE_LETTERS.findall(_LITERALS.sub("", code))
    return any(letter.lower() != "general" for letter in letters)
