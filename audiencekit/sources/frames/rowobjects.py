"""Other objects of Python that hold rows, as a frame or an open file: series, dicts, batches, cursors, open files.

Batches, cursors and open files are not read here, but when the frame is opened, and once.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from itertools import chain
from typing import Any, Final, Protocol, TypeAlias, TypeGuard

import pyarrow as pa

from audiencekit.errors import SourceRefused, UsageError
from audiencekit.sources.arrow.types import written_out
from audiencekit.sources.frames.frames import ArrowArray, ArrowStream, Frame, FrameSource, OpenFile, attempt, is_frame

# Of a column alone; `column1` is what the first column of a file without a header is called, too.
UNNAMED: Final = "column1"
_ARROW_READERS: Final = ("fetch_record_batch", "to_arrow_reader")  # of ADBC and DuckDB; of DuckDB from 2.0 on
_SEVERAL: Final = (list, tuple, set, frozenset)  # values of one cell
_WHOLE_FLOATS: Final = 2**53
_PART_ROWS: Final = 100
_FETCHED_BYTES: Final = 64_000_000
_FETCHED_ROWS: Final = 10_000  # objects of Python: ten times as large as what Arrow makes of them


class BinaryFile(Protocol):
    """A file that is open for reading bytes, wherever they come from."""

    def read(self, size: int = -1, /) -> bytes:
        """Up to `size` bytes, none at the end."""


class ArrowCursor(Protocol):
    """A cursor that gives its result as Arrow, as that of ADBC does."""

    def fetch_record_batch(self) -> Any:
        """A reader of all rows."""


class RowCursor(Protocol):
    """A cursor of DB-API 2.0 (PEP 249) after `execute`."""

    @property
    def description(self) -> Any:
        """A sequence for each column, its name first; None where there is no result."""

    def fetchmany(self, size: int = ..., /) -> Any:
        """The next rows, none at the end."""


Rows: TypeAlias = FrameSource | Frame | BinaryFile | ArrowCursor | RowCursor | Iterator[FrameSource]


def wrapped(source: object) -> Frame | None:
    """`source` as a frame or an open file; None when it is nothing that holds rows. Raises UsageError for text.

    Dicts become a table here, of which SourceRefused is raised where a cell has no text.
    """
    if isinstance(source, Frame):
        return source
    if _is_series(source):
        return Frame(_table_of_series(source))
    if isinstance(source, pa.Array | pa.ChunkedArray) and not pa.types.is_struct(source.type):
        return Frame(pa.table({UNNAMED: source}))
    if _are_dicts(source):
        return Frame(attempt(partial(_table_of_dicts, source), hint="give text, numbers, or lists of these"))
    if is_frame(source):
        return Frame(source)
    if any(callable(getattr(source, name, None)) for name in _ARROW_READERS):
        return Frame(_Stream(_fetched, source))
    if callable(getattr(source, "fetchmany", None)) and hasattr(source, "description"):
        return Frame(_Stream(rows_of, source))
    if callable(getattr(source, "read", None)):
        return _open_file(source)
    if isinstance(source, Iterator):
        return Frame(_Stream(_joined, source))
    return None


class _Stream:
    """A frame that is made when it is opened: a reader of Arrow, by `open_reader`."""

    def __init__(self, open_reader: Callable[[Any], Any], source: object) -> None:
        self._open_reader, self._source = open_reader, source

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._open_reader(self._source).__arrow_c_stream__(requested_schema)


def _is_series(source: object) -> bool:
    """Whether it is one column of pandas or Polars."""
    is_of_frames = type(source).__module__.partition(".")[0] in ("pandas", "polars")
    return is_of_frames and hasattr(source, "to_frame") and not hasattr(source, "columns")


def _table_of_series(series: Any) -> Any:
    name = getattr(series, "name", None)
    return series.to_frame(UNNAMED if name is None or name == "" else str(name))


def _are_dicts(source: object) -> TypeGuard[Sequence[Mapping[str, Any]]]:
    return isinstance(source, Sequence) and bool(source) and all(isinstance(row, Mapping) for row in source)


def _table_of_dicts(rows: Sequence[Mapping[str, Any]]) -> Any:
    """All columns that any row has, as text; a row without one has an empty cell there."""
    names = dict.fromkeys(name for row in rows for name in row)
    return pa.table([_column([row.get(name) for row in rows]) for name in names], names=[str(name) for name in names])


def _column(cells: list[Any]) -> Any:
    """Cells as text, as lists of texts where any of them is a list, or as objects, which are not read."""
    if any(isinstance(part, Mapping) for cell in cells for part in (cell if isinstance(cell, list) else [cell])):
        with contextlib.suppress(pa.ArrowException, TypeError, ValueError):
            return pa.array(cells)
    if not any(isinstance(cell, _SEVERAL) for cell in cells):
        return pa.array(map(_text, cells), pa.string())
    lists = (cell if isinstance(cell, _SEVERAL) else [cell] for cell in cells)
    return pa.array(([_text(value) for value in each] for each in lists), pa.list_(pa.string()))


def _open_file(source: Any) -> OpenFile:
    if isinstance(source, io.TextIOBase) or getattr(source, "encoding", None) is not None:
        raise UsageError("the file is open as text", hint="open it as bytes, open(path, 'rb'), or give its path")
    return OpenFile(source)


def _fetched(cursor: object) -> Any:
    """A reader of the result of a cursor that speaks Arrow."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # DuckDB says that a relation spares a copy; so does the documentation
        return next(getattr(cursor, name)() for name in _ARROW_READERS if hasattr(cursor, name))


