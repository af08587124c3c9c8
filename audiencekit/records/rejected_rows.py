"""The rows of a batch that have a rejection, with their cells, as lines of JSON: only to be sealed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, TypeAlias

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.personal import Personal, guarded
from audiencekit.records.batches import GROUP, PROOF, REJECTIONS, ROW, ColumnMapping, TextBatch

_ROWS_AT_ONCE: Final = 4096
Pair: TypeAlias = tuple[str | None, str]  # column and reason


class RejectedRows(Personal[bytes]):
    """Lines of JSON, one a row: its number, its rejections as pairs of column and reason, and its cells by column."""


@guarded
def rejected_rows(
    batch: TextBatch,
    mapping: ColumnMapping,
    rejections: pa.RecordBatch,
    prove: Callable[[int], str] | None = None,
) -> RejectedRows:
    """Return each row of `rejections` (REJECTION_SCHEMA) once, with all its mapped cells as they were judged.

    Those are divided, filled down and behind their area codes, where the mapping says so. A cell that could not be
    read is null; a row that could not be read has no cells. `prove` gives the proof of a row, for rows of a run.
    """
    columns = batch.columns.unwrap()
    is_rejected = pc.is_in(columns.column(ROW), value_set=rejections.column(0))
    names = opened_names(mapping)
    cells = columns.filter(is_rejected).select([ROW, *names]).rename_columns([ROW, *names.values()])
    lines = bytearray()  # one after the other: each line alone takes much more room than its bytes
    for line in _lines(_dicts(cells), _by_row(rejections), prove):
        lines += line
    return RejectedRows(bytes(lines))


def _lines(
    cells: Iterator[dict[str, Any]], rejected: Iterator[tuple[int, list[Pair]]], prove: Callable[[int], str] | None
) -> Iterator[bytes]:
    """Yield the line of each rejected row. Both ascend by row, and all rows of `cells` are rejected."""
    next_cells = next(cells, None)
    for row, pairs in rejected:
        found: dict[str, Any] = {}
        if next_cells is not None and next_cells[ROW] == row:
            found, next_cells = next_cells, next(cells, None)
        proof = {} if prove is None else {PROOF: prove(row)}
        yield orjson.dumps({ROW: row, **proof, REJECTIONS: pairs} | found, option=orjson.OPT_APPEND_NEWLINE)


def _dicts(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    """Yield each row. Only some are objects of Python at once: those of a whole batch would take 100 MB."""
    for begin in range(0, batch.num_rows, _ROWS_AT_ONCE):
        yield from batch.slice(begin, _ROWS_AT_ONCE).to_pylist()


def opened_names(mapping: ColumnMapping) -> dict[str, str]:
    """Return the name in the lines of each field of a TextBatch: that of its column, with a number where it is taken.

    A column of emails and phone numbers is there once.
    """
    fields: dict[str, str | None] = {mapping.field_name(column): column.name for column in mapping.columns}
    fields |= {field: name for field, (_, name) in mapping.single.items() if field not in (GROUP, PROOF)}
    names: dict[str, str] = {}
    taken = {ROW, REJECTIONS, PROOF}
    for field, shown in fields.items():
        name, number = shown or field, 2
        while name in taken:
            name, number = f"{shown or field} ({number})", number + 1
        names[field] = name
        taken.add(name)
    return names


def _by_row(rejections: pa.RecordBatch) -> Iterator[tuple[int, list[Pair]]]:
    """Yield each row once with its pairs of column and reason; they are ordered by row."""
    for row, found in groupby(_dicts(rejections), itemgetter("row")):
        yield row, [(each["column"], each["reason"]) for each in found]
