"""A delimited file: its layout by a sample, then its rows in batches, faulty rows apart."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NoReturn, TypeAlias

import numpy as np
import pyarrow as pa

from audiencekit.errors import SourceRefused
from audiencekit.identifiers.reasons import Reason
from audiencekit.limits import BATCH_ROWS, MAX_CELL_BYTES, MAX_COLUMNS
from audiencekit.machine.workers import cores
from audiencekit.personal import RawColumns
from audiencekit.preparation.batches import ColumnMapping, TextBatch
from audiencekit.preparation.columnar.buffers import arrow_array
from audiencekit.sources.arrow.textcolumns import column_names, split_texts, text_columns, used_positions
from audiencekit.sources.bytes.bytestream import ByteStream, take_sample
from audiencekit.sources.columns.header import Header, is_header, is_whole_file
from audiencekit.sources.delimited.cellkernels import WantedCells
from audiencekit.sources.delimited.dialect import find_delimiter, show_delimiter
from audiencekit.sources.delimited.pieces import Pieces
from audiencekit.sources.delimited.records import Records, field_limit
from audiencekit.sources.faults import Faults
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.sampling import SAMPLE_BYTES, Sample, by_column, sample_records, sampled_part, usual_width
from audiencekit.sources.table import Description, Look

PIECE_BYTES: Final = 3_145_728  # two thirds of it would take a tenth more time, and 25 MB less at the peak
BATCH_LETTERS: Final = 64_000_000  # a batch of rows with huge cells ends earlier
BYTES_PER_LETTER: Final = 4  # at most, in UTF-8
KeptRow: TypeAlias = tuple[int, list[str | None]]  # its number, and its used cells
_TOLD: Final = re.compile(r'[\r\n]*("?)sep=([\t !#-~])\1[\r\n]+', re.IGNORECASE)  # Excel's first line
_EMPTY_HINT: Final = "even a list of no one has a header line: see whether the file was cut off, or leave it out"
_BROKEN: Final = re.compile("[\ud800-\udfff]")


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


def open_delimited(stream: ByteStream, options: SourceOptions) -> Look:
    """A delimited file, looked at. Raises SourceRefused for one that is empty, ambiguous, or lost its line ends."""
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
    header, sample = _look(layout, records, options)
    return Look(DelimitedTable(stream, layout, options.split_cells), header, sample)


class DelimitedTable:
    """The rows of a delimited file whose layout is known."""

    def __init__(self, stream: ByteStream, layout: Layout, split_cells: str | None) -> None:
        self._stream, self._split_cells = stream, split_cells
        self.layout = layout
        self.rows_read = 0

    @property
    def bytes_read(self) -> int:
        """Bytes of the file on disk, of the last pass."""
        return self._stream.bytes_read

    @property
    def description(self) -> Description:
        """The format of the file, for people."""
        return {
            "format": "delimited",
            "compression": self._stream.compression,
            "encoding": self._stream.encoding.name,
            "delimiter": show_delimiter(self.layout.delimiter),
            "header": self.layout.header,
            "columns": self.layout.width,
        }

    def check(self, mapping: ColumnMapping) -> None:
        """Nothing: every column of such a file is text."""

    def batches(self, mapping: ColumnMapping) -> Iterator[TextBatch]:
        """All rows, from the first. Raises SourceRefused when they cannot be read, or too many are faulty."""
        faults = Faults()
        self.rows_read = 0
        yield from self._read_pieces(mapping, faults)
        faults.refuse_too_many(self.rows_read)

    def _read_pieces(self, mapping: ColumnMapping, faults: Faults) -> Iterator[TextBatch]:
        layout, leading = self.layout, self.layout.leading
        wanted = WantedCells(layout.delimiter, layout.width, used_positions(mapping))
        judge = RowJudge(layout, mapping, faults)
        pieces = Pieces(
            self._stream.bounded_blocks(), wanted, piece_bytes=PIECE_BYTES,
            readers=cores(), bytes_left=lambda: self._stream.bytes_left,
        )  # fmt: skip
        pieces.reads_cells = not leading and self._split_cells is None
        for piece in pieces:
            if piece.cells is not None:
                yield from self._quick_batches(piece.cells, piece.records, mapping, faults)
                continue
            # What is not whole by the counter's rules may be to `csv`: it is read to the end of the file.
            blocks = pieces.rest() if piece.records < 0 else iter(())
            before = self.rows_read
            data = itertools.chain([piece.data], blocks)
            try:
                rows = iter(Records(data, layout.delimiter, leading=leading, before=before))
                yield from self._careful_rows(rows, leading, judge, mapping)
                leading = max(leading - piece.records, 0)
                pieces.reads_cells = not leading and self._split_cells is None
                continue
            except SourceRefused:
                if piece.records < 0:
                    raise
            self._refuse_from(itertools.chain([piece.data], pieces.rest()), leading, before)

    def _refuse_from(self, blocks: Iterator[bytes], leading: int, before: int) -> NoReturn:
        """Reads on from a piece that `csv` refuses, so that row, reason and count are those of reading in one go."""
        with field_limit():
            for _ in Records(blocks, self.layout.delimiter, leading=leading, before=before):
                pass
        raise SourceRefused("the quotes of this file have more than one reading")

    def _quick_batches(
        self, arrays: dict[int, pa.Array], records: int, mapping: ColumnMapping, faults: Faults
    ) -> Iterator[TextBatch]:
        numbers = arrow_array(np.arange(self.rows_read + 1, self.rows_read + records + 1, dtype=np.int64))
        columns = text_columns(numbers, arrays, mapping)
        size = -(-records // -(-records // BATCH_ROWS))  # batches alike: a small one would cost as much as a large one
        for start in range(0, records, size):
            batch = columns.slice(start, size)
            self.rows_read += batch.num_rows
            yield TextBatch(RawColumns(batch), faults.take())

    def careful_batches(self, mapping: ColumnMapping) -> Iterator[TextBatch]:
        """The same as `batches`, all of it read by `csv`: the definition of correct."""
        records = Records(self._stream.bounded_blocks(), self.layout.delimiter, leading=self.layout.leading)
        faults = Faults()
        self.rows_read = 0
        judge = RowJudge(self.layout, mapping, faults)
        yield from self._careful_rows(iter(records), self.layout.leading, judge, mapping)
        faults.refuse_too_many(self.rows_read)

    def _careful_rows(
        self, rows: Iterator[list[str]], leading: int, judge: RowJudge, mapping: ColumnMapping
    ) -> Iterator[TextBatch]:
        with field_limit():
            for _ in range(leading):
                next(rows, None)
        places = used_positions(mapping)
        while True:
            with field_limit():
                kept = self._read(rows, judge, places)
            if not kept and not judge.faults.waiting:
                break
            yield TextBatch(RawColumns(self._build(kept, mapping)), judge.faults.take())

    def _read(self, rows: Iterator[list[str]], judge: RowJudge, places: list[int]) -> list[KeptRow]:
        """The next sound rows, the cells at `places` of each: the others are not held any longer."""
        kept: list[KeptRow] = []
        judge.letters = 0
        for cells in itertools.islice(rows, BATCH_ROWS):
            self.rows_read += 1
            if judge.accepts(self.rows_read, cells):
                kept.append((self.rows_read, [cells[place] if place < len(cells) else None for place in places]))
            if judge.letters > BATCH_LETTERS:
                break
        return kept

    def _build(self, kept: list[KeptRow], mapping: ColumnMapping) -> pa.RecordBatch:
        split = self._split_cells
        arrays = {}
        identifiers = {column.position for column in mapping.columns}
        for at, place in enumerate(used_positions(mapping)):
            cells = [row[at] for _, row in kept]
            is_list = split is not None and place in identifiers
            arrays[place] = split_texts(cells, split) if is_list and split else pa.array(cells, pa.string())
        return text_columns(pa.array([row for row, _ in kept], pa.int64()), arrays, mapping)


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
        if not text.isascii() and _BROKEN.search(text):
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
    if names is not None and any(map(_BROKEN.search, names)):
        raise SourceRefused("the header is not UTF-8", hint="say the encoding, for example `encoding='cp1252'`")
    rows = records[1:] if layout.header else records
    sample = Sample(names, by_column(rows, layout.width))
    return Header.of(names, layout.width, options.wanted_names), sample
