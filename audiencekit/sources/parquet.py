"""A Parquet file: the wanted columns only, row group by row group, every type as text."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from contextlib import closing
from typing import Any, BinaryIO, Final, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from audiencekit.errors import InputOutputFailed, MappingRefused, SourceRefused
from audiencekit.limits import BATCH_ROWS, INFLATION_GRACE_BYTES, MAX_COLUMNS, MAX_INFLATION, SAMPLE_ROWS
from audiencekit.personal import RawColumns
from audiencekit.records.batches import ColumnMapping, TextBatch
from audiencekit.sources.arrow import TypedColumns, sample_texts, sampled_objects, used_positions, whole_columns
from audiencekit.sources.bytes.files import RawFile
from audiencekit.sources.columns.header import Header
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.prepared import as_prepared, is_prepared, manifest_of
from audiencekit.sources.sampling import Sample
from audiencekit.sources.table import Description, Look
from audiencekit.sources.unreadable_rows import TYPED_WORDS, Faults

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
    typed = TypedColumns(tuple(schema.types), options.split_cells, whole)
    table = ParquetTable(file, schema, rows, typed, options.counts_cells)
    look = Look(table, Header.of(names, len(names), options.wanted_names), sample, manifest=manifest_of(schema))
    return as_prepared(look, schema, metadata, one_operation=options.one_operation) if prepared else look


class ParquetTable:
    """The rows of a Parquet file."""

    def __init__(self, file: RawFile, schema: pa.Schema, rows: int, columns: TypedColumns, counts_cells: bool) -> None:
        self._file, self._schema, self._rows, self._columns = file, schema, rows, columns
        self._counts_cells = counts_cells
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
        faults = Faults(TYPED_WORDS, counts_cells=self._counts_cells)
        self.rows_read = 0
        with closing(self._file.open()) as handle:
            parquet = _opened(handle)
            inflation = Inflation(parquet.metadata, set(wanted))
            size = batch_rows(parquet.metadata)
            rows = _from_arrow(piece_rows, handle, parquet.metadata, set(wanted), size)
            pieces = map(inflation.counted, parquet.iter_batches(rows, columns=wanted, use_threads=False))
            batches = pieces if rows == size else joined(pieces, size)
            while (batch := _from_arrow(lambda: next(batches, None))) is not None:
                columns = RawColumns(self._build(batch, mapping, faults))
                yield TextBatch(columns, faults.take(), faults.take_cells())
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
    """Return the result of `work`. Errors of Arrow are replaced, because they quote values and paths."""
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


BATCH_BYTES: Final = 64_000_000  # unpacked, by the average row: a batch of large rows has fewer
MIN_BATCH_ROWS: Final = 1_024
_CELL_BYTES: Final = 4  # of a cell in memory, at least: a null, or one more of the same
_FEWEST_ROWS: Final = 64  # of a batch of rows that may be of any size
_PIECE_BYTES: Final = BATCH_BYTES  # of rows that are unpacked at once, if each had the largest value
_TEXT: Final = "BYTE_ARRAY"
_BY_PREFIX: Final = "DELTA_BYTE_ARRAY"  # values may repeat all of the one before


class Inflation:
    """How far the columns called `wanted` have unpacked. Raises SourceRefused for far more than they are."""

    def __init__(self, metadata: pq.FileMetaData, wanted: Container[str]) -> None:
        chunks = list(_chunks(metadata, wanted))
        self._packed_bytes = sum(chunk.total_compressed_size for chunk in chunks)
        self._unpacked_bytes = 0
        self._refuse(sum(chunk.total_uncompressed_size + chunk.num_values * _CELL_BYTES for chunk in chunks))

    def counted(self, batch: Any) -> Any:
        """The same pa.RecordBatch of them, counted."""
        self._unpacked_bytes += batch.nbytes
        self._refuse(self._unpacked_bytes)
        return batch

    def _refuse(self, unpacked_bytes: int) -> None:
        if unpacked_bytes > max(INFLATION_GRACE_BYTES, MAX_INFLATION * self._packed_bytes):
            raise SourceRefused(
                f"the Parquet file unpacks to more than {MAX_INFLATION} times its size",
                hint="its rows are nearly all empty, or nearly all alike: look at it first",
            )


def batch_rows(metadata: pq.FileMetaData) -> int:
    """Rows that are handed on at once, so that they fit into memory, each taken for an average one."""
    all_bytes = sum(metadata.row_group(at).total_byte_size for at in range(metadata.num_row_groups))
    return int(min(BATCH_ROWS, max(MIN_BATCH_ROWS, BATCH_BYTES * metadata.num_rows // max(all_bytes, 1))))


def look_rows(metadata: pq.FileMetaData) -> int:
    """Rows of the first group that are unpacked at once for a look, if each had the largest value that there can be."""
    if not metadata.num_row_groups:
        return _FEWEST_ROWS
    group = metadata.row_group(0)
    return _rows_of(max((group.column(at).total_uncompressed_size for at in range(group.num_columns)), default=0))


def piece_rows(handle: BinaryIO, metadata: pq.FileMetaData, wanted: Container[str], size: int) -> int:
    """How many rows are unpacked at once, if each had the largest repeated value; batches have `size` rows.

    What the file says of its size counts a value of a dictionary, or a common beginning, once.
    """
    largest = [0]
    for chunk, group in _chunks_by_group(metadata, wanted):
        if chunk.physical_type != _TEXT or chunk.num_values * chunk.total_uncompressed_size <= _PIECE_BYTES:
            continue
        if _BY_PREFIX in chunk.encodings:
            largest.append(chunk.total_uncompressed_size)
        elif chunk.has_dictionary_page:
            largest.append(_largest_of_dictionary(handle, metadata, group, chunk))
    return min(size, max(1, _PIECE_BYTES // max(1, *largest)))


def joined(pieces: Iterator[Any], size: int) -> Iterator[Any]:
    """The rows of `pieces` (pa.RecordBatch) in batches of `size` rows, or of fewer that are large."""
    held: list[Any] = []
    for piece in pieces:
        held.append(piece)
        if sum(one.num_rows for one in held) >= size or sum(one.nbytes for one in held) >= BATCH_BYTES:
            yield pa.concat_batches(held)
            held = []
    if held:
        yield pa.concat_batches(held)


def _rows_of(largest_bytes: int) -> int:
    return max(1, min(_FEWEST_ROWS, _PIECE_BYTES // max(largest_bytes, 1)))


def _largest_of_dictionary(handle: BinaryIO, metadata: pq.FileMetaData, group: int, chunk: Any) -> int:
    """The size of the largest value, in a dictionary that is read without its rows."""
    path = chunk.path_in_schema
    file = pq.ParquetFile(handle, metadata=metadata, read_dictionary=[path], pre_buffer=False, buffer_size=1 << 16)
    first = next(file.iter_batches(1, row_groups=[group], columns=[path], use_threads=False), None)
    values = None if first is None else first.column(0)
    while values is not None and not pa.types.is_dictionary(values.type):
        if not pa.types.is_list(values.type) and not pa.types.is_large_list(values.type):
            return int(chunk.total_uncompressed_size)
        values = values.values
    sizes = None if values is None else pc.max(pc.binary_length(values.dictionary)).as_py()
    return sizes or 0


def first_rows(batches: Iterator[Any], rows: int) -> Iterator[Any]:
    """The first `batches` of a file, up to `rows` rows; fewer rows if they are large."""
    found = size_bytes = 0
    for batch in batches:
        yield batch.slice(0, rows - found)
        found, size_bytes = found + batch.num_rows, size_bytes + batch.nbytes
        if found >= rows or size_bytes > BATCH_BYTES:
            return


def _chunks(metadata: pq.FileMetaData, wanted: Container[str]) -> Iterator[Any]:
    return (chunk for chunk, _ in _chunks_by_group(metadata, wanted))


def _chunks_by_group(metadata: pq.FileMetaData, wanted: Container[str]) -> Iterator[tuple[Any, int]]:
    for at in range(metadata.num_row_groups):
        group = metadata.row_group(at)
        for chunk in map(group.column, range(group.num_columns)):
            path = chunk.path_in_schema
            if path.split(".")[0] in wanted or path in wanted:
                yield chunk, at
