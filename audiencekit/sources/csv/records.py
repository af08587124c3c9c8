"""The records of delimited text: `csv` reads them, an independent counter counts them, and the two must agree."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from audiencekit.errors import SourceRefused
from audiencekit.identifiers.kinds import Reason
from audiencekit.limits import MAX_CELL_BYTES, MAX_COLUMNS, MAX_LINE_BYTES
from audiencekit.records.batches import ColumnMapping
from audiencekit.sources.arrow import column_names
from audiencekit.sources.bytes.byte_stream import ByteStream, SourceFormat, take_sample
from audiencekit.sources.bytes.files import RegularFile
from audiencekit.sources.columns.header import Header, is_whole_file
from audiencekit.sources.columns.header_row import LOOKED_AT_ROWS, HeaderRow, find_header_row, header_names
from audiencekit.sources.csv.dialect import find_delimiter, show_delimiter
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.sampling import SAMPLE_BYTES, Sample, by_column, sample_records, sampled_part, usual_width
from audiencekit.sources.table import Description
from audiencekit.sources.unreadable_rows import Faults

FIELD_LIMIT: Final = 131_072  # letters of a cell; the default of `csv`, where it belongs to the whole process
_REPAIR: Final = "look at the quotes of this row, and say `delimiter=` if the columns were divided wrongly"


class CountedText(io.RawIOBase):
    """UTF-8 blocks for a text reader; the counter sees every one of them first."""

    def __init__(self, blocks: Iterator[bytes], counter: RecordCounter) -> None:
        self._blocks, self._counter, self._rest = blocks, counter, b""

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fills `buffer`; 0 at the end."""
        if not self._rest:
            self._rest = next(self._blocks, b"")
            self._counter.feed(self._rest)
        taken, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(taken)] = taken
        return len(taken)

    def drain(self) -> None:
        """Shows the rest to the counter."""
        for block in self._blocks:
            self._counter.feed(block)


class Records:
    """The non-blank records of UTF-8 blocks, as lists of cells. A broken byte is a lone surrogate.

    The first `leading` ones are no rows; `before` rows of the file came before them and are counted along in what is
    said. `read` is how many were read. Iterating raises SourceRefused where `csv` and
    the rules of quotes part, for a cell or a record without end, and at the end when the counter counted another
    number.
    """

    def __init__(self, blocks: Iterator[bytes], delimiter: str, *, leading: int, before: int = 0) -> None:
        self.read = 0
        self._delimiter, self._leading, self._before = delimiter, leading, before
        self._counter = RecordCounter(delimiter)
        self._bytes = CountedText(blocks, self._counter)
        self._letters = 0  # of the record that is being read

    def __iter__(self) -> Iterator[list[str]]:
        # newline="" leaves every line end as it is, and ends lines at \r, \n and \r\n alike.
        buffered = io.BufferedReader(self._bytes, 65_536)
        with io.TextIOWrapper(buffered, "utf-8", "surrogateescape", newline="") as text:
            reader = csv.reader(self._lines(text), delimiter=self._delimiter, strict=True)
            while (cells := self._next(reader)) is not None:
                if self._letters > FIELD_LIMIT and max(map(len, cells)) > FIELD_LIMIT:
                    self._refuse("larger")
                self._letters = 0
                if cells:
                    self.read += 1
                    yield cells
            self._agree()

    def _lines(self, text: io.TextIOWrapper) -> Iterator[str]:
        for line in text:
            self._letters += len(line)
            if self._letters > MAX_LINE_BYTES:
                self._refuse("larger")
            yield line

    def _next(self, reader: Iterator[list[str]]) -> list[str] | None:
        failure = ""
        try:
            return next(reader, None)
        except csv.Error as error:
            failure = str(error)  # looked at for its kind only, since it quotes
        self._refuse(failure)
        return None

    def _refuse(self, failure: str) -> None:
        place = self._place(self.read + 1)
        self._bytes.drain()
        self._counter.finish()
        if self._counter.open_quote or self._counter.overlong or "end of data" in failure:
            message, hint = f"a quote is opened in {place} or later and never closed", _REPAIR
        elif "larger" in failure:
            message, hint = f"{place} has a cell of more than {FIELD_LIMIT:,} letters, or no end", _REPAIR
        else:
            message, hint = f"{place} has letters after a closing quote", _REPAIR
        raise SourceRefused(
            message,
            row=self._before + max(self.read + 1 - self._leading, 1),
            rows_read=self._rows(self._counter.records),
            hint=hint,
        )

    def _place(self, record: int) -> str:
        return "the header" if record <= self._leading else f"row {self._before + record - self._leading}"

    def _agree(self) -> None:
        self._counter.finish()
        if self._counter.overlong or self._counter.open_quote or self._counter.records != self.read:
            raise SourceRefused(
                f"the reader found {self._rows(self.read)} rows and the counter {self._rows(self._counter.records)}: "
                "the quotes of this file have more than one reading",
                rows_read=self._rows(self.read),
                hint=_REPAIR,
            )

    def _rows(self, records: int) -> int:
        return self._before + max(records - self._leading, 0)


