"""Rows of a sheet as spreadsheet programs write them, read in bulk; any others are left to `xml_rows`."""

from __future__ import annotations

import itertools
import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.errors import SourceRefused
from audiencekit.records.columns.arrays import arrow_array, list_array
from audiencekit.sources.excel.sheet_cells import MAX_ROWS, MAX_SHEET_COLUMNS, CellColumn, CellType, SheetRows

Bytes: TypeAlias = npt.NDArray[np.uint8]
Places: TypeAlias = npt.NDArray[np.int64]

CLOSED: Final = 32  # added to the code of a tag that closes itself
_CODES: Final = 64
_PADDING: Final = bytes(64)  # behind a piece: what is looked at beyond its last tag is nothing
_LARGEST_ASCII: Final = 0x7F
_ENTITY: Final = re.compile(r"&(?:(lt|gt|amp|quot|apos)|#(\d{1,7})|#x([0-9a-fA-F]{1,6}));|(&)")
# The font of a part of a text, as it stands in XML.
_FONT: Final = re.compile(rb'<rPr>(?:<[A-Za-z]+(?: [A-Za-z]+="[^"<>&]*")* ?/>)*</rPr>|<rPr ?/>')
_NAMED: Final = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}


@dataclass(frozen=True, slots=True, repr=False)
class Tags:
    """The tags of a piece: where each begins and ends, and its code. They are all of the piece, apart from texts."""

    buffer: Bytes
    begins: Places
    ends: Places
    codes: npt.NDArray[np.uint8]

    def texts_behind(self, places: Places) -> Any | None:
        """The texts between tags and those that follow, as a pa.StringArray; None where they are no text."""
        return texts_between(self.buffer, self.ends[places] + 1, self.begins[places + 1])


class Grammar:
    """Tags by how they begin, and which may follow which; 0 is the beginning and the end of a piece.

    Heads that end in `>` are whole tags, and known by their first two letters, or three, and their length.
    """

    def __init__(self, heads: Mapping[bytes, int], follows: Mapping[int, tuple[int, ...]]) -> None:
        self._heads = tuple(heads)
        self._numbers = np.zeros(65_536, dtype=np.uint8)  # of heads, from 1, by their first two letters
        self._others: list[tuple[int, int, int]] = []  # the first head with the letters of another, its third one, it
        for number, head in enumerate(heads, 1):
            letters = head[0] | head[1] << 8
            if first := int(self._numbers[letters]):
                self._others.append((first, head[2], number))
            else:
                self._numbers[letters] = number
        self._codes = np.array([0, *heads.values()], dtype=np.uint8)
        self._sizes = np.array([0, *(len(head) if head.endswith(b">") else 0 for head in heads)], dtype=np.int64)
        self._may_follow = np.zeros(_CODES * _CODES, dtype=bool)
        for code, others in follows.items():
            self._may_follow[[code * _CODES + other for other in others]] = True

    def find(self, piece: bytes) -> Tags | None:
        """The tags of `piece`; None when it is not plain. Its line ends become line feeds (XML 1.0, section 2.11)."""
        piece = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        buffer = np.frombuffer(piece + _PADDING, dtype=np.uint8)
        begins, ends = np.flatnonzero(buffer == ord("<")), np.flatnonzero(buffer == ord(">"))
        if not len(begins) or len(begins) != len(ends) or _is_strange(buffer[: len(piece)]):
            return None
        if not (begins < ends).all() or not (ends[:-1] < begins[1:]).all():
            return None
        numbers = self._numbers[buffer[begins + 1] | buffer[begins + 2].astype(np.uint16) << 8]
        for first, third, other in self._others:
            numbers[(numbers == first) & (buffer[begins + 3] == third)] = other
        if not numbers.all() or not self._begin_so(buffer, begins, ends, numbers):
            return None
        codes = self._codes[numbers] + np.where(buffer[ends - 1] == ord("/"), np.uint8(CLOSED), np.uint8(0))
        way = np.zeros(len(codes) + 2, dtype=np.uint16)
        way[1:-1] = codes
        return Tags(buffer, begins, ends, codes) if self._may_follow[way[:-1] * _CODES + way[1:]].all() else None

    def _begin_so(self, buffer: Bytes, begins: Places, ends: Places, numbers: npt.NDArray[np.uint8]) -> bool:
        """Whether the tags begin with their heads, and those with a complete head are not longer."""
        sizes = self._sizes[numbers]
        if not ((sizes == 0) | (sizes == ends - begins)).all():
            return False
        for number, head in enumerate(self._heads, 1):
            if len(head) > 2 and not head.endswith(b">"):
                places = begins[numbers == number] + 1
                if not stand(buffer, places + 2, head[2:]):
                    return False
        return True