def _joined(batches: Iterator[Any]) -> Any:
    """A reader of batches, tables or frames of one schema."""
    first = next(batches, None)
    if first is None:
        raise SourceRefused("it has no batch", hint="was it read before? An iterator can be read once")
    pieces = chain.from_iterable(map(_batches_of, chain([first], batches)))
    start = next(pieces)
    return pa.RecordBatchReader.from_batches(start.schema, chain([start], pieces))


def _batches_of(piece: Any) -> Iterable[Any]:
    """At least one batch: an empty table has a schema, too."""
    if isinstance(piece, ArrowStream):
        reader = pa.RecordBatchReader.from_stream(piece)
        return chain([pa.RecordBatch.from_pylist([], schema=reader.schema)], reader)
    if isinstance(piece, ArrowArray):
        return [pa.record_batch(piece)]
    raise SourceRefused(
        "it yields something that is no batch of Arrow", hint="give batches, tables or data frames, or dicts in a list"
    )


def rows_of(cursor: RowCursor) -> Any:
    """A reader of the rows of a cursor, all columns as text: drivers give objects of any type, row by row."""
    if not cursor.description:
        raise SourceRefused("the cursor has no result", hint="execute a SELECT first")
    names = [str(column[0]) for column in cursor.description]
    schema = pa.schema([(name, pa.string()) for name in names])
    return pa.RecordBatchReader.from_batches(schema, (_batch(rows, schema) for rows in _fetched_rows(cursor)))


def _fetched_rows(cursor: RowCursor) -> Iterator[list[Any]]:
    """The rows in lists, of fewer rows where cells are large."""
    rows: list[Any] = []
    size_bytes = 0
    while part := list(cursor.fetchmany(_PART_ROWS)):
        rows += part
        size_bytes += sum(len(cell) for row in part for cell in row if isinstance(cell, str | bytes))
        if len(rows) >= _FETCHED_ROWS or size_bytes >= _FETCHED_BYTES:
            yield rows
            rows, size_bytes = [], 0
    if rows:
        yield rows


def _batch(rows: list[Any], schema: Any) -> Any:
    columns = [_texts(column, place) for place, column in enumerate(zip(*rows, strict=True), 1)]
    return pa.record_batch(columns, schema=schema)


def _texts(cells: tuple[Any, ...], place: int) -> Any:
    with contextlib.suppress(UnicodeDecodeError):
        return pa.array(map(_text, cells), pa.string())
    hint = "leave the column out of the query, or turn it into text there"
    raise SourceRefused(f"column{place} of the result holds bytes that are not UTF-8", hint=hint)


def _text(cell: Any) -> str | None:
    """A cell of a driver as text. A float that may have lost digits is written as one, and qualifies for nothing."""
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        if cell != cell:  # NaN is a missing cell
            return None
        return str(int(cell)) if cell.is_integer() and abs(cell) < _WHOLE_FLOATS else str(cell)
    if isinstance(cell, Decimal):
        return written_out(cell)
    if isinstance(cell, bytes | bytearray | memoryview):
        return bytes(cell).decode()
    return str(cell)
