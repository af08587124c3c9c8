"""The table of a web page, as shops, portals and CRMs export it and name it `.xls`: read as the CSV that it would be.

The table is the only one with more than one row; tables that it lies in, for the layout of the page, do not count.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from typing import Final

from audiencekit.errors import SourceRefused
from audiencekit.limits import MAX_LINE_BYTES
from audiencekit.sources.bytes.byte_stream import ByteStream
from audiencekit.sources.csv.csv_file import DelimitedTable
from audiencekit.sources.csv.records import find_layout
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.table import Description, Look

_CHARSET: Final = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([a-z0-9_.:-]{1,40})", re.I)
_DECLARED_WITHIN: Final = 4_096  # bytes: HTML asks for it in the first 1,024
_BLANKS: Final = re.compile(r"[ \t\r\n\f]+")
_MAX_COLSPAN: Final = 1_000  # as browsers have it (HTML, section 4.9.11)
_DELIMITER: Final = ","


def open_html(stream: ByteStream, options: SourceOptions) -> Look:
    """The table of a web page, looked at.

    Raises SourceRefused for a page without a table, with several, or with cells that are merged over rows.
    """
    encoding = options.encoding or _declared_encoding(stream)
    table = ByteStream(stream.file, encoding, convert=csv_of_table)
    found = find_layout(table, replace(options, delimiter=_DELIMITER))
    return Look(HtmlTable(table, found.layout, options.split_cells), found.header, found.sample)


class HtmlTable(DelimitedTable):
    """The rows of the table of a web page whose layout is known."""

    @property
    def description(self) -> Description:
        """The format of the file, for people."""
        told = super().description
        return {"format": "html", **{name: told[name] for name in told if name not in ("format", "delimiter")}}


def _declared_encoding(stream: ByteStream) -> str | None:
    """The encoding that the page declares; None where it has a byte order mark, or declares none that Python knows."""
    if stream.encoding.mark_bytes:
        return None
    declared = _CHARSET.search(next(stream.blocks(), b"")[:_DECLARED_WITHIN])
    if declared is None:
        return None
    try:
        return codecs.lookup(declared[1].decode("ascii")).name
    except LookupError:
        return None


def csv_of_table(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The table in `blocks`, the UTF-8 text of a web page, as UTF-8 blocks of CSV. Raises SourceRefused."""
    reader = _TableReader()
    decode = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode
    waiting_bytes = seen = 0
    for block in blocks:
        reader.feed(decode(block))
        waiting_bytes = waiting_bytes + len(block) if reader.seen == seen else 0
        seen = reader.seen
        if waiting_bytes > MAX_LINE_BYTES:
            raise SourceRefused(
                f"a tag or comment of this web page is longer than {MAX_LINE_BYTES:,} bytes", hint=_EXPORT
            )
        if rows := reader.take_rows():
            yield _to_csv(rows)
    if rows := reader.last_rows():
        yield _to_csv(rows)


_EXPORT: Final = "open it in a spreadsheet and save it as xlsx, or export CSV UTF-8"


def _to_csv(rows: list[list[str]]) -> bytes:
    written = io.StringIO()
    csv.writer(written, delimiter=_DELIMITER, lineterminator="\n").writerows(rows)
    return written.getvalue().encode("utf-8", "surrogateescape")


@dataclass(slots=True, eq=False)
class _OpenTable:
    """A table whose end has not come. `row` and `cell` are those that are being read, None between them."""

    rows: int = 0
    first_row: list[str] = field(default_factory=list)
    row: list[str] | None = None
    cell: list[str] | None = None
    span: int = 1