def _is_strange(buffer: Bytes) -> bool:
    """Whether there is a letter that XML cannot hold."""
    low = buffer[buffer < ord(" ")]
    return bool(((low != ord("\n")) & (low != ord("\t"))).any())


def without_fonts(piece: bytes) -> bytes:
    """`piece` without the fonts of parts of texts, of which no text is."""
    return _FONT.sub(b"", piece) if b"<rPr" in piece else piece


def runs_end(tags: Tags, run: int, run_end: int) -> bool:
    """Whether each part of a text, from a tag `run` on, has one text and ends, and nothing else ends so."""
    runs = np.flatnonzero(tags.codes == run)
    if np.count_nonzero(tags.codes == run_end) != len(runs):
        return False
    return bool((tags.codes[runs + np.where(tags.codes[runs + 1] < CLOSED, 3, 2)] == run_end).all())


def joined(texts: Any, owners: Places) -> Any:
    """`texts` (a pa.StringArray), those in a row that have one of `owners` in common as one."""
    firsts = np.flatnonzero(np.concatenate([[True], owners[1:] > owners[:-1]]))
    counts = np.diff(np.append(firsts, len(owners)))
    return pc.binary_join(list_array(counts, texts), "")


def have(buffer: Bytes, places: Places, letters: bytes) -> Any:
    """Return for each place whether `letters` begin there."""
    found = buffer[places] == letters[0]
    for at in range(1, len(letters)):
        found &= buffer[places + at] == letters[at]
    return found


def stand(buffer: Bytes, places: Places, letters: bytes) -> bool:
    """Whether `letters` begin at all of `places`."""
    return bool(have(buffer, places, letters).all())


def digits_at(buffer: Bytes, places: Places, most: int) -> tuple[Places, Places]:
    """The numbers of up to `most` digits that begin at `places`, and where each ends; 0 where there is none."""
    values, ends = np.zeros(len(places), dtype=np.int64), places.copy()
    reading = np.ones(len(places), dtype=bool)
    for _ in range(most):
        digits = buffer[ends] - np.uint8(ord("0"))
        reading &= digits < 10
        if not reading.any():
            break
        values = np.where(reading, values * 10 + digits, values)
        ends += reading
    return values, ends


def texts_between(buffer: Bytes, begins: Places, ends: Places) -> Any | None:
    """The texts in `buffer` from each of `begins` to its end, without entities; None where they are no UTF-8."""
    # A text, what stands between it and the next, that text, and so on: Arrow copies every second one.
    offsets = np.empty(2 * len(begins), dtype=np.int32)
    offsets[::2], offsets[1::2] = begins, ends
    every = pa.StringArray.from_buffers(max(len(offsets) - 1, 0), pa.py_buffer(offsets), pa.py_buffer(buffer))
    found = every.take(arrow_array(np.arange(0, len(offsets), 2)))
    letters = np.frombuffer(found.buffers()[2] or b"", dtype=np.uint8)
    if len(letters) and letters.max() > _LARGEST_ASCII and not _is_text(found):
        return None
    return _without_entities(found) if (letters == ord("&")).any() else found


def rewritten(texts: Any, are_wanted: Any, rewrite: Any) -> Any:
    """`texts` (a pa.StringArray), those that `are_wanted` (a boolean pa.Array) changed by `rewrite`."""
    places = np.flatnonzero(are_wanted.to_numpy(zero_copy_only=False))
    changed = pa.array([rewrite(text) for text in texts.take(arrow_array(places)).to_pylist()], pa.string())
    return pc.replace_with_mask(texts, are_wanted, changed)


def _without_entities(texts: Any) -> Any | None:
    try:
        return rewritten(texts, pc.match_substring(texts, "&"), lambda text: _ENTITY.sub(_letter, text))
    except (ValueError, OverflowError):
        return None  # a parser says what is wrong


def _letter(found: re.Match[str]) -> str:
    named, decimal, hexadecimal, lone = found.groups()
    if lone:
        raise ValueError
    if named:
        return _NAMED[named]
    letter = chr(int(decimal) if decimal else int(hexadecimal, 16))
    if not letter.isprintable() and letter not in "\t\n\r\x85\u2028":
        raise ValueError
    return letter


