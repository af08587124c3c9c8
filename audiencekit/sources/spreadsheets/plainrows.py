"""Rows of a sheet as spreadsheet programs write them, read in bulk; of any others nothing is said."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow.compute as pc

from audiencekit.records.columns.arrays import arrow_array
from audiencekit.sources.spreadsheets.plainmarkup import (
    CLOSED,
    Bytes,
    Grammar,
    Places,
    Tags,
    digits_at,
    have,
    joined,
    runs_end,
    stand,
    texts_between,
    without_fonts,
)
from audiencekit.sources.spreadsheets.sheetcells import MAX_ROWS, MAX_SHEET_COLUMNS, CellColumn, CellType, SheetRows

_ROW, _CELL, _VALUE, _FORMULA, _INLINE, _TEXT, _RUN = range(1, 8)
_ROW_END, _CELL_END, _VALUE_END, _FORMULA_END, _INLINE_END, _TEXT_END, _RUN_END = range(8, 15)
_BETWEEN_CELLS: Final = (_CELL, _CELL + CLOSED, _ROW_END)
_BETWEEN_ROWS: Final = (_ROW, _ROW + CLOSED, 0)
_BEHIND_FORMULA: Final = (_VALUE, _VALUE + CLOSED, _CELL_END)
_BEHIND_TEXT: Final = (_RUN_END, _INLINE_END)
_GRAMMAR: Final = Grammar(
    {
        b"row": _ROW, b"c ": _CELL, b"c>": _CELL, b"c/>": _CELL, b"v>": _VALUE, b"v ": _VALUE, b"v/>": _VALUE,
        b"f>": _FORMULA, b"f ": _FORMULA, b"f/>": _FORMULA, b"is>": _INLINE, b"t>": _TEXT, b"t ": _TEXT, b"t/>": _TEXT,
        b"r>": _RUN,
        b"/row>": _ROW_END, b"/c>": _CELL_END, b"/v>": _VALUE_END, b"/f>": _FORMULA_END, b"/is>": _INLINE_END,
        b"/t>": _TEXT_END, b"/r>": _RUN_END,
    },
    {
        0: _BETWEEN_ROWS, _ROW_END: _BETWEEN_ROWS, _ROW + CLOSED: _BETWEEN_ROWS,
        _ROW: _BETWEEN_CELLS, _CELL_END: _BETWEEN_CELLS, _CELL + CLOSED: _BETWEEN_CELLS,
        _CELL: (_VALUE, _VALUE + CLOSED, _FORMULA, _FORMULA + CLOSED, _INLINE, _CELL_END),
        _FORMULA: (_FORMULA_END,), _FORMULA_END: _BEHIND_FORMULA, _FORMULA + CLOSED: _BEHIND_FORMULA,
        _VALUE: (_VALUE_END,), _VALUE_END: (_CELL_END,), _VALUE + CLOSED: (_CELL_END,),
        _INLINE: (_TEXT, _TEXT + CLOSED, _RUN), _RUN: (_TEXT, _TEXT + CLOSED), _RUN_END: (_RUN, _INLINE_END),
        _TEXT: (_TEXT_END,), _TEXT_END: _BEHIND_TEXT, _TEXT + CLOSED: _BEHIND_TEXT, _INLINE_END: (_CELL_END,),
    },
)  # fmt: skip
# An attribute that says where a row or a cell stands.
_PLACE: Final = r"\sr\s*="
_HIDDEN: Final = r"""\shidden\s*=\s*["'](?:1|true)["']"""
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


def plain_rows(piece: bytes, wanted: Container[int] | None, *, behind: int = 0) -> SheetRows | None:
    """The rows that `piece` is made of, `behind` the one with this number; None when they are not plain.

    They have the cells in the `wanted` columns, or all.
    """
    tags = _GRAMMAR.find(without_fonts(piece))
    if tags is None or not runs_end(tags, _RUN, _RUN_END):
        return None
    rows = np.flatnonzero((tags.codes == _ROW) | (tags.codes == _ROW + CLOSED))
    numbers = _numbers(tags, rows, behind)
    if numbers is None or not _ascend(numbers) or not 0 < numbers[0] <= numbers[-1] <= MAX_ROWS:
        return None
    return (
        _cells(tags, rows, numbers, wanted, hidden=_having(tags, rows, _HIDDEN) or 0) if _are_computed(tags) else None
    )


def _numbers(tags: Tags, rows: Places, behind: int) -> Places | None:
    """The numbers of the rows that begin at the tags `rows`; None where only some say it."""
    begins = tags.begins[rows]
    are_named = have(tags.buffer, begins + 4, b' r="')
    if are_named.any():
        numbers, ends = digits_at(tags.buffer, begins + 8, _ROW_DIGITS)
        return numbers if are_named.all() and stand(tags.buffer, ends, b'"') else None
    behind_name = tags.buffer[begins + 4]
    are_bare = (behind_name == ord(">")) | ((behind_name == ord("/")) & (tags.ends[rows] == begins + 5))
    are_sound = (are_bare | (behind_name == ord(" "))).all()
    return behind + 1 + np.arange(len(rows)) if are_sound and _having(tags, rows, _PLACE) == 0 else None


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


def _having(tags: Tags, places: Places, pattern: str) -> int | None:
    """How many of the tags at `places` have an attribute in which `pattern` is found; None where they are no text."""
    begins = texts_between(tags.buffer, tags.begins[places], tags.ends[places])
    return None if begins is None else int(pc.sum(pc.match_substring_regex(begins, pattern)).as_py() or 0)


@dataclass(frozen=True, slots=True, repr=False)
class _Values:
    """The tags behind which the values of cells stand, those of the cells, and all texts where some are in parts."""

    places: Places
    owners: Places
    texts: Any | None

    def texts_at(self, tags: Tags, at: Places) -> Any | None:
        return tags.texts_behind(self.places[at]) if self.texts is None else self.texts.take(arrow_array(at))


def _values(tags: Tags) -> _Values | None:
    """The values that are not empty."""
    is_cell = tags.codes == _CELL  # with something in it
    values = np.flatnonzero((tags.codes == _VALUE) | (tags.codes == _TEXT))
    values = values[tags.begins[values + 1] - tags.ends[values] > 1]
    owners = np.flatnonzero(is_cell)[np.cumsum(is_cell)[values] - 1]
    are_first = np.ones(len(owners), dtype=bool)
    are_first[1:] = owners[1:] > owners[:-1]
    if are_first.all():
        return _Values(values, owners, None)
    texts = tags.texts_behind(values)
    return None if texts is None else _Values(values[are_first], owners[are_first], joined(texts, owners))


def _cells(
    tags: Tags, rows: Places, numbers: Places, wanted: Container[int] | None, *, hidden: int
) -> SheetRows | None:
    values = _values(tags)
    if values is None:
        return None
    is_row = np.zeros(len(tags.codes), dtype=np.int64)
    is_row[rows] = 1
    rows_of_tags = np.cumsum(is_row) - 1
    row_of = rows_of_tags[values.owners]
    position, behind = _counted(tags, rows_of_tags, values.owners)
    if position is None:
        position, behind = _positions(tags.buffer, tags.begins[values.owners], numbers[row_of])
    if position is None or not _ascend(row_of * MAX_SHEET_COLUMNS + position):
        return None
    are_first = np.concatenate([[True], row_of[1:] > row_of[:-1]]) if len(row_of) else np.empty(0, dtype=bool)
    filled, row_of = row_of[are_first], np.cumsum(are_first) - 1
    columns = {}
    for place in np.flatnonzero(np.bincount(position)).tolist():
        if wanted is None or place in wanted:
            at = np.flatnonzero(position == place)
            column = _column(tags, values, at, behind[at], row_of[at])
            if column is None:
                return None
            columns[place] = column
    width = int(position.max()) + 1 if len(position) else 0
    return SheetRows(numbers[filled], columns, width=width, last=int(numbers[-1]), hidden=hidden)


def _counted(tags: Tags, rows_of_tags: Places, owners: Places) -> tuple[Places | None, Places]:
    """The columns of cells that stand one behind the other, and the places behind their names, which are none.

    None where any cell says its place.
    """
    behind = tags.begins[owners] + 2
    if not len(owners) or have(tags.buffer, behind[:1], b" r=").all():
        return None, behind
    cells = np.flatnonzero((tags.codes == _CELL) | (tags.codes == _CELL + CLOSED))
    if _having(tags, cells, _PLACE) != 0:
        return None, behind
    rows = rows_of_tags[cells]
    positions = np.arange(len(cells)) - np.searchsorted(rows, rows)
    fit = (positions < MAX_SHEET_COLUMNS).all()
    return (positions[np.searchsorted(cells, owners)] if fit else None), behind


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
        and stand(buffer, begins + 2, b' r="')
        and stand(buffer, ends, b'"')
        and (found == numbers).all()
        and (position < MAX_SHEET_COLUMNS).all()
    )
    return (position if is_plain else None), ends + 1


def _column(tags: Tags, values: _Values, of: Places, behind: Places, at: Places) -> CellColumn | None:
    """The cells `at` rows that have the values `of` a column, and whose tags go on at `behind`."""
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
    are_texts = tags.codes[values.places[of]] == _TEXT
    if not (behind == tags.ends[values.owners[of]]).all() or not (are_inline == are_texts).all():
        return None
    types[are_inline] = CellType.TEXT
    texts = values.texts_at(tags, of)
    return None if texts is None else CellColumn(at, types, styles, texts)


def _ascend(numbers: Places) -> bool:
    return bool((numbers[1:] > numbers[:-1]).all())
