"""Arrow columns of text, as `TextBatch` promises them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.preparation.batches import ROW, ColumnMapping
from audiencekit.preparation.columnar.buffers import Bools, arrow_array, offsets_of, text_buffers
from audiencekit.preparation.recordbits import Indices
from audiencekit.sources.separators import ONE_VALUE, SEMICOLON

TEXTS = pa.list_(pa.string())
# By the first byte of a text: space and all below it, and all that is not ASCII.
_MAY_BE_WHITE_SPACE: Final = np.array([byte <= 0x20 or byte >= 0x80 for byte in range(256)])


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
    parts = pc.split_pattern(cells, pattern=separator)
    texts = parts.flatten()
    return _lists_of(texts, np.arange(len(texts)), _lengths(parts), cells)


def divided(cells: pa.Array, separator: str | None) -> pa.Array:
    """The texts `cells` as lists, as `split_texts` gives them, but of those that are one value; lists as they are.

    Few cells have several values as a rule, and only these are split.
    """
    if separator is None or not pa.types.is_string(cells.type):
        return cells
    places = _places_with(cells, separator)
    chosen = cells.take(arrow_array(places))
    parts = pc.split_pattern(chosen, pattern=separator)
    if separator == SEMICOLON:
        parts = pc.if_else(pc.match_substring_regex(chosen, ONE_VALUE), _lists_of_one(chosen), parts)
    counts, is_divided = np.ones(len(cells), dtype=np.int64), np.zeros(len(cells), dtype=bool)
    counts[places], is_divided[places] = _lengths(parts), True
    texts, order = pa.concat_arrays([cells, parts.flatten()]), np.repeat(np.arange(len(cells)), counts)
    order[np.repeat(is_divided, counts)] = np.arange(len(cells), len(texts))
    return _lists_of(texts, order, counts, cells)


def _places_with(cells: pa.Array, separator: str) -> npt.NDArray[np.intp]:
    """The cells that may have `separator`: those with its first letter, no others, ascending."""
    offsets, data = text_buffers(cells)
    found = np.flatnonzero(data == ord(separator.strip(" ")[0]))
    cell = np.searchsorted(offsets, found, side="right") - 1
    return cell[np.diff(cell, prepend=-1) > 0]  # `numpy.unique` imports all of `numpy.ma`


def _lengths(lists: pa.Array) -> npt.NDArray[np.int32]:
    """How many values each has; a null none."""
    lengths: npt.NDArray[np.int32] = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    return lengths


def _lists_of_one(texts: pa.Array) -> pa.Array:
    places = np.arange(len(texts) + 1, dtype=np.int32)
    return pa.ListArray.from_arrays(arrow_array(places), texts, mask=texts.is_null())


def _lists_of(texts: pa.Array, order: Indices, counts: npt.NDArray[np.integer[Any]], cells: pa.Array) -> pa.Array:
    """Of each of `cells` the list of its texts, but for blank ones; null where it is null.

    They stand at the places `order` of `texts`, so many of each cell.
    """
    is_filled = ~_are_blank(texts)[order]
    owners = np.repeat(np.arange(len(cells)), counts)[is_filled]
    offsets = offsets_of(np.bincount(owners, minlength=len(cells)))
    return pa.ListArray.from_arrays(
        arrow_array(offsets), texts.take(arrow_array(order[is_filled])), mask=cells.is_null()
    )


def _are_blank(texts: pa.Array) -> Bools:
    if texts.null_count:
        texts = texts.fill_null("")  # whatever stands under it
    offsets, data = text_buffers(texts)
    blank: Bools = offsets[1:] == offsets[:-1]
    filled = np.flatnonzero(~blank)
    suspects = filled[_MAY_BE_WHITE_SPACE[data[offsets[filled]]]]
    trimmed = pc.utf8_trim_whitespace(texts.take(arrow_array(suspects)))
    blank[suspects] = pc.equal(trimmed, "").to_numpy(zero_copy_only=False)
    return blank
