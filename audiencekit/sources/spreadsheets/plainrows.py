"""Rows of a sheet as spreadsheet programs write them, read in bulk; of any others nothing is said."""

from __future__ import annotations

from collections.abc import Container
from typing import Final

import numpy as np
import pyarrow.compute as pc

from audiencekit.sources.spreadsheets.plainmarkup import (
    CLOSED,
    Bytes,
    Grammar,
    Places,
    Tags,
    digits_at,
    have,
    stand,
    texts_between,
)
from audiencekit.sources.spreadsheets.sheetcells import MAX_ROWS, MAX_SHEET_COLUMNS, CellColumn, CellType, SheetRows

_ROW, _CELL, _VALUE, _FORMULA, _INLINE, _TEXT = range(1, 7)
_ROW_END, _CELL_END, _VALUE_END, _FORMULA_END, _INLINE_END, _TEXT_END = range(7, 13)
_BETWEEN_CELLS: Final = (_CELL, _CELL + CLOSED, _ROW_END)
_BETWEEN_ROWS: Final = (_ROW, _ROW + CLOSED, 0)
_BEHIND_FORMULA: Final = (_VALUE, _VALUE + CLOSED, _CELL_END)
_GRAMMAR: Final = Grammar(
    {
        b"row ": _ROW, b"c ": _CELL, b"v>": _VALUE, b"v ": _VALUE, b"v/>": _VALUE, b"f>": _FORMULA, b"f ": _FORMULA,
        b"f/>": _FORMULA, b"is>": _INLINE, b"t>": _TEXT, b"t ": _TEXT, b"t/>": _TEXT,
        b"/row>": _ROW_END, b"/c>": _CELL_END, b"/v>": _VALUE_END, b"/f>": _FORMULA_END, b"/is>": _INLINE_END,
        b"/t>": _TEXT_END,
    },
    {
        0: _BETWEEN_ROWS, _ROW_END: _BETWEEN_ROWS, _ROW + CLOSED: _BETWEEN_ROWS,
        _ROW: _BETWEEN_CELLS, _CELL_END: _BETWEEN_CELLS, _CELL + CLOSED: _BETWEEN_CELLS,
        _CELL: (_VALUE, _VALUE + CLOSED, _FORMULA, _FORMULA + CLOSED, _INLINE, _CELL_END),
        _FORMULA: (_FORMULA_END,), _FORMULA_END: _BEHIND_FORMULA, _FORMULA + CLOSED: _BEHIND_FORMULA,
        _VALUE: (_VALUE_END,), _VALUE_END: (_CELL_END,), _VALUE + CLOSED: (_CELL_END,),
        _INLINE: (_TEXT, _TEXT + CLOSED), _TEXT: (_TEXT_END,), _TEXT_END: (_INLINE_END,),
        _TEXT + CLOSED: (_INLINE_END,), _INLINE_END: (_CELL_END,),
    },
)  # fmt: skip
_ROW_DIGITS: Final = 7
_STYLE_DIGITS: Final = 6
_INLINE_TYPE: Final = len(CellType)
# Types by the first two letters that stand for them in XML, and how many letters there are in all.
_TYPES: Final = {
    b's"': (CellType.SHARED, 1), b"st": (CellType.TEXT, 3), b"in": (_INLINE_TYPE, 9), b'n"': (CellType.NUMBER, 1),
    b'b"': (CellType.BOOLEAN, 1), b'e"': (CellType.ERROR, 1), b'd"': (CellType.DATE, 1),
}  # fmt: skip
_TYPE_OF: Final = np.zeros(65_536, dtype=np.uint8)
_LENGTH_OF: Final = np.zeros(65_536, dtype=np.int64)
for _letters, (_type, _length) in _TYPES.items():
    _TYPE_OF[_letters[0] | _letters[1] << 8], _LENGTH_OF[_letters[0] | _letters[1] << 8] = _type, _length


def plain_rows(piece: bytes, wanted: Container[int] | None) -> SheetRows | None:
    """The rows that `piece` is made of, with the cells in the `wanted` columns or all; None when they are not plain."""
    tags = _GRAMMAR.find(piece)
    if tags is None:
        return None
    rows = np.flatnonzero((tags.codes == _ROW) | (tags.codes == _ROW + CLOSED))
    begins = tags.begins[rows]
    if not stand(tags.buffer, begins + 5, b'r="'):
        return None
    numbers, ends = digits_at(tags.buffer, begins + 8, _ROW_DIGITS)
    if not stand(tags.buffer, ends, b'"') or not _ascend(numbers) or not 0 < numbers[0] <= numbers[-1] <= MAX_ROWS:
        return None
    return _cells(tags, rows, numbers, wanted, hidden=_hidden(tags, rows)) if _are_computed(tags) else None


