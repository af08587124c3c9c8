"""A batch of text -> a batch of records: the identifiers of each row that qualified, hashed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.identifiers.kinds import Kind
from audiencekit.identifiers.reasons import Reason
from audiencekit.identifiers.rules import Rules
from audiencekit.personal import HashedRecords, guarded
from audiencekit.preparation.batches import (
    COUNTRY,
    OPERATION,
    REJECTION_SCHEMA,
    ROW,
    ColumnMapping,
    TextBatch,
)
from audiencekit.preparation.normalisation import ColumnResult, normalize_column, resolve_countries
from audiencekit.preparation.tally import Tally

UPDATE: Final = "Update"
DELETE: Final = "Delete"
OPERATION_TYPES: Final = (UPDATE, DELETE)

# The prepared format: one line a record. Hashes are lower-case hex; `partner_user_id` is plain. Within a kind the
# values are distinct and sorted, so that equal key sets are equal bytes; null where a kind has none.
RECORD_SCHEMA: Final = pa.schema(
    [
        pa.field(ROW, pa.int64(), nullable=False),
        pa.field(OPERATION, pa.string(), nullable=False),
        *(pa.field(kind.value, pa.list_(pa.string())) for kind in Kind),
    ]
)


@dataclass(frozen=True, slots=True)
class PreparedBatch:
    """What became of a TextBatch: `records` wraps a RecordBatch of RECORD_SCHEMA, `rejections` has REJECTION_SCHEMA."""

    records: HashedRecords
    rejections: pa.RecordBatch
    tally: Tally


@guarded
def prepare_batch(batch: TextBatch, mapping: ColumnMapping, *, rules: Rules, operation_type: str) -> PreparedBatch:
    """Records and rejections of one batch; every row is in exactly one of the two, by its row number.

    A record may leave some of its row's values behind as rejections; a row is rejected when none qualified.
    `operation_type` holds for rows of sources without an operation column.
    """
    columns = batch.columns.unwrap()
    rejections = _Rejections(columns.column(ROW).to_numpy())
    operations, known = _operations(columns, operation_type, mapping, rejections)
    columns = columns.filter(known) if known is not None else columns
    rejections.rows = columns.column(ROW).to_numpy()
    countries = resolve_countries(columns.column(COUNTRY)) if mapping.country is not None else None
    results = [
        (
            column,
            normalize_column(columns.column(mapping.field_name(column)), column, countries=countries, rules=rules),
        )
        for column in mapping.columns
    ]
    for column, result in results:
        rejections.add_values(column.name, result)
    lists = {kind: _value_lists([r for c, r in results if c.kind is kind], columns.num_rows) for kind in Kind}
    qualified = np.zeros(columns.num_rows, dtype=bool)
    for _column, result in results:
        qualified[result.hash_rows] = True
    rejections.add_without_identifier(qualified, results)
    records = pa.record_batch(
        [columns.column(ROW), operations, *(lists[kind] for kind in Kind)], schema=RECORD_SCHEMA
    ).filter(pa.array(qualified))
    rejected = rejections.to_batch(batch.faults)
    return PreparedBatch(HashedRecords(records), rejected, _tally(batch, mapping, results, records.num_rows, rejected))


def _operations(
    columns: Any, operation_type: str, mapping: ColumnMapping, rejections: _Rejections
) -> tuple[pa.Array, pa.Array | None]:
    """The operation type of each row kept, and the mask of rows kept (None: all)."""
    if mapping.operation is None:
        return pa.array([operation_type] * columns.num_rows, pa.string()), None
    words = pc.utf8_capitalize(pc.utf8_lower(pc.utf8_trim_whitespace(columns.column(OPERATION))))
    known = pc.fill_null(pc.is_in(words, pa.array(OPERATION_TYPES)), False)
    unknown = np.flatnonzero(~known.to_numpy(zero_copy_only=False))
    rejections.add(unknown, mapping.operation_name, Reason.UNKNOWN_OPERATION)
    return words.filter(known), known


def _value_lists(results: list[ColumnResult], rows: int) -> pa.Array:
    """list<string>, one a row: the distinct values of all columns of one kind, sorted; null where there is none."""
    if not any(len(result.hashes) for result in results):
        return pa.nulls(rows, pa.list_(pa.string()))
    owners = np.concatenate([result.hash_rows for result in results])
    values = pa.chunked_array([pa.array(result.hashes, pa.string()) for result in results]).combine_chunks()
    encoded = values.dictionary_encode()
    rank = pc.rank(encoded.dictionary).to_numpy(zero_copy_only=False).astype(np.int64)
    ranks = rank[encoded.indices.to_numpy(zero_copy_only=False)]
    order = np.lexsort((ranks, owners))
    owners, ranks = owners[order], ranks[order]
    fresh = np.ones(len(owners), dtype=bool)
    fresh[1:] = (owners[1:] != owners[:-1]) | (ranks[1:] != ranks[:-1])
    counts = np.bincount(owners[fresh], minlength=rows)
    return _list_array(counts, values.take(pa.array(order[fresh])))


def _list_array(counts: npt.NDArray[np.int64], values: pa.Array) -> pa.Array:
    offsets = np.zeros(len(counts) + 1, dtype=np.int32)
    np.cumsum(counts, out=offsets[1:])
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values, mask=pa.array(counts == 0))


class _Rejections:
    """Rejections of one batch as they gather, by index into `rows`."""

    def __init__(self, rows: npt.NDArray[np.int64]) -> None:
        self.rows = rows
        self._entries: list[tuple[int, str | None, str]] = []

    def add(self, indices: npt.NDArray[np.int64], column: str | None, reason: Reason) -> None:
        self._entries.extend((int(self.rows[index]), column, reason.value) for index in indices)

    def add_values(self, column: str, result: ColumnResult) -> None:
        pairs = zip(result.rejected_rows, result.rejected_reasons, strict=True)
        self._entries.extend((int(self.rows[index]), column, reason) for index, reason in pairs)

    def add_without_identifier(self, qualified: npt.NDArray[np.bool_], results: list[tuple[Any, ColumnResult]]) -> None:
        """Rows that had nothing in any mapped column."""
        silent = ~qualified
        for _column, result in results:
            silent[result.rejected_rows] = False
        self.add(np.flatnonzero(silent), None, Reason.NO_IDENTIFIER)

    def to_batch(self, faults: pa.RecordBatch) -> pa.RecordBatch:
        """All of them with the faults of the source, in row order."""
        entries = self._entries + list(zip(*(faults.column(i).to_pylist() for i in range(3)), strict=True))
        entries.sort(key=lambda entry: (entry[0], entry[1] or "", entry[2]))
        rows, columns, reasons = zip(*entries, strict=True) if entries else ((), (), ())
        return pa.record_batch([list(rows), list(columns), list(reasons)], schema=REJECTION_SCHEMA)


def _tally(
    batch: TextBatch,
    mapping: ColumnMapping,
    results: list[tuple[Any, ColumnResult]],
    records: int,
    rejections: pa.RecordBatch,
) -> Tally:
    read = batch.columns.unwrap().num_rows + batch.faults.num_rows
    return Tally(
        rows_read=read,
        rows_rejected=read - records,
        records=records,
        columns={column.position: result.tally for column, result in results},
        reasons=Counter(rejections.column(2).to_pylist()),
    )