def _is_text(texts: Any) -> bool:
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


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
    """Return the rows of `piece`, which follow the row `behind`; None if they are not plain.

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
    owners = cells[np.searchsorted(cells, np.sort(behind[~have_value])) - 1]
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
    """Return the columns of cells without names, counted from the first, and the places after the missing names.

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
    """Return the columns of cells, and the places after their names; None if a name is of a cell in another row."""
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
    """Return the cells of a column: the values `of` it, `at` these rows, with tags that continue at `behind`."""
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


MAX_UNIT_BYTES: Final = 16_777_216  # of XML
_MAX_HEAD_BYTES: Final = 1_048_576  # before the first unit
_STRANGE: Final = b"<!"  # a document type, a comment or the like
_UTF_8: Final = (
    rb"""(?:\xef\xbb\xbf)?\s*(?:<\?xml(?:(?!encoding)[^>])*(?:encoding=["'][Uu][Tt][Ff]-8["'][^>]*)?>)?\s*"""
)


# In front of the names of elements: programs made with the SDK of the format write `x:` there.
PREFIX: Final = rb"([A-Za-z][A-Za-z0-9]*:)?"


@dataclass(frozen=True, slots=True)
class MarkupForm:
    """The way of a part whose root is `root`: elements `unit` between `begin` and the end of the element `within`."""

    root: bytes
    begin: re.Pattern[bytes]
    unit: bytes
    within: bytes

    def head_of(self, data: bytes) -> tuple[bytes, bytes] | None:
        """The XML of `data` up to the first unit, when it is UTF-8, and the prefix of its names."""
        found = self.begin.search(data)
        if found is None or _STRANGE in data[: found.end()]:
            return None
        root = re.match(_UTF_8 + b"<" + PREFIX + self.root + rb"[\s>]", data)
        return (data[: found.end()], root[1] or b"") if root and root[1] == found[1] else None


class Units:
    """The `head`, and pieces of complete units, of a part in `blocks`; the rest is for a parser.

    Iterate over the pieces first. `rest` begins with `head`, so that it is sound by itself where the part is. A comment
    that holds the end of a unit is cut in two, neither of which is sound.
    """

    def __init__(self, blocks: Iterator[bytes], form: MarkupForm) -> None:
        self._blocks, self._form = blocks, form
        data = b""
        for block in blocks:
            data += block
            if form.begin.search(data) or len(data) > _MAX_HEAD_BYTES:
                break
        head = form.head_of(data)
        self.is_plain = head is not None
        self.head, self._prefix = head or (b"", b"")
        self._left = data[len(self.head) :]

    def __iter__(self) -> Iterator[bytes]:
        blocks = itertools.chain([b""], self._blocks) if self.is_plain else iter(())
        for block in blocks:
            data = self._left + block
            unit_end = self._closing(self._form.unit)
            last = data.rfind(unit_end)
            behind = 0 if last < 0 else last + len(unit_end)
            end = data.find(self._closing(self._form.within), behind)  # behind the last unit, or not yet there
            cut = max(end, behind)
            self._left = data[cut:]
            if data[:cut].strip():
                yield data[:cut]
            if end >= 0:
                return
            if len(self._left) > MAX_UNIT_BYTES:
                raise SourceRefused(
                    f"a row or a text of the workbook takes more than {MAX_UNIT_BYTES:,} bytes",
                    hint="save the sheet as CSV UTF-8",
                )

    def rest(self) -> Iterator[bytes]:
        """Return the XML after the pieces, with the head before it."""
        return itertools.chain([self.head, self._left], self._blocks)

    def alone(self, piece: bytes) -> Iterator[bytes]:
        """Return one piece as a complete document."""
        closing = b"" if self._form.within == self._form.root else self._closing(self._form.root)
        return iter((self.head, piece, self._closing(self._form.within) + closing))

    def unprefixed(self, piece: bytes) -> bytes:
        """`piece` without the prefix of its names; nothing where some have none, or another."""
        if not self._prefix:
            return piece
        opening, closing = b"<" + self._prefix, b"</" + self._prefix
        all_have_it = piece.count(opening) + piece.count(closing) == piece.count(b"<")
        return piece.replace(opening, b"<").replace(closing, b"</") if all_have_it else b""

    def _closing(self, name: bytes) -> bytes:
        return b"</" + self._prefix + name + b">"