def _are_computed(tags: Tags) -> bool:
    """Whether each formula has a value, or comes to an empty text."""
    opened, closed = np.flatnonzero(tags.codes == _FORMULA), np.flatnonzero(tags.codes == _FORMULA + CLOSED)
    behind = np.concatenate([opened + 2, closed + 1])
    have_value = (tags.codes[behind] == _VALUE) & (tags.begins[behind + 1] - tags.ends[behind] > 1)
    if have_value.all():
        return True
    cells = np.flatnonzero(tags.codes == _CELL)
    owners = cells[np.searchsorted(cells, behind[~have_value]) - 1]
    begins = texts_between(tags.buffer, tags.begins[owners], tags.ends[owners])
    return begins is not None and bool(pc.all(pc.match_substring(begins, ' t="str"')).as_py())


def _hidden(tags: Tags, rows: Places) -> int:
    """How many of the tags `rows` say that their row is hidden."""
    begins = texts_between(tags.buffer, tags.begins[rows], tags.ends[rows])
    return 0 if begins is None else int(pc.sum(pc.match_substring(begins, ' hidden="1"')).as_py() or 0)


def _cells(
    tags: Tags, rows: Places, numbers: Places, wanted: Container[int] | None, *, hidden: int
) -> SheetRows | None:
    is_cell = tags.codes == _CELL  # with something in it
    values = np.flatnonzero((tags.codes == _VALUE) | (tags.codes == _TEXT))
    values = values[tags.begins[values + 1] - tags.ends[values] > 1]  # with a text that is not empty
    owners = np.flatnonzero(is_cell)[np.cumsum(is_cell)[values] - 1]
    is_row = np.zeros(len(tags.codes), dtype=np.int64)
    is_row[rows] = 1
    row_of = np.cumsum(is_row)[owners] - 1
    position, behind = _positions(tags.buffer, tags.begins[owners], numbers[row_of])
    if position is None or not _ascend(row_of * MAX_SHEET_COLUMNS + position):
        return None
    are_first = np.concatenate([[True], row_of[1:] > row_of[:-1]]) if len(row_of) else np.empty(0, dtype=bool)
    filled, row_of = row_of[are_first], np.cumsum(are_first) - 1
    columns = {}
    for place in np.flatnonzero(np.bincount(position)).tolist():
        if wanted is None or place in wanted:
            at = np.flatnonzero(position == place)
            column = _column(tags, values[at], owners[at], behind[at], row_of[at])
            if column is None:
                return None
            columns[place] = column
    width = int(position.max()) + 1 if len(position) else 0
    return SheetRows(numbers[filled], columns, width=width, last=int(numbers[-1]), hidden=hidden)


def _positions(buffer: Bytes, begins: Places, numbers: Places) -> tuple[Places | None, Places]:
    """The columns of cells, and the places behind their names; None where a name is not that of a cell in its row."""
    letters = [buffer[begins + 6 + at] - np.uint8(ord("A")) for at in range(3)]
    are_letters = [letter < 26 for letter in letters]
    are_letters[2] &= are_letters[1]
    position = letters[0].astype(np.int64)
    for letter, is_letter in zip(letters[1:], are_letters[1:], strict=True):
        if is_letter.any():
            position = np.where(is_letter, (position + 1) * 26 + letter, position)
    found, ends = digits_at(buffer, begins + 7 + are_letters[1] + are_letters[2], _ROW_DIGITS)
    is_plain = (
        are_letters[0].all()
        and stand(buffer, begins + 3, b'r="')
        and stand(buffer, ends, b'"')
        and (found == numbers).all()
        and (position < MAX_SHEET_COLUMNS).all()
    )
    return (position if is_plain else None), ends + 1


def _column(tags: Tags, values: Places, owners: Places, behind: Places, at: Places) -> CellColumn | None:
    """The cells whose tags are `owners` and go on at `behind`, and whose values stand behind the tags `values`."""
    buffer = tags.buffer
    styles = np.zeros(len(at), dtype=np.int32)
    has_style = np.flatnonzero(have(buffer, behind, b" s"))
    if len(has_style):
        styles[has_style], ends = digits_at(buffer, behind[has_style] + 4, _STYLE_DIGITS)
        if not stand(buffer, ends, b'"') or not stand(buffer, behind[has_style] + 2, b'="'):
            return None
        behind = behind.copy()
        behind[has_style] = ends + 1
    types = np.full(len(at), CellType.NUMBER, dtype=np.uint8)
    has_type = np.flatnonzero(have(buffer, behind, b" t"))
    if len(has_type):
        begins = behind[has_type] + 4
        letters = buffer[begins] | buffer[begins + 1].astype(np.uint16) << 8
        if not stand(buffer, begins - 2, b'="') or not _LENGTH_OF[letters].all():
            return None
        behind = behind.copy()
        types[has_type], behind[has_type] = _TYPE_OF[letters], begins + _LENGTH_OF[letters] + 1
    are_inline = types == _INLINE_TYPE
    if not (behind == tags.ends[owners]).all() or not (are_inline == (tags.codes[values] == _TEXT)).all():
        return None
    types[are_inline] = CellType.TEXT
    texts = tags.texts_behind(values)
    return None if texts is None else CellColumn(at, types, styles, texts)


def _ascend(numbers: Places) -> bool:
    return bool((numbers[1:] > numbers[:-1]).all())
