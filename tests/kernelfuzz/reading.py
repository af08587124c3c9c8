"""Calls of the exports of `door/reading.rs`."""

from __future__ import annotations

import ctypes
import itertools
import json
import re
from typing import Any

from tests.kernelfuzz.drawing import Draw, Texts
from tests.kernelfuzz.layouts import (
    DONE,
    I32,
    Called,
    Library,
    Lines,
    Places,
    Pointer,
    ReadColumn,
    Shape,
    Size,
    Values,
    slice_of,
)


def _piece(draw: Draw) -> bytes:
    """Lines of cells, more or less."""
    if draw.often(0.1):
        return draw.bytes()
    letters, weights = (b"abc1", None) if draw.often(0.7) else (b'ab\xc3\xa4"\x00,', (9, 9, 3, 3, 1, 0.2, 0.3))

    def cell() -> bytes:
        return bytes(draw.chance.choices(letters, weights, k=draw.chance.randrange(12)))

    width, end = draw.chance.randint(1, 5), draw.chance.choice((b"\n", b"\r\n"))
    lines = [b",".join(cell() for _ in range(width)) + end for _ in range(draw.chance.randrange(60))]
    return b"".join(lines) + draw.chance.choice((b"", b"", b"a,b"))


def index_cells(draw: Draw, library: Library) -> Called:
    return _read_cells(draw, library, lies=False)


def copy_cells(draw: Draw, library: Library) -> Called:
    return _read_cells(draw, library, lies=True)


def _read_cells(draw: Draw, library: Library, *, lies: bool) -> Called:
    """Index a piece and copy out of it; with `lies` what was found there is told wrongly afterwards."""
    piece = _piece(draw)
    given, first = draw.slice(piece), piece.partition(b"\n")[0]
    width = first.count(b",") + 1 if draw.often(0.9) else draw.number("Q", 6)
    least, wanted = (width if draw.often(0.7) else draw.number("Q", width) for _ in range(2))
    shape, lines = Shape(ord(","), width, least, wanted, 100 if draw.often(0.9) else draw.number("Q", 200)), Lines()
    positions = [draw.number("Q", max(min(wanted, 99) - 1, 0)) for _ in range(draw.chance.randint(1, 3))]
    places, sizes = _places(draw, len(piece)), draw.room("Q", len(positions))
    room = ctypes.byref(places), ctypes.byref(draw.numbers("Q", positions)), Pointer(sizes)
    code = library.audiencekit_index_cells(ctypes.byref(given), ctypes.byref(shape), *room, ctypes.byref(lines))
    if code != DONE or not lines.count:
        return Called(code, 1)
    begins = list(draw.read("I", places.begins, min(lines.count, places.begin_count)))
    ends = list(draw.read("I", places.ends, min(lines.count * lines.cells, places.end_count)))
    bytes_of = list(draw.read("Q", sizes, len(positions)))
    if lies:
        _lie(draw, lines, [begins, ends], bytes_of)
    columns = [_room_for(draw, one, lines.count, size) for one, size in zip(positions, bytes_of, strict=True)]
    found = draw.numbers("I", begins), draw.numbers("I", ends), slice_of(draw, columns)
    told = ctypes.byref(given), Size(lines.cells), I32(lines.quotes)
    code = library.audiencekit_copy_cells(*told, *map(ctypes.byref, found))
    fits = all(one.position < lines.cells and one.offset_count == lines.count + 1 for one in columns)
    if lies or not fits or b'"' in piece or lines.apart:
        return Called(code, 1)
    rows = [line.split(b",") for line in re.split(rb"\r\n|\r|\n", piece) if line][: lines.count]
    right = all(_texts(draw, one) == [row[one.position] for row in rows] for one in columns)
    return Called(code, len(rows), right)


