"""The size that a Parquet file unpacks to, as it says before it is read: a few bytes can stand for a billion rows."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any, BinaryIO, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from audiencekit.errors import SourceRefused
from audiencekit.limits import BATCH_ROWS, INFLATION_GRACE_BYTES, MAX_INFLATION

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
    """Of batches of `size` rows, how many are unpacked at once, if each had the largest value that is repeated.

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
    """Those `batches` that begin a file, up to so many rows; fewer of large ones."""
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
