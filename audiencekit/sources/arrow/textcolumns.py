"""Arrow columns of text, as `TextBatch` promises them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyarrow as pa

from audiencekit.preparation.batches import ROW, ColumnMapping

TEXTS = pa.list_(pa.string())


def used_positions(mapping: ColumnMapping) -> list[int]:
    """The columns of the source that are read at all, in source order."""
    return sorted({column.position for column in mapping.columns} | {place for place, _ in mapping.single.values()})


def column_names(mapping: ColumnMapping) -> dict[int, str]:
    """What people are shown for each used column."""
    names = {column.position: column.name for column in mapping.columns}
    for place, name in mapping.single.values():
        if name is not None:
            names.setdefault(place, name)
    return names


def text_columns(rows: pa.Array, arrays: Mapping[int, pa.Array], mapping: ColumnMapping) -> pa.RecordBatch:
    """The RecordBatch of a TextBatch: row numbers, country, operation and consent where mapped, the mapped columns."""
    fields = {ROW: rows} | {field: arrays[place] for field, (place, _) in mapping.single.items()}
    fields |= {mapping.field_name(column): arrays[column.position] for column in mapping.columns}
    return pa.RecordBatch.from_arrays(list(fields.values()), names=list(fields))


def split_texts(cells: Iterable[str | None], separator: str) -> pa.Array:
    """Each cell as the list of its parts as they stand; blank parts are left out, null stays null."""
    parts = [None if cell is None else [part for part in cell.split(separator) if part.strip()] for cell in cells]
    return pa.array(parts, TEXTS)
