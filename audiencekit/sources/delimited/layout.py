"""The layout of a delimited file, found in a sample: delimiter, header, width."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from audiencekit.errors import SourceRefused
from audiencekit.limits import MAX_COLUMNS
from audiencekit.sources.bytes.bytestream import ByteStream, take_sample
from audiencekit.sources.columns.header import Header, is_header, is_whole_file
from audiencekit.sources.delimited.dialect import find_delimiter, show_delimiter
from audiencekit.sources.delimited.records import field_limit
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.sampling import SAMPLE_BYTES, Sample, by_column, sample_records, sampled_part, usual_width
from audiencekit.sources.table import Description

_TOLD: Final = re.compile(r'[\r\n]*("?)sep=([\t !#-~])\1[\r\n]+', re.IGNORECASE)  # Excel's first line
_EMPTY_HINT: Final = "even a list of no one has a header line: see whether the file was cut off, or leave it out"
BROKEN: Final = re.compile("[\ud800-\udfff]")  # bytes that are not UTF-8, as they are decoded


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How the records of a file are read. A row has `width` cells, and at least `least`: those after may be missing.

    `leading` records come before the first row: the header, and the line that tells Excel the delimiter.
    """

    delimiter: str
    header: bool
    leading: int
    width: int
    least: int

    @property
    def description(self) -> Description:
        """The same for people."""
        return {"delimiter": show_delimiter(self.delimiter), "header": self.header, "columns": self.width}


@dataclass(frozen=True, slots=True)
class FoundLayout:
    """The layout of a file, and what was seen of its columns."""

    layout: Layout
    header: Header
    sample: Sample


def find_layout(stream: ByteStream, options: SourceOptions) -> FoundLayout:
    """The layout of the file. Raises SourceRefused for one that is empty, ambiguous, or lost its line ends."""
    taken = take_sample(stream.bounded_blocks(), SAMPLE_BYTES)
    text = sampled_part(taken.data).decode("utf-8", "surrogateescape")
    whole = taken.is_whole
    told = _TOLD.match(text)
    with field_limit():
        delimiter = options.delimiter or (
            told[2] if told else find_delimiter(text, whole=whole, but=options.split_cells)
        )
        records = sample_records(text[told.end() if told else 0 :], delimiter, whole=whole)
    if not records:
        raise SourceRefused("the file is empty", hint=_EMPTY_HINT)
    named = is_header(records[0], options.wanted_names) if options.header is None else options.header
    if whole and len(records) == 1 and options.header is None and is_whole_file(records[0]):
        raise SourceRefused(
            "the file is one single record: it lost its line ends", hint="export it again, or restore the line ends"
        )
    layout = _layout(delimiter, records, named=named, told=told is not None)
    return FoundLayout(layout, *_look(layout, records, options))


def _layout(delimiter: str, records: list[list[str]], *, named: bool, told: bool) -> Layout:
    width = len(records[0]) if named else usual_width(records)
    if width > MAX_COLUMNS:
        raise SourceRefused(f"the file has more than {MAX_COLUMNS:,} columns")
    least = width
    if named:
        while least > 1 and not records[0][least - 1].strip():
            least -= 1
    return Layout(delimiter=delimiter, header=named, leading=named + told, width=width, least=least)


def _look(layout: Layout, records: list[list[str]], options: SourceOptions) -> tuple[Header, Sample]:
    names = tuple(records[0]) if layout.header else None
    if names is not None and any(map(BROKEN.search, names)):
        raise SourceRefused("the header is not UTF-8", hint="say the encoding, for example `encoding='cp1252'`")
    rows = records[1:] if layout.header else records
    sample = Sample(names, by_column(rows, layout.width))
    return Header.of(names, layout.width, options.wanted_names), sample