def _places(draw: Draw, piece_bytes: int) -> Any:
    """Room for what is noted, mostly as much as there must be."""
    lines, ends, apart = (
        count if draw.often(0.95) else draw.count() for count in (piece_bytes // 2 + 1, piece_bytes + 64, piece_bytes)
    )
    return Places(draw.room("I", lines), lines, draw.room("I", ends), ends, draw.room("I", 3 * apart), apart)


def _lie(draw: Draw, lines: Any, places: list[list[int]], sizes: list[int]) -> None:
    what = draw.chance.randrange(4)
    if what == 0:
        lines.count = min(draw.number("Q", 20), 10_000)
    elif what == 1:
        lied = draw.chance.choice(places)
        lied[draw.chance.randrange(len(lied))] = draw.number("I", lied[-1])
    elif what == 2:
        sizes[0] = draw.chance.randint(0, sizes[0])
    else:
        lines.quotes = draw.number("i", 1)


def _room_for(draw: Draw, position: int, lines: int, size: int) -> Any:
    offsets = lines + 1 if draw.often(0.99) else draw.count()
    return ReadColumn(position, draw.room("i", offsets), offsets, draw.room("B", size), size)


def _texts(draw: Draw, column: Any) -> list[bytes] | None:
    offsets = draw.read("i", column.offsets or 0, column.offset_count)
    if not all(0 <= begin <= end <= column.data_bytes for begin, end in itertools.pairwise(offsets)):
        return None
    bounds = itertools.pairwise(offsets)
    return [ctypes.string_at(column.data + begin, end - begin) if end > begin else b"" for begin, end in bounds]


def read_objects(draw: Draw, library: Library) -> Called:
    """Lines of objects, more or less."""
    lines = [_object(draw) for _ in range(draw.chance.randrange(1, 40))]
    text = b"\n".join(lines)
    count = len(lines) if draw.often(0.95) else draw.count()
    rooms = [_room_for_values(draw, count, len(text)) for _ in range(2 if draw.often(0.98) else 1)]
    given, keys, apart = draw.slice(text), Texts(draw.numbers("i", (0, 1, 2)), draw.slice(b"ab")), draw.room("B", count)
    told = ctypes.byref(given), ctypes.byref(keys), ctypes.byref(slice_of(draw, rooms))
    code = library.audiencekit_read_objects(*told, Pointer(apart), Size(count))
    fits = len(rooms) == 2 and all(
        (room.offset_count, room.filled_count, room.data_bytes) == (count + 1, count, len(text)) for room in rooms
    )
    if not fits or count > len(lines) or (text and not count):
        return Called(code, 1)
    is_apart = draw.read("B", apart, count)
    right = all(
        _is_right(line, [_value(draw, room, at) for room in rooms])
        for at, line in enumerate(lines[:count])
        if not is_apart[at]
    )
    return Called(code, count, right)


def _object(draw: Draw) -> bytes:
    values = (b'"x y"', b'"\xc3\xa4"', b"12", b"null", b"true", b'{"a":[]}', b'"\\n"', b"0.5", b'"\xff"', b"")
    pairs = [
        b'"' + draw.chance.choice(b"abc").to_bytes(1, "big") + b'":' + draw.chance.choice(values)
        for _ in range(draw.chance.randrange(4))
    ]
    line = b"{" + b",".join(pairs) + b"}"
    place = draw.chance.randrange(len(line))
    return line if draw.often(0.9) else (line[:place] + draw.bytes(2) + line[place:]).replace(b"\n", b"")


def _room_for_values(draw: Draw, lines: int, size: int) -> Any:
    offsets, filled = (count if draw.often(0.98) else draw.count() for count in (lines + 1, lines))
    return Values(draw.room("i", offsets), offsets, draw.room("B", filled), filled, draw.room("B", size), size)


def _value(draw: Draw, room: Any, at: int) -> bytes | None:
    begin, end = draw.read("i", room.offsets, at + 2)[at:]
    text = ctypes.string_at(room.data + begin, end - begin) if end > begin else b""
    return text if draw.read("B", room.filled, at + 1)[at] else None


def _is_right(line: bytes, found: list[bytes | None]) -> bool:
    read = json.loads(line, parse_int=str)
    return [None if value is None else value.encode() for value in map(read.get, "ab")] == found
