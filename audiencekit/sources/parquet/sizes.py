"""The size that a Parquet file unpacks to, as it says before it is read: a few bytes can stand for a billion rows."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any, Final

import pyarrow.parquet as pq

from audiencekit.errors import SourceRefused
from audiencekit.limits import BATCH_ROWS, INFLATION_GRACE_BYTES, MAX_INFLATION

BATCH_BYTES: Final = 64_000_000  # unpacked, by the average row: a batch of large rows has fewer
MIN_BATCH_ROWS: Final = 1_024
_CELL_BYTES: Final = 4  # of a cell in memory, at least: a null, or one more of the same
_FEWEST_ROWS: Final = 64  # of a batch of rows that may be of any size
_REPEATED_BYTES: Final = 1  # packed bytes of a row, below which rows mostly repeat others


class Inflation:
    """How far the columns called `wanted` have unpacked. Raises SourceRefused for far more than they are."""

    def __init__(self, metadata: pq.FileMetaData, wanted: Container[str]) -> None:
        chunks = list(_chunks(metadata, wanted))
        self._packed_bytes = sum(chunk.total_compressed_size for chunk in chunks)
        self._unpacked_bytes = 0
        self._refuse(sum(chunk.total_uncompressed_size + chunk.num_values * _CELL_BYTES for chunk in chunks))

    def add(self, batch: Any) -> None:
        """Counts a pa.RecordBatch of them."""
        self._unpacked_bytes += batch.nbytes
        self._refuse(self._unpacked_bytes)

    def _refuse(self, unpacked_bytes: int) -> None:
        if unpacked_bytes > max(INFLATION_GRACE_BYTES, MAX_INFLATION * self._packed_bytes):
            raise SourceRefused(
                f"the Parquet file unpacks to more than {MAX_INFLATION} times its size",
                hint="its rows are nearly all empty, or nearly all alike: look at it first",
            )


def batch_rows(metadata: pq.FileMetaData, wanted: Container[str]) -> int:
    """Rows of the columns called `wanted` that are read at once, so that they fit into memory.

    A row is taken for an average one. But where rows repeat others, each may be as large as all that is repeated.
    """
    chunks, rows = list(_chunks(metadata, wanted)), metadata.num_rows
    all_bytes = sum(metadata.row_group(at).total_byte_size for at in range(metadata.num_row_groups))
    size = max(MIN_BATCH_ROWS, BATCH_BYTES * rows // max(all_bytes, 1))
    if sum(chunk.total_compressed_size for chunk in chunks) < rows * _REPEATED_BYTES:
        largest_bytes = max((chunk.total_uncompressed_size for chunk in chunks), default=0)
        size = min(size, max(_FEWEST_ROWS, BATCH_BYTES // max(largest_bytes, 1)))
    return int(min(BATCH_ROWS, size))


def first_rows(batches: Iterator[Any], rows: int) -> Iterator[Any]:
    """Those `batches` that begin a file, up to so many rows; fewer of large ones."""
    found = size_bytes = 0
    for batch in batches:
        yield batch.slice(0, rows - found)
        found, size_bytes = found + batch.num_rows, size_bytes + batch.nbytes
        if found >= rows or size_bytes > BATCH_BYTES:
            return


def _chunks(metadata: pq.FileMetaData, wanted: Container[str]) -> Iterator[Any]:
    for at in range(metadata.num_row_groups):
        group = metadata.row_group(at)
        for chunk in map(group.column, range(group.num_columns)):
            path = chunk.path_in_schema
            if path.split(".")[0] in wanted or path in wanted:
                yield chunk