@contextlib.contextmanager
def field_limit() -> Iterator[None]:
    """Raise the field size limit of `csv` to at least FIELD_LIMIT in this block, and restore it afterwards."""
    before = csv.field_size_limit()
    csv.field_size_limit(max(before, FIELD_LIMIT))
    try:
        yield
    finally:
        csv.field_size_limit(before)


SCAN_BYTES: Final = 65_536


class RecordCounter:
    """Counts the non-blank records of UTF-8 blocks. Feed every block, then `finish()`.

    `records` are the ones seen to their end. `open_quote` is True after `finish()` when the last record is inside
    quotes. `overlong` is True when a record passed MAX_LINE_BYTES; nothing is counted after that.
    """

    def __init__(self, delimiter: str, *, scan_bytes: int = SCAN_BYTES) -> None:
        self.records = 0
        self.open_quote = self.overlong = False
        self._patterns = Patterns(delimiter)
        self._carry = b""  # the beginning of a record whose end has not come
        self._waiting: list[bytes] = []
        self._waiting_bytes, self._scan_bytes = 0, scan_bytes

    def feed(self, block: bytes) -> None:
        """Count the records that end in `block`, now or when enough bytes are there for a scan."""
        if self.overlong:
            return
        self._waiting.append(block)
        self._waiting_bytes += len(block)
        # Carried bytes are scanned again: so as many must have come, or a file of tiny blocks would take for ever.
        if self._waiting_bytes >= max(self._scan_bytes, len(self._carry)):
            self._scan()

    def finish(self) -> None:
        """Counts the last record when no line end follows it."""
        self._scan()
        last = self._carry.strip(b"\r\n") if not self.overlong else b""
        self._carry = b""
        self.open_quote = bool(last) and self._patterns.unfinished_record.fullmatch(last) is None
        self.records += bool(last) and not self.open_quote

    def _scan(self) -> None:
        data = b"".join((self._carry, *self._waiting))
        self._waiting, self._waiting_bytes = [], 0
        records, self._carry, _ = cut(data, self._patterns)
        self.records += records
        self.overlong = len(self._carry) > MAX_LINE_BYTES


def cut(data: bytes, patterns: Patterns) -> tuple[int, bytes, bool]:
    """How many whole non-blank records `data` begins with, what follows them, and whether they are plain."""
    end = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
    if b'"' not in data or patterns.plain_records.fullmatch(data, 0, end):
        return count_lines(memoryview(data)[:end]), data[end:], True
    # Each find is group 1: empty for a whole record, and at the end what is left, if anything is.
    found = patterns.one_record.findall(data)
    carry: bytes = found[-1] if found else b""
    # The line feed of a carriage return that ended the last record belongs to that record.
    return len(found) - bool(carry), carry.lstrip(b"\r\n"), False


def count_lines(data: bytes | memoryview) -> int:
    """Non-blank lines of `data`, each with its end. No line end in `data` is inside quotes."""
    letters = np.frombuffer(data, dtype=np.uint8)
    ends = (letters == ord("\n")) | (letters == ord("\r"))
    return int(np.count_nonzero(ends[1:] > ends[:-1]))


class Patterns:
    """One whole record, or group 1: all that is left and not whole; a last record without its line end; and records
    that are plain: no line end inside quotes, no letter after a closing one."""

    def __init__(self, delimiter: str) -> None:
        mark = re.escape(delimiter.encode())
        # A closing quote is one that no other quote follows: so a failed match cannot read a doubled quote as an end.
        quoted = rb'"[^"]*+(?:""[^"]*+)*"(?!")'
        field = rb'(?:%b|(?!"))[^%b\r\n]*+' % (quoted, mark)
        record = rb"(?=[^\r\n])(?:%b%b)*%b" % (field, mark, field)
        self.one_record = re.compile(rb"[\r\n]*+%b[\r\n]|([\s\S]+)\Z" % record)
        self.unfinished_record = re.compile(record)
        plain = rb'(?:"[^"\r\n]*+(?:""[^"\r\n]*+)*+"|(?!")[^%b\r\n]*+)' % mark
        self.plain_records = re.compile(rb"(?:%b(?:%b%b)*+[\r\n]++)*+" % (plain, mark, plain))


BYTES_PER_LETTER: Final = 4  # at most, in UTF-8


class RowJudge:
    """Says which rows are read, and notes the others as faults."""

    def __init__(self, layout: Layout, mapping: ColumnMapping, faults: Faults) -> None:
        self._layout, self.faults = layout, faults
        self._names = column_names(mapping)
        self.letters = 0  # of accepted rows, until the count starts anew

    def accepts(self, row: int, cells: list[str]) -> bool:
        """Whether a row is sound; if not, it is noted."""
        if len(cells) != self._layout.width and self._is_ragged(cells):
            self.faults.add(row, Reason.RAGGED)
            return False
        text = "".join(cells)
        self.letters += len(text)
        if not text.isascii() and BROKEN.search(text):
            self.faults.add(row, Reason.ENCODING)
            return False
        if len(text) * BYTES_PER_LETTER > MAX_CELL_BYTES and (place := self._too_large(cells)) is not None:
            self.faults.add(row, Reason.TOO_LARGE, self._names[place])
            return False
        return True

    def _is_ragged(self, cells: list[str]) -> bool:
        return len(cells) < self._layout.least or any(map(str.strip, cells[self._layout.width :]))

    def _too_large(self, cells: list[str]) -> int | None:
        for place in self._names:
            if place < len(cells) and len(cells[place].encode()) > MAX_CELL_BYTES:
                return place
        return None


