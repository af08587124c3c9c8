"""Lines of NDJSON as rows: whole columns where the kernel is certain, the other lines one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.identifiers.kinds import Reason
from audiencekit.kernels.library import kernels
from audiencekit.limits import MAX_CELL_BYTES
from audiencekit.records.batches import ColumnMapping
from audiencekit.records.columns.arrays import arrow_array
from audiencekit.sources.arrow.textcolumns import TEXTS, column_names, split_texts, text_columns, used_positions
from audiencekit.sources.jsonlines.jsonobjects import NotText, Texts, read_object, texts_of
from audiencekit.sources.jsonlines.objectkernels import ObjectKernels
from audiencekit.sources.unreadablerows import Faults

BYTES_PER_LETTER: Final = 4
Rows: TypeAlias = tuple[npt.NDArray[np.int64], dict[int, Any]]  # their numbers, and their cells by position
Read: TypeAlias = tuple[dict[int, Any], npt.NDArray[np.bool_]]  # cells by position; the lines that are apart


class RowReader:
    """Reads the used cells of lines, and notes the others as faults."""

    def __init__(self, keys: tuple[str, ...], mapping: ColumnMapping, split_cells: str | None) -> None:
        names = column_names(mapping)
        single = {place for place, _ in mapping.single.values()}
        self._split_cells = split_cells
        self._identifiers = {column.position for column in mapping.columns}
        self._places = used_positions(mapping)
        self._wanted = [(keys[place], names[place], place in single) for place in self._places]

    def rows(self, numbers: npt.NDArray[np.int64], lines: list[bytes | None], faults: Faults) -> Iterator[Rows]:
        """The rows of some lines: those that are read at once, then the others, read with care."""
        arrays, apart = _none_of(lines) if self._split_cells is not None else self._texts(lines)
        if not apart.any():
            yield numbers, arrays
            return
        if not apart.all():
            yield numbers[~apart], {place: cells.filter(arrow_array(~apart)) for place, cells in arrays.items()}
        chosen = ((int(numbers[at]), lines[at]) for at in np.flatnonzero(apart))
        yield self._careful(chosen, faults)

    def _careful(self, lines: Iterable[tuple[int, bytes | None]], faults: Faults) -> Rows:
        """The sound rows of numbered lines; the others are noted."""
        kept: list[tuple[int, list[Texts]]] = []
        for row, line in lines:
            cells = self._cells(line)
            if isinstance(cells, list):
                kept.append((row, cells))
            else:
                faults.add(row, *cells)
        arrays = {
            place: _array([cells[at] for _, cells in kept], self._split_cells if place in self._identifiers else None)
            for at, place in enumerate(self._places)
        }
        return np.array([row for row, _ in kept], dtype=np.int64), arrays

    def _texts(self, lines: list[bytes | None]) -> Read:
        """The cells by position, and which of the lines call for a careful look: their cells mean nothing."""
        keys = [key for key, *_ in self._wanted]
        if compiled := kernels(ObjectKernels):
            arrays, apart = compiled.read_objects([line or b"" for line in lines], keys)
            for cells in arrays:
                if _longest(cells) > MAX_CELL_BYTES:
                    apart |= _are_too_large(cells)
            return dict(zip(self._places, arrays, strict=True)), apart
        found = [None if line is None else read_object(line) for line in lines]
        texts = [_plain_texts([one.get(key) if isinstance(one, dict) else None for one in found]) for key in keys]
        if any(cells is None for cells in texts) or not all(isinstance(one, dict) for one in found):
            return _none_of(lines)
        return dict(zip(self._places, texts, strict=True)), np.zeros(len(lines), dtype=bool)

    def _cells(self, line: bytes | None) -> list[Texts] | tuple[Reason, str | None]:
        """One cell for each used column, in their order; else a reason and the shown name of the column at fault."""
        if line is None:
            return Reason.TOO_LARGE, None
        found = read_object(line)
        if isinstance(found, Reason):
            return found, None
        cells: list[Texts] = []
        for key, name, is_single in self._wanted:
            if is_single and isinstance(found.get(key), bool):
                cells.append(str(found[key]).lower())  # as a consent may be written
                continue
            try:
                cell = texts_of(found, key, line)
            except NotText:
                return Reason.RAGGED, name
            if is_single and isinstance(cell, list):
                return Reason.RAGGED, name
            if cell is not None and _is_too_large(cell):
                return Reason.TOO_LARGE, name
            cells.append(cell)
        return cells


def joined(pieces: list[Rows], mapping: ColumnMapping) -> pa.RecordBatch:
    """The rows of `pieces` in their order, as columns of text, or of lists where one is among the cells."""
    numbers = np.concatenate([rows for rows, _ in pieces])
    arrays = {place: _concatenated([cells[place] for _, cells in pieces]) for place in used_positions(mapping)}
    if (np.diff(numbers) < 0).any():
        order = np.argsort(numbers)
        numbers, arrays = numbers[order], {place: cells.take(arrow_array(order)) for place, cells in arrays.items()}
    return text_columns(arrow_array(numbers), arrays, mapping)


def _plain_texts(cells: list[Any]) -> pa.Array | None:
    """Texts and nulls of bearable size as a column; None when something else is among them."""
    try:
        array = pa.array(cells, pa.string())
    except pa.ArrowException:
        return None  # it quotes a cell
    return array if _longest(array) <= MAX_CELL_BYTES else None


def _none_of(lines: Sequence[object]) -> Read:
    return {}, np.ones(len(lines), dtype=bool)


def _longest(texts: pa.Array) -> int:
    longest: int = pc.max(pc.binary_length(texts)).as_py() or 0
    return longest


def _are_too_large(texts: pa.Array) -> npt.NDArray[np.bool_]:
    sizes: npt.NDArray[np.int32] = pc.fill_null(pc.binary_length(texts), 0).to_numpy(zero_copy_only=False)
    return sizes > MAX_CELL_BYTES


def _concatenated(parts: list[pa.Array]) -> pa.Array:
    """All of them in one column, of lists where one of them is."""
    has_lists = any(pa.types.is_list(part.type) for part in parts)
    return pa.concat_arrays(list(map(_as_lists, parts)) if has_lists else parts)


def _as_lists(cells: pa.Array) -> pa.Array:
    """Each text as a list of its own, null as null; lists as they are."""
    if pa.types.is_list(cells.type):
        return cells
    places = np.arange(len(cells) + 1, dtype=np.int32)
    return pa.ListArray.from_arrays(arrow_array(places), cells, mask=cells.is_null())


def _is_too_large(cell: str | list[str | None]) -> bool:
    if isinstance(cell, list):
        return any(_is_too_large(part) for part in cell if part is not None)
    return len(cell) * BYTES_PER_LETTER > MAX_CELL_BYTES and len(cell.encode()) > MAX_CELL_BYTES


def _array(cells: list[Any], separator: str | None) -> pa.Array:
    """A column as strings, or as lists when a cell is one or `separator` divides them."""
    if separator is None and not any(isinstance(cell, list) for cell in cells):
        return pa.array(cells, pa.string())
    if separator is None:
        return pa.array([[cell] if isinstance(cell, str) else cell for cell in cells], TEXTS)
    joined = split_texts(
        pa.array([cell if isinstance(cell, str) else None for cell in cells], pa.string()), separator
    ).to_pylist()
    pairs = zip(cells, joined, strict=True)
    return pa.array([cell if isinstance(cell, list) else parts for cell, parts in pairs], TEXTS)
