"""Arrow columns of text, as `TextBatch` promises them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.records.batches import ROW, ColumnMapping
from audiencekit.records.columns.arrays import Bools, arrow_array, offsets_of, text_buffers
from audiencekit.records.record_bits import Indices
from audiencekit.sources.separators import ONE_VALUE, SEMICOLON

TEXTS = pa.list_(pa.string())
# By the first byte of a text: space and all below it, and the first bytes of white space that is not ASCII.
_WHITE_SPACE: Final = {character.encode()[0] for character in map(chr, range(0x80, 0xD800)) if character.isspace()}
_MAY_BE_WHITE_SPACE: Final = np.array([byte <= 0x20 or byte in _WHITE_SPACE for byte in range(256)])


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
    places = _places_with(cells, separator)
    return _lists_of(cells, places, pc.split_pattern(cells.take(arrow_array(places)), pattern=separator))


def divided(cells: pa.Array, separator: str | None) -> pa.Array:
    """The texts `cells` as lists, as `split_texts` gives them, but of those that are one value; lists as they are."""
    if separator is None or not pa.types.is_string(cells.type):
        return cells
    if separator != SEMICOLON:
        return split_texts(cells, separator)
    places = _places_with(cells, separator)
    chosen = cells.take(arrow_array(places))
    are_one = pc.fill_null(pc.match_substring_regex(chosen, ONE_VALUE), True).to_numpy(zero_copy_only=False)
    places = places[~are_one]
    return _lists_of(cells, places, pc.split_pattern(cells.take(arrow_array(places)), pattern=separator))


def _places_with(cells: pa.Array, separator: str) -> npt.NDArray[np.intp]:
    """The cells that may have `separator`: those with its first letter, no others, ascending."""
    offsets, data = text_buffers(cells)
    found = np.flatnonzero(data == (separator.strip(" ") or separator).encode()[0])
    cell = np.searchsorted(offsets, found, side="right") - 1
    return cell[np.diff(cell, prepend=-1) > 0]  # `numpy.unique` imports all of `numpy.ma`


def _lengths(lists: pa.Array) -> npt.NDArray[np.int32]:
    """How many values each has; a null none."""
    lengths: npt.NDArray[np.int32] = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    return lengths


def _lists_of(cells: pa.Array, places: Indices, parts: pa.Array) -> pa.Array:
    """Of each of `cells` the list of itself, of those at `places`, which are few as a rule, the list of `parts`.

    Without blank texts, and null where a cell is null.
    """
    texts = parts.flatten()
    are_filled = ~_are_blank(texts)
    owners = np.repeat(places, _lengths(parts))[are_filled]
    counts = (~_are_blank(cells)).astype(np.int64)
    counts[places] = 0
    counts += np.bincount(owners, minlength=len(cells))
    order, is_divided = np.repeat(np.arange(len(cells)), counts), np.zeros(len(cells), dtype=bool)
    is_divided[places] = True
    order[np.repeat(is_divided, counts)] = len(cells) + np.flatnonzero(are_filled)
    values = pa.concat_arrays([cells, texts]).take(arrow_array(order))
    return pa.ListArray.from_arrays(arrow_array(offsets_of(counts)), values, mask=cells.is_null())


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
