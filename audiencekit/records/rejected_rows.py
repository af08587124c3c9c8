"""The rows of a batch that have a rejection, with their cells, as lines of JSON: only to be sealed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.personal import Personal, guarded
from audiencekit.records.batches import GROUP, ROW, ColumnMapping, TextBatch

REJECTIONS: Final = "rejections"


class RejectedRows(Personal[bytes]):
    """Lines of JSON, one a row: its number, its rejections as pairs of column and reason, and its cells by column."""


@guarded
def rejected_rows(batch: TextBatch, mapping: ColumnMapping, rejections: pa.RecordBatch) -> RejectedRows:
    """Return each row of `rejections` (REJECTION_SCHEMA) once, with all its mapped cells as they were judged.

    Those are divided, filled down and behind their area codes, where the mapping says so. A cell that could not be
    read is null; a row that could not be read has no cells.
    """
    columns = batch.columns.unwrap()
    is_rejected = pc.is_in(columns.column(ROW), value_set=rejections.column(0))
    names = _names(mapping)
    cells = columns.filter(is_rejected).select([ROW, *names]).rename_columns([ROW, *names.values()])
    by_row = {row[ROW]: row for row in cells.to_pylist()}
    lines = (
        orjson.dumps({ROW: row, REJECTIONS: pairs} | by_row.get(row, {}), option=orjson.OPT_APPEND_NEWLINE)
        for row, pairs in _by_row(rejections)
    )
    return RejectedRows(b"".join(lines))


def _names(mapping: ColumnMapping) -> dict[str, str]:
    """Return the name in the lines of each field of a TextBatch: that of its column, with a number where it is taken.

    A column of emails and phone numbers is there once.
    """
    fields: dict[str, str | None] = {mapping.field_name(column): column.name for column in mapping.columns}
    fields |= {field: name for field, (_, name) in mapping.single.items() if field != GROUP}
    names: dict[str, str] = {}
    taken = {ROW, REJECTIONS}
    for field, shown in fields.items():
        name, number = shown or field, 2
        while name in taken:
            name, number = f"{shown or field} ({number})", number + 1
        names[field] = name
        taken.add(name)
    return names


def _by_row(rejections: pa.RecordBatch) -> Iterator[tuple[int, list[tuple[Any, Any]]]]:
    """Yield each row once with its pairs of column and reason; they are ordered by row."""
    found: tuple[int, list[tuple[Any, Any]]] | None = None
    for row, column, reason in zip(*(each.to_pylist() for each in rejections.columns), strict=True):
        if found is None or found[0] != row:
            if found is not None:
                yield found
            found = row, []
        found[1].append((column, reason))
    if found is not None:
        yield found
