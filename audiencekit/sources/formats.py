"""The register of formats: how each is recognised and opened, and which options of a user it heeds."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from audiencekit.errors import SourceRefused, UsageError
from audiencekit.sources.bytes.byte_stream import (
    MARKS,
    PARQUET_MAGIC,
    ByteStream,
    SourceFormat,
    TextSample,
    find_format,
    take_sample,
)
from audiencekit.sources.bytes.compression import compression_of
from audiencekit.sources.bytes.files import ByteReader, RawFile
from audiencekit.sources.csv.csv_file import open_delimited
from audiencekit.sources.json_lines import is_json_lines, open_json_lines
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.table import Look
from audiencekit.sources.vcards import is_vcards, open_vcards
from audiencekit.text import option

SNIFFED_BYTES: Final = 65_536
DELIMITER, HEADER, HEADER_ROW, ENCODING, SHEET = "delimiter", "header", "header_row", "encoding", "sheet"
# The formats that heed each, in words.
_FOR: Final = {
    DELIMITER: "delimited text",
    HEADER: "delimited text, tables of web pages and spreadsheets",
    HEADER_ROW: "delimited text, tables of web pages and spreadsheets",
    ENCODING: "text",
    SHEET: "spreadsheets",
}


@dataclass(frozen=True, slots=True)
class Format:
    """A format of files, with its `name` in descriptions, and `shown`, its name for people.

    `recognised` decides by the name of the file and the beginning of its text, for formats that are text. `heeds` are
    the options about bytes and cells that mean something for it.
    """

    name: str
    shown: str
    heeds: frozenset[str]
    open: Callable[[ByteStream, SourceOptions], Look]
    recognised: Callable[[str, TextSample], bool] | None = None


def _open_parquet(stream: ByteStream, options: SourceOptions) -> Look:
    # Arrow's Parquet reader is heavy, and most sources are text.
    from audiencekit.sources.parquet import open_parquet

    return open_parquet(stream.file, options)


def _open_spreadsheet(stream: ByteStream, options: SourceOptions) -> Look:
    # The parser of XML and Arrow's functions are heavy, and most sources are text.
    from audiencekit.sources.excel.sheet import open_sheet

    return open_sheet(stream.file, options)


def _open_html(stream: ByteStream, options: SourceOptions) -> Look:
    # The parser of web pages takes milliseconds, and most sources are none.
    from audiencekit.sources.html_table import open_html

    return open_html(stream, options)


# A web page, by the tag that it begins with.
_WEB_PAGE: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body|meta|table)\b", re.I | re.S
)


def _is_html(name: str, sample: TextSample) -> bool:
    return _WEB_PAGE.match(sample.data) is not None


# The first that recognises a text has it.
TEXTS: Final = (
    Format("html", "tables of web pages", frozenset({HEADER, HEADER_ROW, ENCODING}), _open_html, _is_html),
    Format("vcard", "vCards", frozenset({ENCODING}), open_vcards, is_vcards),
    Format("ndjson", "NDJSON", frozenset({ENCODING}), open_json_lines, is_json_lines),
    Format(
        "delimited",
        "delimited text",
        frozenset({DELIMITER, HEADER, HEADER_ROW, ENCODING}),
        open_delimited,
        lambda name, text: True,
    ),
)
PARQUET: Final = Format("parquet", "Parquet", frozenset(), _open_parquet)
SPREADSHEET: Final = Format(
    "spreadsheet", "spreadsheets (xlsx, xlsm)", frozenset({HEADER, HEADER_ROW, SHEET}), _open_spreadsheet
)
FORMATS: Final = (*TEXTS, PARQUET, SPREADSHEET)
# Formats that are recognised by their first bytes.
_BINARY: Final = {SourceFormat.PARQUET: PARQUET, SourceFormat.WORKBOOK: SPREADSHEET}


def open_bytes(name: str, stream: ByteStream, options: SourceOptions) -> Look:
    """The file called `name`, looked at by the format that its bytes show. Raises SourceRefused."""
    return _format_of(name, stream, options).open(stream, options)


# Names of files whose bytes show what they are, in words.
_SHOWN_BY_BYTES: Final = {".xlsx": "a workbook", ".xlsm": "a workbook", ".parquet": "a Parquet file"}


def refuse_misnamed(name: str, file: RawFile) -> None:
    """Raise SourceRefused for what is named as a workbook or a Parquet file, and is neither that nor lines of text.

    Lines of text under such a name are read: some programs name their CSV so.
    """
    claimed = _SHOWN_BY_BYTES.get(PurePath(name).suffix.lower())
    if claimed is None:
        return
    with closing(file.open()) as handle:
        first_bytes = ByteReader(handle).read(SNIFFED_BYTES)
    is_known = first_bytes.startswith((*PARQUET_MAGIC, *(mark for mark, _ in MARKS)))
    if is_known or not first_bytes or compression_of(first_bytes) is not None or _WEB_PAGE.match(first_bytes):
        return
    find_format(first_bytes)  # names formats that are not read
    if b"\0" in first_bytes or b"\n" not in first_bytes.strip():
        raise SourceRefused(
            f"it is named as {claimed}, and its bytes are not those of one",
            hint="was the download cut off, or an error saved in its place? Export it again; name a CSV file .csv",
        )


def _format_of(name: str, stream: ByteStream, options: SourceOptions) -> Format:
    if (binary := _BINARY.get(stream.format)) is not None:
        return binary
    beginning = take_sample(stream.blocks(), SNIFFED_BYTES)
    texts = TEXTS if options.delimiter is None else (*TEXTS[:2], TEXTS[-1])  # a delimiter says that it is no NDJSON
    return next(one for one in texts if one.recognised is not None and one.recognised(name, beginning))


def refuse_unheeded(formats: list[str], options: SourceOptions) -> None:
    """Raise UsageError for an option that no format of a source uses: no option is ignored in silence."""
    heeded = {name for one in FORMATS if one.name in formats for name in one.heeds}
    given = {
        DELIMITER: options.delimiter,
        HEADER: options.header,
        HEADER_ROW: options.header_row,
        ENCODING: options.encoding,
        SHEET: options.sheet,
    }
    for name, value in given.items():
        if value is not None and name not in heeded:
            unheeded = option(name, value) if name == HEADER else option(name)
            found = " and ".join(sorted(set(formats)))
            raise UsageError(f"{unheeded} is for {_FOR[name]}, and the source is {found}", hint=f"leave {unheeded} out")
