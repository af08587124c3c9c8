"""Columns of any Arrow type as the text columns of rows: for Parquet and data frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as pt

from audiencekit.errors import SourceRefused
from audiencekit.identifiers.kinds import Reason
from audiencekit.records.batches import ColumnMapping
from audiencekit.records.columns.arrays import arrow_array
from audiencekit.sources.arrow.bytehashes import as_digits
from audiencekit.sources.arrow.textcolumns import column_names, split_texts, text_columns, used_positions
from audiencekit.sources.arrow.types import (
    TextColumn,
    as_text,
    holds_objects,
    is_bytes,
    is_list,
    refusal_of,
    whole_numbers,
)
from audiencekit.sources.sampling import OBJECT_ROWS
from audiencekit.sources.unreadablerows import Faults

_OBJECT_BYTES: Final = 1_000_000  # of the first cells of a piece that are looked at for fields
_WRITE_TEXT: Final = "write it as a string column, or leave it out with `ignore=`"


def sampled_objects(columns: Iterable[Iterable[pa.Array]]) -> dict[int, list[object]]:
    """The first cells of the columns that hold objects, by position. Columns are given by their pieces."""
    return {place: found for place, pieces in enumerate(columns) if (found := _objects(pieces))}


def _objects(pieces: Iterable[pa.Array]) -> list[object]:
    """The first cells of a column that holds objects; none of one that Arrow cannot show: it is not read."""
    found: list[object] = []
    for array in pieces:
        rows = OBJECT_ROWS - len(found)
        if not holds_objects(array.type) or not rows:
            break
        with suppress(Exception):
            while array.slice(0, rows).nbytes > _OBJECT_BYTES:  # objects of Python take ten times as much
                rows //= 2
            found += array.slice(0, rows).to_pylist()
    return found


@dataclass(frozen=True, slots=True)
class TypedColumns:
    """The types of all columns by position, and what separates values within a cell.

    `whole` are the positions of floating-point columns whose first cells are whole numbers: pandas makes such columns
    of integers with a gap. They are read unless a later cell is none; other floating-point columns are refused.
    """

    types: tuple[pa.DataType, ...]
    split_cells: str | None
    whole: frozenset[int] = frozenset()

    def check(self, mapping: ColumnMapping) -> None:
        """Raises SourceRefused for mapped columns that are no text."""
        names = column_names(mapping)
        single = {place for place, _ in mapping.single.values()}
        for place in used_positions(mapping):
            why = None if place in self.whole else refusal_of(self.types[place])
            if why is not None and not (place in single and pt.is_boolean(self.types[place])):
                raise SourceRefused(
                    f"the column {names[place]} {why}",
                    column=names[place],
                    hint=_WRITE_TEXT,
                )
        for place in single:
            if is_list(self.types[place]):
                raise SourceRefused(f"the column {names[place]} holds several values a row", column=names[place])

    def to_text(
        self, arrays: Mapping[int, pa.Array], rows: npt.NDArray[np.int64], mapping: ColumnMapping, faults: Faults
    ) -> pa.RecordBatch:
        """The sound ones of `rows`, whose cells stand in `arrays` by position; the others are noted in `faults`.

        Bytes are text, but in columns that are hashed they are what the digits stand for. Raises SourceRefused for
        floating-point numbers that are not whole.
        """
        arrays = {**arrays, **self._whole_numbers(arrays, column_names(mapping))}
        hashed = {column.position for column in mapping.columns if column.hashed}
        digits = {place: as_digits(arrays[place]) for place in hashed if is_bytes(arrays[place].type)}
        read = {place: as_text(digits.get(place, arrays[place])) for place in used_positions(mapping)}
        sound = _sound_rows(read, rows, column_names(mapping), faults)
        texts = {place: column.array for place, column in read.items()}
        for place in {column.position for column in mapping.columns} if self.split_cells else ():
            if not is_list(texts[place].type):
                texts[place] = split_texts(texts[place], self.split_cells or "")
        whole = text_columns(arrow_array(rows), texts, mapping)
        return whole if sound.all() else whole.filter(arrow_array(sound))

    def _whole_numbers(self, arrays: Mapping[int, pa.Array], names: Mapping[int, str]) -> dict[int, pa.Array]:
        found = {}
        for place in self.whole & names.keys():
            found[place] = whole_numbers(arrays[place])
            if found[place] is None:
                raise SourceRefused(
                    f"the column {names[place]} holds floating-point numbers that are not whole, or too large to have"
                    " all their digits",
                    column=names[place],
                    hint=_WRITE_TEXT,
                )
        return found


def _sound_rows(
    read: dict[int, TextColumn], rows: npt.NDArray[np.int64], names: dict[int, str], faults: Faults
) -> npt.NDArray[np.bool_]:
    """One True for each row without a fault; the others are noted, in row order and once each."""
    sound = np.ones(len(rows), dtype=bool)
    found: dict[int, tuple[Reason, str]] = {}
    for place, column in read.items():
        for reason, bad in ((Reason.ENCODING, column.broken), (Reason.TOO_LARGE, column.too_large)):
            sound &= ~bad
            for at in np.flatnonzero(bad):
                found.setdefault(int(rows[at]), (reason, names[place]))
    for row in sorted(found):
        faults.add(row, *found[row])
    return sound
