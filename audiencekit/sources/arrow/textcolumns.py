"""Arrow columns of text, as `TextBatch` promises them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.preparation.batches import ROW, ColumnMapping
from audiencekit.preparation.columnar.buffers import arrow_array
from audiencekit.sources.separators import ONE_VALUE, SEMICOLON

TEXTS = pa.list_(pa.string())


def used_positions(mapping: ColumnMapping) -> list[int]:
    """The columns of the source that are read at all, in source order."""
    return sorted({column.position for column in mapping.columns} | {place for place, _ in mapping.single.values()})


def column_names(mapping: ColumnMapping) -> dict[int, str]:
    """The name shown for each used column."""
    names = {column.position: column.name for column in mapping.columns}
    for place, name in mapping.single.values():
        if name is not None:
            names.setdefault(place, name)
    return names


def text_columns(rows: pa.Array, arrays: Mapping[int, pa.Array], mapping: ColumnMapping) -> pa.RecordBatch:
    """The RecordBatch of a TextBatch: row numbers, country, operation and consent where mapped, the mapped columns."""
    fields = {ROW: rows} | {field: arrays[place] for field, (place, _) in mapping.single.items()}
    fields |= {
        mapping.field_name(column): divided(arrays[column.position], column.separator) for column in mapping.columns
    }
    return pa.RecordBatch.from_arrays(list(fields.values()), names=list(fields))


def split_texts(cells: pa.Array, separator: str) -> pa.Array:
    """Each text as the list of its parts as they stand; blank parts are left out, null stays null."""
    return _without_blanks(pc.split_pattern(cells, pattern=separator))


def divided(cells: pa.Array, separator: str | None) -> pa.Array:
    """The texts `cells` as lists, as `split_texts` gives them, but of those that are one value; lists as they are."""
    if separator is None or not pa.types.is_string(cells.type):
        return cells
    parts = pc.split_pattern(cells, pattern=separator)
    if separator == SEMICOLON:
        places = np.arange(len(cells) + 1, dtype=np.int32)
        whole = pa.ListArray.from_arrays(arrow_array(places), cells, mask=cells.is_null())
        parts = pc.if_else(pc.match_substring_regex(cells, ONE_VALUE), whole, parts)
    return _without_blanks(parts)


def _without_blanks(lists: pa.Array) -> pa.Array:
    texts = lists.flatten()
    filled = pc.not_equal(pc.utf8_trim_whitespace(texts), "").to_numpy(zero_copy_only=False)
    counts = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    rows = np.repeat(np.arange(len(lists)), counts)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(rows[filled], minlength=len(lists)))]).astype(np.int32)
    return pa.ListArray.from_arrays(arrow_array(offsets), texts.filter(arrow_array(filled)), mask=lists.is_null())