_TOLD: Final = re.compile(r'[\r\n]*("?)sep=([\t !#-~])\1[\r\n]+', re.IGNORECASE)  # Excel's first line
NOT_UTF_8: Final = "the header is not UTF-8"
_EMPTY_HINT: Final = "was the export cut off? An empty list still needs its header line; or leave it out"
BROKEN: Final = re.compile("[\ud800-\udfff]")  # bytes that are not UTF-8, as they are decoded


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How the records of a file are read. A row has `width` cells, and at least `least`: those after may be missing.

    `leading` records come before the first row: the header, what is above it, and the line that tells Excel the
    delimiter. `header_row` is the line of the header, from 1; None without a header.
    """

    delimiter: str
    header_row: int | None
    leading: int
    width: int
    least: int

    @property
    def description(self) -> Description:
        """The same for people."""
        return {
            "delimiter": show_delimiter(self.delimiter),
            "header": self.header_row is not None,
            "header_row": self.header_row,
            "columns": self.width,
        }


@dataclass(frozen=True, slots=True)
class FoundLayout:
    """The layout of a file, and facts about its columns."""

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
        begin = told.end() if told else 0
        records = sample_records(text[begin:], delimiter, whole=whole)
        lines = _lines_of(text, begin, delimiter, max(LOOKED_AT_ROWS + 1, options.header_row or 0))
    if not records:
        raise SourceRefused("the file is empty", hint=_EMPTY_HINT)
    if whole and len(records) == 1 and options.header is None and is_whole_file(records[0]):
        raise SourceRefused(
            "the file is one single record: it lost its line ends", hint="export it again, or restore the line ends"
        )
    found = find_header_row(records, lines, options, is_sheet=False)
    layout = _layout(delimiter, records, found, lines, told=told is not None)
    return FoundLayout(layout, *_look(layout, records, found, options))


def first_rows(path: str, encoding: str | None = None) -> Sample:
    """The first rows of a file, personal data; without a header its names are `column1`, `column2` …

    Raises SourceRefused for what is no delimited text in a regular file, or whose header is not in the encoding.
    """
    if not os.path.isfile(path):
        raise SourceRefused("there is no such file")
    options = SourceOptions(encoding=encoding)
    stream = ByteStream(RegularFile(path), options.encoding)
    if stream.format is not SourceFormat.TEXT:
        raise SourceRefused("this is no text")
    found = find_layout(stream, options)
    names = found.header.names or tuple(f"column{place}" for place in range(1, found.header.width + 1))
    return Sample(names, found.sample.columns)


def _lines_of(text: str, begin: int, delimiter: str, most: int) -> list[int]:
    """The lines in which the first non-blank records of `text` begin, counted from 1."""
    before = len(text[:begin].splitlines())
    reader = csv.reader(io.StringIO(text[begin:], newline=""), delimiter=delimiter)
    lines, at = [], before + 1
    with contextlib.suppress(csv.Error):
        for cells in reader:
            if cells:
                lines.append(at)
            at = before + reader.line_num + 1
            if len(lines) == most:
                break
    return lines


def _layout(delimiter: str, records: list[list[str]], found: HeaderRow, lines: Sequence[int], *, told: bool) -> Layout:
    header = None if found.place is None else records[found.place]
    width = usual_width(records) if header is None else len(header)
    if width > MAX_COLUMNS:
        raise SourceRefused(f"the file has more than {MAX_COLUMNS:,} columns")
    least = width
    if header is not None:
        while least > 1 and not header[least - 1].strip():
            least -= 1
    return Layout(
        delimiter=delimiter,
        header_row=None if found.place is None else lines[found.place],
        leading=found.first_row + told,
        width=width,
        least=least,
    )


_JSON: Final = re.compile(r"\s*(?:\{\s*\"|\[\s*[\[{])")  # which no one calls a column


def _look(layout: Layout, records: list[list[str]], found: HeaderRow, options: SourceOptions) -> tuple[Header, Sample]:
    if options.delimiter is None and _JSON.match(records[0][0]):
        raise SourceRefused("this is JSON that cannot be read", hint="write one whole, flat object a line (NDJSON)")
    names = None if found.place is None else header_names(records, found.place, puts_in=options.puts_in)
    if names is not None and any(map(BROKEN.search, names)):
        raise SourceRefused(NOT_UTF_8, hint="say the encoding, for example `encoding='cp1252'`")
    sample = Sample(names, by_column(records[found.first_row :], layout.width))
    return Header.of(names, layout.width, options.wanted_names), sample
