"""The table `source` of a query: the careful rows of the files, every cell as text, streamed to the engine."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.errors import AudiencekitError, Refused, SourceRefused
from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import RawColumns, guarded
from audiencekit.preparation.batches import ROW, ColumnMapping, MappedColumn, TextBatch
from audiencekit.preparation.columnar.buffers import arrow_array
from audiencekit.sources.arrow.textcolumns import TEXTS
from audiencekit.sources.files import LookedAtFile, naming


class SourceTable:
    """The files of a source as the engine sees them. It may read them several times, each time from the first row.

    `bytes_read` is of the last reading. `failure` is what ended a reading early: the engine is not told.
    """

    def __init__(self, files: Sequence[LookedAtFile]) -> None:
        self._files = files
        self._columns = [_readable_columns(file) for file in files]
        self._refuse_other_columns()
        self._schema = _schema_of(files[0], self._columns[0])
        self._readings: list[TableReading] = []
        self.failure: AudiencekitError | None = None

    def __repr__(self) -> str:
        return f"<SourceTable of {len(self._files)} files>"

    @property
    def schema(self) -> pa.Schema:
        """All columns that a query can name, as text or as lists of texts."""
        return self._schema

    @property
    def bytes_read(self) -> int:
        """Bytes of the files on disk, of the last reading."""
        return sum(file.look.table.bytes_read for file in self._files)

    def scanner(self, columns: list[str]) -> TableReading:
        """A reading of `columns`."""
        return TableReading(self, columns)

    def begin(self) -> None:
        """Forgets the readings of an earlier execution."""
        self._readings, self.failure = [], None

    def read_to_the_end(self) -> tuple[int, int]:
        """Rows and faulty rows of the files: the first reading, of which a query may have left a part, or a new one.

        Raises SourceRefused for files that cannot be trusted, whatever part of them the query needed.
        """
        reading = self._readings[0] if self._readings else self.scanner([])
        with suppress(ReadingFailed):
            for _ in reading.to_batches():
                pass
        if self.failure is not None:
            raise self.failure
        return reading.rows, reading.faults

    def rows_of(self, columns: list[str], reading: TableReading) -> Iterator[RawColumns]:
        """The sound rows of all files."""
        for file, found in zip(self._files, self._columns, strict=True):
            mapping, declared = _mapping_of(found, columns), pa.schema([self._schema.field(name) for name in columns])
            # Readings of one query run side by side, and a table counts the rows of one.
            table = copy.copy(file.look.table)
            batches = table.batches(mapping)
            while (batch := _next_of(file, batches)) is not None:
                reading.rows += batch.faults.num_rows + batch.columns.unwrap().num_rows
                reading.faults += batch.faults.num_rows
                yield _as_declared(batch.columns, found, declared)

    def started(self, reading: TableReading) -> None:
        """Remembers a reading that the engine began."""
        self._readings.append(reading)

    def _refuse_other_columns(self) -> None:
        for file, columns in zip(self._files, self._columns, strict=True):
            if set(columns) != set(self._columns[0]):
                raise SourceRefused(
                    f"{file.name}: its columns have other names than those of {self._files[0].name}",
                    source=file.name,
                    hint="query files of one kind at a time",
                )


def _next_of(file: LookedAtFile, batches: Iterator[TextBatch]) -> TextBatch | None:
    with naming(file.name):
        return next(batches, None)


class TableReading:
    """One reading of the table. `rows` and `faults` count those of the files, as far as it came."""

    def __init__(self, table: SourceTable, columns: list[str]) -> None:
        self._table, self._names = table, columns
        self._stream: Iterator[RawColumns] | None = None
        self.rows = self.faults = 0

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """The rows that are left of this reading. What ends it early is kept as the table's `failure`."""
        if self._stream is None:
            self._table.started(self)
            self._stream = self._table.rows_of(self._names, self)
        step = guarded(partial(next, self._stream, None))
        while (batch := self._next(step)) is not None:
            yield batch.unwrap()

    def _next(self, step: Callable[[], RawColumns | None]) -> RawColumns | None:
        try:
            return step()
        except AudiencekitError as error:
            self._table.failure = error
        raise ReadingFailed


class ReadingFailed(Exception):
    """A reading ended early; the table has the reason, and the engine gets no word to quote."""


def _readable_columns(file: LookedAtFile) -> dict[str, int]:
    """The columns that are text, or can be, by the name that a query calls them: their own, or else `column4`."""
    header = file.look.header
    own = [name.replace("\ufeff", "").strip() for name in header.names or ()]
    named_once = {name: place for place, name in enumerate(own) if name and own.count(name) == 1}
    places = {place: name for name, place in named_once.items()}
    found = {places.get(place, f"column{place + 1}"): place for place in range(header.width)}
    return {name: place for name, place in found.items() if _is_readable(file, place)}


def _is_readable(file: LookedAtFile, place: int) -> bool:
    try:
        file.look.table.check(_mapping_of({"": place}, [""]))
    except Refused:
        return False
    return True


def _schema_of(file: LookedAtFile, columns: Mapping[str, int]) -> pa.Schema:
    lists = file.look.lists
    return pa.schema([(name, TEXTS if place in lists else pa.string()) for name, place in columns.items()])


def _mapping_of(found: Mapping[str, int], columns: Iterable[str]) -> ColumnMapping:
    """`columns` as text columns; of which kind does not matter to who reads them."""
    places = sorted(found[name] for name in columns)
    return ColumnMapping(
        columns=tuple(
            MappedColumn(kind=Kind.PARTNER_USER_ID, position=place, name=f"column{place + 1}") for place in places
        ),
        for_query=True,
    )


def _as_declared(rows: RawColumns, found: Mapping[str, int], schema: pa.Schema) -> RawColumns:
    """The columns of `schema`, in the types that it declares."""
    batch = rows.unwrap()
    arrays = [_in_type(batch.column(f"c{found[field.name]}"), field.type) for field in schema]
    # A batch without columns keeps its number of rows only as a selection.
    whole = pa.RecordBatch.from_arrays([batch.column(ROW), *arrays], names=["", *schema.names])
    return RawColumns(whole.select(list(range(1, len(arrays) + 1))))


def _in_type(array: pa.Array, declared: pa.DataType) -> pa.Array:
    """`array` as text or as lists of texts. Raises SourceRefused for several values where there were single ones."""
    if array.type == declared:
        return array
    if pa.types.is_list(declared):
        offsets = np.arange(len(array) + 1, dtype=np.int32)
        return pa.ListArray.from_arrays(arrow_array(offsets), array, mask=array.is_null())
    if (pc.max(pc.list_value_length(array)).as_py() or 0) > 1:
        raise SourceRefused("a column holds one value a row at first, and several later: no query can read both")
    return pc.list_element(pc.if_else(pc.equal(pc.list_value_length(array), 0), None, array), 0)