class _TableReader(HTMLParser):
    """Collects the rows of the one table with more than one row."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.seen = 0  # tags, texts and comments so far
        self._is_code = False  # within a script or a style
        self._open: list[_OpenTable] = []  # the innermost last
        self._single: list[_OpenTable] = []  # with one row, so far
        self._chosen: _OpenTable | None = None
        self._around: list[_OpenTable] = []  # the tables that the chosen one lies in
        self._rows: list[list[str]] = []

    def __repr__(self) -> str:
        return f"<_TableReader of {len(self._open)} open tables>"

    def take_rows(self) -> list[list[str]]:
        """The rows of the table since the last call."""
        taken, self._rows = self._rows, []
        return taken

    def last_rows(self) -> list[list[str]]:
        """The rows that are left when the page has ended. Raises SourceRefused for a page without a table."""
        if self._open:
            raise SourceRefused("the table of this web page has no end", hint="see whether the file was cut off")
        if self._chosen is None:
            if len(self._single) != 1:
                raise SourceRefused(
                    "this is a web page without a table"
                    if not self._single
                    else "no table of this web page has two rows",
                    hint="see in a browser whether it is the export, or a page that asks for a login",
                )
            return [self._single[0].first_row]
        return self.take_rows()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a table, row or cell. Those that have no end tag end where the next begins."""
        self.seen += 1
        self._is_code = tag in ("script", "style")
        if tag == "table":
            self._open.append(_OpenTable())
        elif self._open:
            table = self._open[-1]
            if tag == "tr":
                self._end_row(table)
                table.row = []
            elif tag in ("td", "th"):
                self._begin_cell(table, dict(attrs))
            elif tag == "br" and table.cell is not None:
                table.cell.append("\0")

    def handle_endtag(self, tag: str) -> None:
        """End a table, row or cell."""
        self.seen += 1
        self._is_code = False
        if not self._open:
            return
        if tag == "table":
            self._end_table()
        elif tag == "tr":
            self._end_row(self._open[-1])
        elif tag in ("td", "th"):
            self._end_cell(self._open[-1])

    def handle_data(self, data: str) -> None:
        """Add text to the cell of the innermost table."""
        self.seen += 1
        if self._open and (cell := self._open[-1].cell) is not None and not self._is_code:
            cell.append(data.replace("\0", " "))

    def handle_comment(self, data: str) -> None:
        """Skip it."""
        self.seen += 1

    def _begin_cell(self, table: _OpenTable, attributes: dict[str, str | None]) -> None:
        self._end_cell(table)
        if table.row is None:
            table.row = []
        if _span(attributes.get("rowspan")) != 1:
            row = table.rows + 1
            raise SourceRefused(
                f"a cell in row {row:,} of the table is merged with cells below it, which belong to other rows",
                hint=f"take the merge off; {_EXPORT}",
            )
        table.cell, table.span = [], _span(attributes.get("colspan"))

    def _end_cell(self, table: _OpenTable) -> None:
        if table.cell is None or table.row is None:
            return
        lines = "".join(table.cell).split("\0")
        table.row.append("\n".join(_BLANKS.sub(" ", line).strip(" ") for line in lines).strip("\n"))
        table.row.extend([""] * (table.span - 1))
        table.cell = None

    def _end_row(self, table: _OpenTable) -> None:
        self._end_cell(table)
        row, table.row = table.row, None
        if not row:
            return
        table.rows += 1
        if table is self._chosen:
            self._rows.append(row)
        elif table.rows == 1:
            table.first_row = row
            self._single.append(table)
        elif table.rows == 2 and table not in self._around:
            self._choose(table, row)

    def _choose(self, table: _OpenTable, row: list[str]) -> None:
        if self._chosen is not None:
            raise SourceRefused(
                "this web page has several tables with rows",
                hint="keep the one that is the list, or export it as CSV UTF-8",
            )
        self._chosen, self._around = table, [each for each in self._open if each is not table]
        self._rows += [table.first_row, row]

    def _end_table(self) -> None:
        self._end_row(self._open[-1])
        self._open.pop()


def _span(text: str | None) -> int:
    """The number of columns or rows of a cell; one for what is no number (HTML, section 4.9.11)."""
    digits = (text or "1").strip()
    return min(max(int(digits), 1), _MAX_COLSPAN) if digits.isascii() and digits.isdigit() and len(digits) < 6 else 1
