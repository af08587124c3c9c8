"""A Parquet file: the wanted columns only, row group by row group, every type as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import BinaryIO, Final, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from audiencekit.errors import InputOutputFailed, MappingRefused, SourceRefused
from audiencekit.limits import MAX_COLUMNS, SAMPLE_ROWS
from audiencekit.personal import RawColumns
from audiencekit.records.batches import ColumnMapping, TextBatch
from audiencekit.sources.arrow.textcolumns import used_positions
from audiencekit.sources.arrow.typedcolumns import TypedColumns, sampled_objects
from audiencekit.sources.arrow.types import sample_texts, whole_columns
from audiencekit.sources.bytes.rawbytes import RawFile
from audiencekit.sources.columns.header import Header
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.parquet.preparedfile import as_prepared, is_prepared
from audiencekit.sources.parquet.sizes import Inflation, batch_rows, first_rows, joined, look_rows, piece_rows
from audiencekit.sources.sampling import Sample
from audiencekit.sources.table import Description, Look
from audiencekit.sources.unreadablerows import Faults

T = TypeVar("T")
SAMPLE_CELLS: Final = 500_000


def open_parquet(file: RawFile, options: SourceOptions) -> Look:
    """A Parquet file, looked at; mapped, too, when it is a prepared one and no option says what its columns are.

    Raises SourceRefused when its footer or first rows cannot be read.
    """
    with closing(file.open()) as handle:
        parquet = _opened(handle)
        schema = _from_arrow(lambda: parquet.schema_arrow)
        if len(schema.names) > MAX_COLUMNS:
            raise SourceRefused(f"the file has more than {MAX_COLUMNS:,} columns")
        metadata = _from_arrow(lambda: parquet.metadata)
        size = min(SAMPLE_ROWS, SAMPLE_CELLS // max(len(schema.names), 1))
        batches = parquet.iter_batches(max(1, min(size, look_rows(metadata))), use_threads=False)
        first = _from_arrow(lambda: list(first_rows(batches, size)))
        columns = [
            tuple(text for batch in first for text in _from_arrow(sample_texts, batch.column(place)))
            for place in range(len(schema.names) if first else 0)
        ]
        pieces = list(zip(*(batch.columns for batch in first), strict=True))
        whole = _from_arrow(whole_columns, pieces)
        rows = metadata.num_rows
    names = tuple(schema.names)
    sample = Sample(names, tuple(columns) if columns else tuple(() for _ in names), sampled_objects(pieces))
    prepared = not options.is_about_columns and is_prepared(schema)
    table = ParquetTable(file, schema, rows, TypedColumns(tuple(schema.types), options.split_cells, whole))
    look = Look(table, Header.of(names, len(names), options.wanted_names), sample)
    return as_prepared(look, schema, metadata, one_operation=options.one_operation) if prepared else look


class ParquetTable:
    """The rows of a Parquet file."""

    def __init__(self, file: RawFile, schema: pa.Schema, rows: int, columns: TypedColumns) -> None:
        self._file, self._schema, self._rows, self._columns = file, schema, rows, columns
        self.rows_read = 0

    def __repr__(self) -> str:
        return f"<ParquetTable of {self._rows} rows>"

    @property
    def bytes_read(self) -> int:
        """Bytes of the file on disk, of the last pass, as the share of rows says."""
        return self._file.size_bytes * self.rows_read // self._rows if self._rows else self._file.size_bytes

    @property
    def description(self) -> Description:
        """The format of the file, for people."""
        return {"format": "parquet", "columns": len(self._schema.names), "rows": self._rows}

    def check(self, mapping: ColumnMapping) -> None:
        """Raises SourceRefused for mapped columns that are no text, MappingRefused for names that stand twice."""
        self._columns.check(mapping)
        for place in used_positions(mapping):
            if self._schema.names.count(self._schema.names[place]) > 1:
                raise MappingRefused(f"more than one column has the name of column{place + 1}")

    def batches(self, mapping: ColumnMapping) -> Iterator[TextBatch]:
        """All rows, from the first. Raises SourceRefused when they cannot be read, or too many are faulty."""
        wanted = [self._schema.names[place] for place in used_positions(mapping)]
        faults = Faults()
        self.rows_read = 0
        with closing(self._file.open()) as handle:
            parquet = _opened(handle)
            inflation = Inflation(parquet.metadata, set(wanted))
            size = batch_rows(parquet.metadata)
            rows = _from_arrow(piece_rows, handle, parquet.metadata, set(wanted), size)
            pieces = map(inflation.counted, parquet.iter_batches(rows, columns=wanted, use_threads=False))
            batches = pieces if rows == size else joined(pieces, size)
            while (batch := _from_arrow(lambda: next(batches, None))) is not None:
                yield TextBatch(RawColumns(self._build(batch, mapping, faults)), faults.take())
            self._file.check_unchanged(handle)
        if self.rows_read != self._rows:
            raise SourceRefused(f"the file says that it has {self._rows:,} rows, and {self.rows_read:,} were read")
        faults.refuse_too_many(self.rows_read)

    def _build(self, batch: pa.RecordBatch, mapping: ColumnMapping, faults: Faults) -> pa.RecordBatch:
        rows = np.arange(self.rows_read + 1, self.rows_read + 1 + batch.num_rows, dtype=np.int64)
        self.rows_read += batch.num_rows
        arrays = {place: self._column(batch, place) for place in used_positions(mapping)}
        return _from_arrow(self._columns.to_text, arrays, rows, mapping, faults)

    def _column(self, batch: pa.RecordBatch, place: int) -> pa.Array:
        name = self._schema.names[place]
        if batch.schema.names.count(name) != 1:
            raise SourceRefused(f"column{place + 1} cannot be told apart from others by its name")
        return batch.column(name)


def _opened(handle: BinaryIO) -> pq.ParquetFile:
    return _from_arrow(
        lambda: pq.ParquetFile(
            handle, memory_map=False, buffer_size=1 << 20, pre_buffer=False, page_checksum_verification=True
        )
    )


def _from_arrow(work: Callable[..., T], *arguments: object) -> T:
    """The result of `work`. Arrow's own errors quote values and paths, and are left behind."""
    system = ""
    try:
        return work(*arguments)
    except (SourceRefused, InputOutputFailed):
        raise  # it is ours, and quotes nothing
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            system = error.strerror or "unknown reason"
    if system:
        raise InputOutputFailed(f"cannot be read: {system}")
    raise SourceRefused("the Parquet file is damaged, encrypted or of a kind that is not read", hint="write it again")
