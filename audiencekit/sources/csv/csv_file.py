"""A delimited file: its layout by a sample, then its rows in batches, faulty rows one by one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audiencekit.errors import SourceRefused
from audiencekit.kernels.library import choose
from audiencekit.limits import BATCH_ROWS, MAX_LINE_BYTES
from audiencekit.personal import RawColumns
from audiencekit.process.workers import cores
from audiencekit.records.batches import ColumnMapping, TextBatch
from audiencekit.records.columns.arrays import Bools, arrow_array
from audiencekit.sources.arrow import are_blank, split_texts, text_columns, used_positions
from audiencekit.sources.bytes.byte_stream import ByteStream
from audiencekit.sources.csv.cell_kernels import CellKernels
from audiencekit.sources.csv.cells import Cells, LinesApart, WantedCells
from audiencekit.sources.csv.plain_cells import PlainCells
from audiencekit.sources.csv.records import Layout, Patterns, Records, RowJudge, cut, field_limit, find_layout
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.table import Description, Look
from audiencekit.sources.unreadable_rows import Faults

CELL_LOOPS: Final = choose(CellKernels, PlainCells)
PIECE_BYTES: Final = 3_145_728  # two thirds of it would take a tenth more time, and 25 MB less at the peak
BATCH_LETTERS: Final = 64_000_000  # a batch of rows with huge cells ends earlier
KeptRow: TypeAlias = tuple[int, list[str | None]]  # its number, and its used cells


def open_delimited(stream: ByteStream, options: SourceOptions) -> Look:
    """A delimited file, looked at. Raises SourceRefused for one that is empty, ambiguous, or lost its line ends."""
    found = find_layout(stream, options)
    table = DelimitedTable(stream, found.layout, options.split_cells)
    return Look(table, found.header, found.sample, later_notes=lambda: table.notes)


class DelimitedTable:
    """The rows of a delimited file whose layout is known.

    Rows whose cells are all blank are numbered and not counted: a spreadsheet program writes one for each row that was
    ever formatted.
    """

    def __init__(self, stream: ByteStream, layout: Layout, split_cells: str | None) -> None:
        self._stream, self._split_cells = stream, split_cells
        self.layout = layout
        self.rows_read = self._blank = 0

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
            **self.layout.description,
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """Rows of the last pass that were not counted."""
        rows = "1 row has" if self._blank == 1 else f"{self._blank:,} rows have"
        return (f"{rows} nothing but blank cells: not counted",) if self._blank else ()

    def check(self, mapping: ColumnMapping) -> None:
        """Nothing: every column of such a file is text."""

    def batches(self, mapping: ColumnMapping) -> Iterator[TextBatch]:
        """All rows, from the first. Raises SourceRefused when they cannot be read, or too many are faulty."""
        faults = Faults()
        self.rows_read = self._blank = 0
        yield from self._read_pieces(mapping, faults)
        faults.refuse_too_many(self.rows_read)

    def _read_pieces(self, mapping: ColumnMapping, faults: Faults) -> Iterator[TextBatch]:
        layout, leading = self.layout, self.layout.leading
        wanted = WantedCells(layout.delimiter, layout.width, used_positions(mapping), layout.least)
        judge = RowJudge(layout, mapping, faults)
        pieces = Pieces(
            self._stream.bounded_blocks(), wanted, piece_bytes=PIECE_BYTES, bytes_left=lambda: self._stream.bytes_left
        )
        pieces.reads_cells = not leading
        for piece in pieces:
            if piece.cells is not None and (apart := self._read_apart(piece)) is not None:
                yield from self._quick_batches(piece, apart, judge, mapping)
                continue
            # A record that is not whole by the counter's rules may be whole to `csv`: read to the end of the file.
            blocks = pieces.rest() if piece.records < 0 else iter(())
            before = self.rows_read
            data = itertools.chain([piece.data], blocks)
            try:
                rows = iter(Records(data, layout.delimiter, leading=leading, before=before))
                yield from self._careful_rows(rows, leading, judge, mapping)
                leading = max(leading - piece.records, 0)
                pieces.reads_cells = not leading
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

    def _read_apart(self, piece: Piece) -> list[list[str]] | None:
        """Return the faulty records as `csv` reads them; None if it fails, or finds another number."""
        if piece.apart is None:
            return []
        try:
            with field_limit():
                rows = list(Records(iter([piece.apart.data]), self.layout.delimiter, leading=0))
        except SourceRefused:
            return None
        return rows if len(rows) == len(piece.apart.numbers) else None

    def _quick_batches(
        self, piece: Piece, apart: list[list[str]], judge: RowJudge, mapping: ColumnMapping
    ) -> Iterator[TextBatch]:
        before, records = self.rows_read, piece.records
        columns = self._quick_columns(piece, apart, judge, mapping)
        numbers, faults = columns.column(0).to_numpy(), judge.faults.take()
        faulty = faults.column(0).to_numpy()
        size = -(-records // -(-records // BATCH_ROWS))  # batches alike: a small one would cost as much as a large one
        for start in range(before, before + records, size):
            self.rows_read = min(start + size, before + records)
            kept = _between(columns, numbers, start, self.rows_read)
            yield TextBatch(RawColumns(kept), _between(faults, faulty, start, self.rows_read))

    def _quick_columns(
        self, piece: Piece, apart: list[list[str]], judge: RowJudge, mapping: ColumnMapping
    ) -> pa.RecordBatch:
        """The sound rows of a piece; the faults of the others are noted."""
        cells, numbers = piece.cells or {}, np.arange(self.rows_read + 1, self.rows_read + piece.records + 1)
        if piece.apart is None:
            read = text_columns(arrow_array(numbers), self._split(cells, mapping), mapping)
            return self._without_blank_rows(piece, read, numbers)
        rows = zip(numbers[piece.apart.numbers].tolist(), apart, strict=True)
        places = used_positions(mapping)
        kept = [
            (row, _used(record, places)) for row, record in rows if self._counts(record) and judge.accepts(row, record)
        ]
        numbers = np.delete(numbers, piece.apart.numbers)
        read = text_columns(arrow_array(numbers), self._split(cells, mapping), mapping)
        read = self._without_blank_rows(piece, read, numbers)
        return _in_order(read, self._build(kept, mapping)) if kept else read

    def _without_blank_rows(self, piece: Piece, read: pa.RecordBatch, numbers: npt.NDArray[np.int64]) -> pa.RecordBatch:
        """The rows of a piece, whose `numbers` these are, that have a cell that is not blank."""
        if piece.blank is None:
            return read
        places = np.flatnonzero(piece.blank)
        cells = self._cells_of(piece, (numbers[places] - self.rows_read - 1).tolist())
        counts = np.ones(len(numbers), dtype=bool)
        counts[places] = [self._counts(record) for record in cells]
        return read.filter(arrow_array(counts))

    def _cells_of(self, piece: Piece, wanted: list[int]) -> list[list[str]]:
        """The cells of some records of a piece, by their places in it."""
        lines = [line for line in piece.data.splitlines() if line]
        is_line_each = len(lines) == piece.records  # there are more lines where a record has several
        data = b"\n".join([lines[place] for place in wanted]) if is_line_each else piece.data
        with field_limit():
            records = list(Records(iter([data]), self.layout.delimiter, leading=0))
        return records if is_line_each else [records[place] for place in wanted]

    def _counts(self, record: list[str]) -> bool:
        """Whether a row has a cell that is not blank; the others are noted."""
        is_blank = len(record) > 1 and not any(cell.strip(_BLANKS) for cell in record)
        self._blank += is_blank
        return not is_blank

    def careful_batches(self, mapping: ColumnMapping) -> Iterator[TextBatch]:
        """The same as `batches`, all of it read by `csv`: the definition of correct."""
        records = Records(self._stream.bounded_blocks(), self.layout.delimiter, leading=self.layout.leading)
        faults = Faults()
        self.rows_read = self._blank = 0
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
            before = self.rows_read
            with field_limit():
                kept = self._read(rows, judge, places)
            if self.rows_read == before:
                break
            yield TextBatch(RawColumns(self._build(kept, mapping)), judge.faults.take())

    def _read(self, rows: Iterator[list[str]], judge: RowJudge, places: list[int]) -> list[KeptRow]:
        """The next sound rows, the cells at `places` of each: the others are not held any longer."""
        kept: list[KeptRow] = []
        judge.letters = 0
        for cells in itertools.islice(rows, BATCH_ROWS):
            self.rows_read += 1
            if self._counts(cells) and judge.accepts(self.rows_read, cells):
                kept.append((self.rows_read, _used(cells, places)))
            if judge.letters > BATCH_LETTERS:
                break
        return kept

    def _build(self, kept: list[KeptRow], mapping: ColumnMapping) -> pa.RecordBatch:
        numbers = pa.array([row for row, _ in kept], pa.int64())
        arrays = {
            place: pa.array([row[at] for _, row in kept], pa.string())
            for at, place in enumerate(used_positions(mapping))
        }
        return text_columns(numbers, self._split(arrays, mapping), mapping)

    def _split(self, arrays: dict[int, pa.Array], mapping: ColumnMapping) -> dict[int, pa.Array]:
        """The same texts, those of identifiers split into lists where that is declared."""
        if self._split_cells is None:
            return arrays
        identifiers = {column.position for column in mapping.columns}
        return {
            place: split_texts(cells, self._split_cells) if place in identifiers else cells
            for place, cells in arrays.items()
        }


_BLANKS: Final = " \t"


def _used(cells: list[str], places: list[int]) -> list[str | None]:
    return [cells[place] if place < len(cells) else None for place in places]


def _between(batch: pa.RecordBatch, rows: npt.NDArray[np.int64], before: int, last: int) -> pa.RecordBatch:
    """The part of `batch`, which has these ascending rows, after row `before` up to row `last`."""
    start, stop = np.searchsorted(rows, [before, last], side="right").tolist()
    return batch.slice(start, stop - start)


def _in_order(*batches: pa.RecordBatch) -> pa.RecordBatch:
    """The rows of all of them, ascending."""
    together = pa.concat_batches(batches)
    return together.take(arrow_array(np.argsort(together.column(0).to_numpy(), kind="stable")))


HEAD_BYTES: Final = 16_384  # the first piece: the header is read with care, and meanwhile there is nothing else to do
_SMALLEST: Final = 6  # of a piece: a smaller part costs more than those who wait lose


@dataclass(frozen=True, slots=True, repr=False)
class Piece:
    """Complete records, with the number that is not blank: their cells by position where they were read, else their
    bytes.

    `records` is -1 for what is left at the end and is not whole by the counter's rules. Where some of the records are
    `apart`, the cells are those of the others. The bytes are there for these, and for rows that may be `blank`.
    """

    records: int
    cells: dict[int, Any] | None = None
    data: bytes = b""
    apart: LinesApart | None = None
    blank: Bools | None = None


class Pieces:
    """UTF-8 blocks in pieces of about `piece_bytes` that end where records end; the first one is small.

    The last ones are small, too, where `bytes_left` says how much is to come: as soon as each of `readers`, one a core
    by default, would have less than a piece to do. Else all but one would wait in the end for the thread with the last.

    Cells are read of those that come while `reads_cells`; `rest()` is everything after the piece that came last.
    """

    def __init__(
        self,
        blocks: Iterator[bytes],
        wanted: WantedCells,
        *,
        piece_bytes: int,
        readers: int | None = None,
        bytes_left: Callable[[], int | None] = lambda: None,
    ) -> None:
        self._blocks, self._piece_bytes = _head_apart(blocks), piece_bytes
        self._readers, self._bytes_left = readers or cores(), bytes_left
        self._reader = CELL_LOOPS.reader(wanted)
        self._patterns = Patterns(wanted.delimiter)
        self._carry = b""
        self.reads_cells = False

    def __iter__(self) -> Iterator[Piece]:
        waiting: list[bytes] = []
        waiting_bytes, wanted = 0, HEAD_BYTES
        for block in itertools.chain(self._blocks, [b""]):
            waiting.append(block)
            waiting_bytes += len(block)
            # A piece that ended between the two letters of a line end would have to be read with care, and the next.
            if block and waiting_bytes < (2 * wanted if block.endswith(b"\r") else wanted):
                continue
            data = b"".join(waiting)
            waiting.clear()
            if piece := self._take(data):
                del data  # not held while others work with the piece
                yield piece
            if len(self._carry) > MAX_LINE_BYTES or (self._carry and not block):
                last, self._carry = self._carry, b""
                yield Piece(-1, data=last)
                return
            waiting.append(self._carry)
            waiting_bytes = len(self._carry)
            wanted = max(self._next_bytes(), 2 * len(self._carry))

    def rest(self) -> Iterator[bytes]:
        """The blocks after the last piece, for a reader that goes on without this class."""
        return itertools.chain([self._carry] if self._carry else [], self._blocks)

    def _next_bytes(self) -> int:
        """How long the next piece is to be."""
        left = self._bytes_left()
        if left is None:
            return self._piece_bytes
        return min(self._piece_bytes, max(left // self._readers, self._piece_bytes // _SMALLEST))

    def _take(self, data: bytes) -> Piece | None:
        """Return the complete records at the beginning of `data`, None if there are none; the rest is kept for the
        next block."""
        if self.reads_cells:
            found = self._reader.read(data)
        else:
            records, carry, _ = cut(data, self._patterns)
            found = Cells(records, len(data) - len(carry), None)
        self._carry = data[found.whole_bytes :]
        if not found.whole_bytes:
            return None
        blank = None if found.columns is None else _blank_rows(found.columns)
        is_needed = found.columns is None or found.apart is not None or blank is not None
        return Piece(
            found.records, found.columns, data[: found.whole_bytes] if is_needed else b"", found.apart, blank=blank
        )


def _blank_rows(columns: Mapping[int, pa.Array]) -> Bools | None:
    """The rows with a blank cell in each of these columns; None where there is none."""
    blank: Bools | None = None
    for cells in columns.values():
        blank = are_blank(cells) if blank is None else blank & are_blank(cells)
        if not blank.any():
            return None
    return blank


def _head_apart(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The same bytes, HEAD_BYTES of them first."""
    for first in blocks:
        yield from filter(None, (first[:HEAD_BYTES], first[HEAD_BYTES:]))
        break
    yield from blocks
