"""Data frames of the caller's: anything that speaks Arrow's C interface, and pandas. No library of frames is imported.

A frame is read by its columns: their names, their first cells, and then all cells of the columns that are mapped.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Final, Protocol, TypeAlias, TypeVar, runtime_checkable

import pyarrow as pa

from audiencekit.errors import AudiencekitError, SourceRefused
from audiencekit.limits import BATCH_ROWS, SAMPLE_ROWS
from audiencekit.personal import Personal, is_failure
from audiencekit.sources.frames.soundarrays import refuse_unsound

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


@runtime_checkable
class Opened(Protocol):
    """Rows that are fetched when the frame is opened, by a reader that says itself why it failed."""

    def open_reader(self) -> BatchReader:
        """The rows, begun."""


FrameSource: TypeAlias = ArrowStream | ArrowArray


class Frame(Personal[Any]):
    """A data frame of the caller's. Its cells are as they stood.

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
    """Whether `source` is a data frame, by what it can do."""
    return isinstance(source, ArrowStream | ArrowArray) or _is_pandas(source)


def is_in_memory(frame: Frame) -> bool:
    """Whether `frame` holds its rows, so that it can be read again."""
    return _library_of(frame.unwrap()) in _IN_MEMORY and hasattr(frame.unwrap(), "__len__")


def open_columns(frame: Frame) -> FrameColumns:
    """The columns of `frame`. Raises SourceRefused for what has none."""
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
    """One column of a pandas frame as an Arrow array; None when its cells have no common type."""
    try:
        array = pa.array(frame.unwrap().iloc[:, place], from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None
    whole = array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
    refuse_unsound(whole)
    return whole


def _joined(column: Any) -> Any:
    """The cells of a chunked array in one array."""
    whole = column.unify_dictionaries().combine_chunks()
    return whole if not isinstance(whole, pa.ChunkedArray) else pa.concat_arrays(whole.chunks)


def _is_pandas(source: object) -> bool:
    return _library_of(source) == "pandas" and hasattr(source, "iloc") and hasattr(source, "columns")


def _library_of(source: object) -> str:
    return type(source).__module__.partition(".")[0]
