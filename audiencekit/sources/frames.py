"""Data frames of the caller's: anything that speaks Arrow's C interface, and pandas. No library of frames is imported.

A frame is read by its columns: their names, their first cells, and then all cells of the columns that are mapped.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from datetime import date, time
from decimal import Decimal
from functools import partial
from itertools import chain
from typing import Any, ClassVar, Final, Protocol, TypeAlias, TypeGuard, TypeVar, runtime_checkable
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from audiencekit.errors import AudiencekitError, SourceRefused, UsageError
from audiencekit.limits import BATCH_ROWS, MAX_COLUMNS, SAMPLE_ROWS
from audiencekit.personal import Personal, RawColumns, guarded, is_failure
from audiencekit.records.batches import ColumnMapping, TextBatch
from audiencekit.sources.arrow import (
    NOT_TEXT,
    TypedColumns,
    column_names,
    gathered,
    sample_texts,
    sampled_objects,
    used_positions,
    whole_columns,
    written_out,
)
from audiencekit.sources.columns.header import Header
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.sampling import Sample
from audiencekit.sources.table import Description, Look
from audiencekit.sources.unreadable_rows import TYPED_WORDS, Faults

T = TypeVar("T")

# Libraries whose frames hold their rows; of others it is unknown whether they can be read again, or are computed anew.
_IN_MEMORY: Final = frozenset({"pandas", "polars", "pyarrow"})

_READ_IT: Final = "read it once without audiencekit: what made it says what is wrong"
_OPEN_IT: Final = f"give a frame of named columns, no single one of them (a series); if it is one, {_READ_IT}"

Arrays: TypeAlias = dict[int, Any]  # Arrow arrays of one length, by the position of their columns


@runtime_checkable
class ArrowStream(Protocol):
    """A frame that hands out its batches: Arrow tables and readers, Polars, pandas, DuckDB relations."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The stream, as Arrow's PyCapsule interface has it."""


@runtime_checkable
class ArrowArray(Protocol):
    """A frame of one batch: an Arrow record batch."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> Any:
        """Schema and array, as Arrow's PyCapsule interface has them."""


class BatchReader:
    """The schema of rows, and their batches of Arrow one by one."""

    def __init__(self, schema: Any, batches: Iterator[Any]) -> None:
        self.schema, self._batches = schema, batches

    def __next__(self) -> Any:
        return next(self._batches)

    def close(self) -> None:
        """Let go of what the batches come from."""
        if isinstance(self._batches, Generator):
            self._batches.close()


@runtime_checkable
class Opened(Protocol):
    """Rows that are fetched when the frame is opened, by a reader that says itself why it failed."""

    def open_reader(self) -> BatchReader:
        """Return a reader of the rows."""


FrameSource: TypeAlias = ArrowStream | ArrowArray


class Frame(Personal[Any]):
    """A data frame of the caller, with its cells unchanged.

    `mark` stands for it where a run keeps the paths of its sources: no absolute path is written so.
    """

    mark: ClassVar[str] = "data frame"


class OpenFile(Frame):
    """A file that the caller has opened. Like a frame it is gone with its process; it is read from where it stands."""

    mark: ClassVar[str] = "open file"


class FrameColumns(Protocol):
    """The columns of a frame, whatever made it."""

    names: tuple[str, ...]

    def head(self) -> list[Any]:
        """The first SAMPLE_ROWS cells or more of every column (Arrow arrays or lists of these), by position."""

    def types(self, places: Sequence[int]) -> tuple[Any, ...]:
        """The types of all columns; null of those not in `places` where it would take reading them to know.

        None where the cells of one of `places` have no common type.
        """

    def batches(self, places: Sequence[int]) -> Iterator[tuple[int, Arrays]]:
        """All rows, in batches of up to BATCH_ROWS: how many, and the columns at `places`."""


def is_frame(source: object) -> bool:
    """Whether `source` is a data frame, by its methods."""
    return isinstance(source, ArrowStream | ArrowArray) or _is_pandas(source)


def is_in_memory(frame: Frame) -> bool:
    """Whether `frame` holds its rows, so that it can be read again."""
    return _library_of(frame.unwrap()) in _IN_MEMORY and hasattr(frame.unwrap(), "__len__")


def open_columns(frame: Frame) -> FrameColumns:
    """Return the columns of `frame`. Raises SourceRefused for an object without columns."""
    if _is_pandas(frame.unwrap()):
        return PandasColumns(frame)
    return StreamColumns(frame)


