"""The parts of a workbook: its sheets, the styles of dates, and the part with the texts of its cells."""

from __future__ import annotations

import lzma
import posixpath
import re
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Final, Self, TypeAlias, TypeVar
from xml.parsers import expat

from audiencekit.errors import AudiencekitError, SourceRefused
from audiencekit.limits import INFLATION_GRACE_BYTES, MAX_INFLATION
from audiencekit.sources.bytes.compression import has_more_behind
from audiencekit.sources.bytes.files import ByteReader, RawFile

_DOCUMENT, _SHEET, _STRINGS, _STYLES, _TABLE = "officeDocument", "worksheet", "sharedStrings", "styles", "table"
_BINARY: Final = ".bin"
_OTHER_PROGRAMS: Final = ("word/", "ppt/")
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
    """The parts of a workbook. `dates` are the numbers of the styles that show dates or times.

    `counts_from_1904` says that its days are counted from the first of January 1904 (ISO 29500-1, 18.2.28).
    """

    sheets: tuple[Sheet, ...]
    strings: str | None
    dates: frozenset[int]
    counts_from_1904: bool = False


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
    if main.startswith(_OTHER_PROGRAMS):
        raise SourceRefused("this is a document of Word or PowerPoint", hint="export the table as CSV UTF-8")
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
        counts_from_1904=any(name == "workbookPr" and given.get("date1904") in ("1", "true") for name, given in found),
    )


def tables_of(container: Container, sheet: Sheet) -> list[str]:
    """Return the ranges of the tables that the workbook declares for a sheet, such as `A1:C9`."""
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


T = TypeVar("T")
BLOCK_BYTES: Final = 1_048_576
MAX_SMALL_PART_BYTES: Final = 33_554_432  # of a part that is held as a whole, such as the list of styles
_ENCRYPTED: Final = 0x1
_WRONG: Final = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError, NotImplementedError)


class Container:
    """The open archive of a workbook. Raises SourceRefused for one that is damaged, encrypted or a bomb."""

    def __init__(self, file: RawFile) -> None:
        self._file = file
        self._handle = file.open()
        self._reading = ByteReader(self._handle)
        try:
            self._archive = self._attempt(self._opened)
            self._entries = _entries_of(self._archive)
        except BaseException:
            self._handle.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()
        self._handle.close()

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    @property
    def position(self) -> int:
        """The next byte of the file."""
        return self._reading.position

    def size_bytes(self, name: str) -> int:
        """Bytes of the unpacked part, as the archive says. Raises SourceRefused when there is no such part."""
        return self._entry(name).file_size

    def read(self, name: str) -> bytes:
        """All of a small part."""
        if self.size_bytes(name) > MAX_SMALL_PART_BYTES:
            raise SourceRefused(
                f"a list in the workbook takes more than {MAX_SMALL_PART_BYTES:,} bytes",
                hint="save the sheet as CSV UTF-8",
            )
        return b"".join(self.blocks(name))

    def blocks(self, name: str) -> Generator[bytes]:
        """Yield the unpacked bytes of a part. Raises SourceRefused for a damaged one, at the latest after the last
        block."""
        entry = self._entry(name)
        left_bytes = entry.file_size
        with closing(self._attempt(lambda: self._archive.open(entry))) as member:
            while block := self._attempt(lambda: member.read(BLOCK_BYTES)):
                left_bytes -= len(block)
                yield block
        if left_bytes:
            raise damaged("a part of it is shorter than it says")

    def check_unchanged(self) -> None:
        """Raises SourceRefused when the file changed while it was read."""
        self._file.check_unchanged(self._handle)

    def _entry(self, name: str) -> zipfile.ZipInfo:
        entry = self._entries.get(name)
        if entry is None:
            raise damaged("a part of it is missing")
        if entry.flag_bits & _ENCRYPTED:
            raise SourceRefused("the workbook is encrypted", hint="save it without a password")
        if entry.file_size > max(INFLATION_GRACE_BYTES, MAX_INFLATION * entry.compress_size):
            raise SourceRefused(
                f"the workbook unpacks to more than {MAX_INFLATION} times its size",
                hint="its cells are nearly all alike: look at it first",
            )
        return entry

    def _opened(self) -> zipfile.ZipFile:
        archive = zipfile.ZipFile(self._reading)
        if has_more_behind(self._reading, archive):
            raise damaged("bytes follow its end")
        return archive

    def _attempt(self, work: Callable[[], T]) -> T:
        """Return the result of `work`. Errors of the libraries are replaced, because they quote names and values."""
        try:
            return work()
        except AudiencekitError:
            raise
        except _WRONG:
            pass
        raise self._reading.failure or damaged("it is truncated, or a checksum or its data is wrong")


def _entries_of(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """The members by name. Of two members with one name it is unknown which one a program would show."""
    entries = {entry.filename: entry for entry in archive.infolist()}
    if len(entries) < len(archive.infolist()):
        raise damaged("two parts of it have the same name")
    return entries


def damaged(why: str) -> SourceRefused:
    """Return the refusal of a damaged workbook."""
    return SourceRefused(f"the workbook is damaged: {why}", hint="save it again with the program that wrote it")


Attributes: TypeAlias = dict[str, str]
_SEPARATOR: Final = "}"
_MAX_DEPTH: Final = 64  # elements within each other; the format has some ten, and each open one takes memory


def parse(
    blocks: Iterable[bytes],
    begin: Callable[[str, Attributes], None],
    end: Callable[[str], None] = lambda name: None,
    text: Callable[[str], None] = lambda text: None,
) -> Iterator[None]:
    """Call the functions for the content of `blocks`, and stop after each block.

    Raises SourceRefused for what is no XML, for elements too deep within each other, and for a document type: it can
    stand for any amount of text.
    """
    depth = 0

    def on_begin(name: str, given: Attributes) -> None:
        nonlocal depth
        depth += 1
        if depth > _MAX_DEPTH:
            raise damaged(f"it has more than {_MAX_DEPTH} elements of XML within each other")
        begin(_local(name), {_local(key): given[key] for key in given})

    def on_end(name: str) -> None:
        nonlocal depth
        depth -= 1
        end(_local(name))

    parser = expat.ParserCreate(namespace_separator=_SEPARATOR)
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse_document_type
    parser.StartElementHandler = on_begin
    parser.EndElementHandler = on_end
    parser.CharacterDataHandler = text
    for block in blocks:
        _feed(parser, block, False)
        yield
    _feed(parser, b"", True)
    yield


def elements(data: bytes) -> list[tuple[str, Attributes]]:
    """The elements of a document in the order in which they begin, each with its attributes."""
    found: list[tuple[str, Attributes]] = []
    for _ in parse([data], lambda name, attributes: found.append((name, attributes))):
        pass
    return found


def _feed(parser: expat.XMLParserType, block: bytes, is_final: bool) -> None:
    try:
        parser.Parse(block, is_final)
        return
    except (expat.ExpatError, ValueError):  # it may quote
        pass
    raise damaged("its XML is not sound")


def _local(name: str) -> str:
    return name.rpartition(_SEPARATOR)[2]


def _refuse_document_type(*_: object) -> None:
    raise SourceRefused("the workbook declares a document type, as no spreadsheet program does", hint="save it again")
