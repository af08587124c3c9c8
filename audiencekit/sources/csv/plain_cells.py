"""The cells of delimited text where there are no kernels: whole pieces are read by Arrow, where that is certainly what
the careful reader would answer."""

from __future__ import annotations

import codecs
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.limits import MAX_CELL_BYTES
from audiencekit.sources.csv.cells import Cells, WantedCells
from audiencekit.sources.csv.records import Patterns, cut


class PlainCells:
    """The same function as that of `CellKernels`, with the same results or none."""

    def reader(self, wanted: WantedCells) -> ArrowReader:
        return ArrowReader(wanted)


class ArrowReader:
    """Reads the wanted cells of whole records."""

    def __init__(self, wanted: WantedCells) -> None:
        self._wanted = wanted
        self._names = [f"c{place}" for place in range(wanted.width)]
        self._kept = [self._names[place] for place in wanted.positions]
        self._patterns = Patterns(wanted.delimiter)

    def read(self, data: bytes) -> Cells:
        """Return the complete records at the beginning of `data`, and their cells where Arrow is certain of all."""
        records, carry, is_plain = cut(data, self._patterns)
        whole = data[: len(data) - len(carry)]
        return Cells(records, len(whole), self._columns(whole, records) if is_plain else None)

    def _columns(self, piece: bytes, records: int) -> dict[int, Any] | None:
        """The cells by position as Arrow reads them, or None when anything calls for a careful look.

        `piece` is plain, as the counter says, and `records` is what it found: Arrow must find as many.
        """
        if records < 1 or not self._wanted.positions or not _is_plain(piece, records):
            return None
        if piece.startswith(codecs.BOM_UTF8):  # which Arrow takes for that of a file
            return None
        table = self._parse(piece, b'"' in piece)
        if table is None or table.num_rows != records:
            return None
        columns = [_one_chunk(column) for column in table.columns]
        if any(pc.max(pc.binary_length(column)).as_py() > MAX_CELL_BYTES for column in columns):
            return None
        return dict(zip(self._wanted.positions, columns, strict=True))

    def _parse(self, piece: bytes, has_quotes: bool) -> Any | None:
        import pyarrow.csv as pacsv  # 0.4 MB; the kernels need none of it

        read = pacsv.ReadOptions(use_threads=False, column_names=self._names, block_size=len(piece) + 1)
        parse = pacsv.ParseOptions(
            delimiter=self._wanted.delimiter, quote_char='"' if has_quotes else False, ignore_empty_lines=True
        )
        convert = pacsv.ConvertOptions(
            include_columns=self._kept, column_types=dict.fromkeys(self._kept, pa.string()), strings_can_be_null=False
        )
        try:
            return pacsv.read_csv(
                pa.BufferReader(piece), read_options=read, parse_options=parse, convert_options=convert
            )
        except pa.ArrowInvalid:
            # Ragged rows: the careful reader says which. The exception quotes cells and is dropped here.
            return None


def _is_plain(piece: bytes, records: int) -> bool:
    """Whether `piece` is UTF-8 without NUL, its line ends alike and each the end of a record, no line of cell size."""
    if b"\0" in piece or not _is_text(piece):
        return False
    if b"\r" in piece and piece.count(b"\r") != piece.count(b"\r\n"):
        return False
    ends = np.flatnonzero(np.frombuffer(piece, dtype=np.uint8) == ord("\n"))
    return (
        len(ends) == records and len(piece) == ends[-1] + 1 and int(np.diff(ends, prepend=-1).max()) <= MAX_CELL_BYTES
    )


def _is_text(piece: bytes) -> bool:
    """Whether `piece` is UTF-8. Arrow looks without holding the interpreter, and makes no text of it."""
    if piece.isascii():
        return True
    ends = np.array([0, len(piece)], dtype=np.int64)
    try:
        text = pa.LargeStringArray.from_buffers(1, pa.py_buffer(ends), pa.py_buffer(piece))
        text.validate(full=True)
    except pa.ArrowInvalid:
        return False  # the exception is dropped: it could quote
    return True


def _one_chunk(column: Any) -> Any:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