def notes_on_index(frame: Frame) -> tuple[str, ...]:
    """A note on an index of pandas that has a name: it may have been a column."""
    if not _is_pandas(frame.unwrap()) or not any(name is not None for name in frame.unwrap().index.names):
        return ()
    return ("the index of the frame has a name, and is not read: frame.reset_index() makes it a column",)


class StreamColumns:
    """The columns of a stream of batches. What the look takes of it is kept, and begins the pass that follows."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._types: tuple[Any, ...] = ()
        self.names: tuple[str, ...] = ()
        self._begun: Iterator[Any] | None = self._open()

    def head(self) -> list[Any]:
        """The first cells of every column."""
        taken: list[Any] = []
        rest = self._begun or iter(())
        while sum(batch.num_rows for batch in taken) < SAMPLE_ROWS:
            batch = next(rest, None)
            if batch is None:
                break
            taken.append(batch)
        self._begun = itertools.chain(taken, rest)
        first = pa.Table.from_batches(taken).slice(0, SAMPLE_ROWS) if taken else None
        found = [
            pa.chunked_array([], kind) if first is None else first.column(place) for place, kind in self._numbered()
        ]
        for column in found:
            refuse_unsound(column)
        return found

    def types(self, places: Sequence[int]) -> tuple[Any, ...]:
        """The types of all columns."""
        return self._types

    def batches(self, places: Sequence[int]) -> Iterator[tuple[int, Arrays]]:
        """All rows. Raises SourceRefused when they are gone."""
        begun, self._begun = self._begun, None
        for batch in self._open() if begun is None else begun:
            for place in places:
                refuse_unsound(batch.column(place))
            for start in range(0, batch.num_rows, BATCH_ROWS):
                piece = batch.slice(start, BATCH_ROWS)
                yield piece.num_rows, {place: piece.column(place) for place in places}

    def _numbered(self) -> Iterator[tuple[int, Any]]:
        return iter(enumerate(self._types))

    def _open(self) -> Iterator[Any]:
        if self._types and not is_in_memory(self._frame):
            raise SourceRefused("it can be read only once", hint="give a table that holds its rows: reader.read_all()")
        reader = attempt(lambda: _reader_of(self._frame.unwrap()), hint=_OPEN_IT)
        schema = reader.schema
        self.names, self._types = tuple(schema.names), tuple(schema.types)
        return iter(lambda: attempt(lambda: next(reader, None)), None)


class PandasColumns:
    """The columns of a pandas frame. Only those that are mapped are converted as a whole."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self.names = tuple(str(name) for name in frame.unwrap().columns)
        self._converted: dict[int, Any] = {}

    def head(self) -> list[Any]:
        """The first cells of every column."""
        first = Frame(self._frame.unwrap().head(SAMPLE_ROWS))
        arrays = (_convert(first, place) for place in range(len(self.names)))
        return [pa.chunked_array([], pa.null()) if array is None else array for array in arrays]

    def types(self, places: Sequence[int]) -> tuple[Any, ...]:
        """The types of the columns at `places`: of objects it is unknown before all were looked at."""
        return tuple(
            None if place in places and self._column(place) is None
            else self._column(place).type if place in places
            else pa.null()
            for place in range(len(self.names))
        )  # fmt: skip

    def batches(self, places: Sequence[int]) -> Iterator[tuple[int, Arrays]]:
        """All rows."""
        rows = len(self._frame.unwrap())
        columns = {place: self._column(place) for place in places}
        for start in range(0, rows, BATCH_ROWS):
            arrays = {place: _joined(column.slice(start, BATCH_ROWS)) for place, column in columns.items()}
            yield min(BATCH_ROWS, rows - start), arrays

    def _column(self, place: int) -> Any:
        if place not in self._converted:
            self._converted[place] = _convert(self._frame, place)
        return self._converted[place]


def attempt(work: Callable[[], T], *, hint: str = _READ_IT) -> T:
    """The result of `work`. The maker of the frame may quote cells in its errors, which are left behind."""
    try:
        return work()
    except AudiencekitError:
        raise  # it is ours, and quotes nothing
    except BaseException as error:
        if not is_failure(error):
            raise
        kind = type(error).__name__
    raise SourceRefused(f"it could not be read ({kind}); no values are shown", hint=hint)


def _reader_of(frame: Any) -> Any:
    if isinstance(frame, Opened):
        return frame.open_reader()
    if isinstance(frame, ArrowStream):
        return pa.RecordBatchReader.from_stream(frame)
    batch = pa.record_batch(frame)
    return pa.RecordBatchReader.from_batches(batch.schema, [batch])


def _convert(frame: Frame, place: int) -> Any:
    """One column of a pandas frame as an Arrow array; None when cells are of types that are not read."""
    try:
        array = pa.array(frame.unwrap().iloc[:, place], from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        array = _texts_of_objects(frame.unwrap().iloc[:, place])
        if array is None:
            return None
    whole = array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
    refuse_unsound(whole)
    return whole


def _texts_of_objects(series: Any) -> Any:
    """Cells of several types as text; None when one is of a type that is not read."""
    cells = [None if lacks else cell for cell, lacks in zip(series.tolist(), series.isna().tolist(), strict=True)]
    plain = [cell.item() if isinstance(cell, np.generic) else cell for cell in cells]
    if not all(cell is None or isinstance(cell, _SINGLE) for cell in plain):
        return None
    with contextlib.suppress(UnicodeDecodeError):
        return pa.array(map(_text, plain), pa.string())
    return None


def _joined(column: Any) -> Any:
    """The cells of a chunked array in one array."""
    whole = column.unify_dictionaries().combine_chunks()
    return whole if not isinstance(whole, pa.ChunkedArray) else pa.concat_arrays(whole.chunks)


def _is_pandas(source: object) -> bool:
    return _library_of(source) == "pandas" and hasattr(source, "iloc") and hasattr(source, "columns")


def _library_of(source: object) -> str:
    return type(source).__module__.partition(".")[0]


@guarded
def open_frame(frame: Frame, options: SourceOptions) -> Look:
    """A data frame, looked at. Raises SourceRefused when its first rows cannot be read."""
    columns = open_columns(frame)
    if len(columns.names) > MAX_COLUMNS:
        raise SourceRefused(f"it has more than {MAX_COLUMNS:,} columns")
    head = columns.head()
    cells = tuple(_sampled(column) for column in head)
    longest = max(map(len, cells), default=0)
    objects = sampled_objects(column.chunks for column in head)
    sample = Sample(columns.names, tuple(column if column else ("",) * longest for column in cells), objects)
    header = Header.of(columns.names, len(columns.names), options.wanted_names)
    table = FrameTable(columns, options, whole_columns(column.chunks for column in head), frame.mark)
    return Look(table, header, sample, notes=notes_on_index(frame))


def _sampled(column: Any) -> tuple[str, ...]:
    """The cells of a column for a sample; none of a type that Arrow itself cannot show."""
    try:
        return tuple(text.removeprefix(NOT_TEXT) for chunk in column.chunks for text in sample_texts(chunk))
    except (pa.ArrowException, ValueError):
        return ()


class FrameTable:
    """The rows of a data frame."""

    bytes_read = 0  # unknown how many there will be

    def __init__(self, columns: FrameColumns, options: SourceOptions, whole: frozenset[int], shown: str) -> None:
        self._columns, self._split_cells, self._whole = columns, options.split_cells, whole
        self._counts_cells = options.counts_cells
        self._format = shown
        self.rows_read = 0

    def __repr__(self) -> str:
        return f"<FrameTable of {len(self._columns.names)} columns>"

    @property
    def description(self) -> Description:
        """The sort of the rows, for people."""
        return {"format": self._format, "columns": len(self._columns.names)}

    def check(self, mapping: ColumnMapping) -> None:
        """Raises SourceRefused for mapped columns that are no text."""
        self._typed(mapping).check(mapping)

    def batches(self, mapping: ColumnMapping) -> Iterator[TextBatch]:
        """All rows, from the first. Raises SourceRefused when they cannot be read, or too many are faulty."""
        faults = Faults(TYPED_WORDS, counts_cells=self._counts_cells)
        self.rows_read = 0
        yield from gathered(self._batches(mapping, faults))
        faults.refuse_too_many(self.rows_read)

    def _batches(self, mapping: ColumnMapping, faults: Faults) -> Iterator[TextBatch]:
        typed = self._typed(mapping)
        for count, arrays in self._columns.batches(used_positions(mapping)):
            rows = np.arange(self.rows_read + 1, self.rows_read + 1 + count, dtype=np.int64)
            self.rows_read += count
            text = attempt(partial(typed.to_text, arrays, rows, mapping, faults))
            yield TextBatch(RawColumns(text), faults.take(), faults.take_cells())

    def _typed(self, mapping: ColumnMapping) -> TypedColumns:
        types = self._columns.types(used_positions(mapping))
        for place, kind in enumerate(types):
            if kind is None:
                name = column_names(mapping)[place]
                raise SourceRefused(
                    f"the cells of column {name} are of a type that is not read",
                    column=name,
                    hint="make it a column of text, or map other columns",
                )
        return TypedColumns(types, self._split_cells, self._whole, marked=True)


# Of a column alone; `column1` is what the first column of a file without a header is called, too.
UNNAMED: Final = "column1"
_ARROW_READERS: Final = ("fetch_record_batch", "to_arrow_reader")  # of ADBC and DuckDB; of DuckDB from 2.0 on
_SEVERAL: Final = (list, tuple, set, frozenset)  # values of one cell
_SINGLE: Final = (str, bool, int, float, Decimal, bytes, UUID, date, time)  # of which a cell is read
_WHOLE_FLOATS: Final = 2**53
_PART_ROWS: Final = 100
_FETCHED_BYTES: Final = 64_000_000
_FETCHED_ROWS: Final = 10_000  # objects of Python: ten times as large as what Arrow makes of them


class BinaryFile(Protocol):
    """A file that is open for reading bytes, of any origin."""

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
        return Frame(_Stream(_joined_rows, source))
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
    texts = ([None if text is None else text.removeprefix(NOT_TEXT) for text in map(_text, each)] for each in lists)
    return pa.array(texts, pa.list_(pa.string()))


def _open_file(source: Any) -> OpenFile:
    if isinstance(source, io.TextIOBase) or getattr(source, "encoding", None) is not None:
        raise UsageError("the file is open as text", hint="open it as bytes, open(path, 'rb'), or give its path")
    return OpenFile(source)


def _fetched(cursor: object) -> Any:
    """A reader of the result of a cursor that speaks Arrow."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # DuckDB says that a relation spares a copy; so does the documentation
        return next(getattr(cursor, name)() for name in _ARROW_READERS if hasattr(cursor, name))


def _joined_rows(batches: Iterator[Any]) -> Any:
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
    """A cell of a driver as text. A float that may have lost digits is written as one, and qualifies for nothing.

    In front of a date, and of true and false, is NOT_TEXT.
    """
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return NOT_TEXT + ("true" if cell else "false")
    if isinstance(cell, date | time):
        return NOT_TEXT + str(cell)
    if isinstance(cell, float):
        if cell != cell:  # NaN is a missing cell
            return None
        return str(int(cell)) if cell.is_integer() and abs(cell) < _WHOLE_FLOATS else str(cell)
    if isinstance(cell, Decimal):
        return written_out(cell)
    if isinstance(cell, bytes | bytearray | memoryview):
        return bytes(cell).decode()
    return str(cell)


# Text as bytes of the same layout: whether bytes are text is asked later, row by row, and takes far longer.
_AS_BYTES: Final = (
    (pt.is_string, pa.binary),
    (pt.is_large_string, pa.large_binary),
    (pt.is_string_view, pa.binary_view),
)


def refuse_unsound(column: Any) -> None:
    """Raises SourceRefused when a place that a pa.Array or ChunkedArray names lies outside of its memory.

    Two milliseconds for a million texts.
    """
    for array in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
        sound = False
        try:
            array.validate()  # its lengths, before anything is read
            _as_bytes(array).validate(full=True)
            sound = True
        except (pa.ArrowException, ValueError):
            pass  # it quotes
        if not sound:
            raise SourceRefused(
                "a column contradicts itself: its places lie outside of its memory",
                hint="what made the data frame is at fault; write it to a Parquet file, and give that",
            )


def _as_bytes(array: Any) -> Any:
    """`array`, its texts as bytes, also those in lists and dictionaries. Nothing is copied."""
    if isinstance(array, pa.ExtensionArray):
        return _as_bytes(array.storage)
    if pt.is_dictionary(array.type):
        return pa.DictionaryArray.from_arrays(array.indices, _as_bytes(array.dictionary), safe=False)
    return array.view(_bytes_of(array.type))


def _bytes_of(kind: pa.DataType) -> pa.DataType:
    if pt.is_list(kind):
        return pa.list_(_bytes_of(kind.value_type))
    if pt.is_large_list(kind):
        return pa.large_list(_bytes_of(kind.value_type))
    return next((other() for is_text, other in _AS_BYTES if is_text(kind)), kind)
