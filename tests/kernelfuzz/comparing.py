"""Calls of the exports of `door/comparing.rs`."""

from __future__ import annotations

import bisect
import ctypes
from typing import Any

from tests.kernelfuzz.drawing import Draw
from tests.kernelfuzz.entries import draw_entries, in_pieces
from tests.kernelfuzz.layouts import DONE, TAG_BYTES, Called, Counts, Horizon, Library, Members, Ordered, Pointer, Size


def _ordered(draw: Draw, kind: str) -> tuple[Any, list[tuple[int, int]], bool]:
    """Numbers by their halves, ascending and distinct, or not."""
    most = draw.chance.choice((2**64 - 1, 40, 2**20))
    pairs = sorted({(draw.chance.randint(0, most), draw.number(kind, 3)) for _ in range(draw.count())})
    is_true = draw.often(0.75)
    if not is_true:
        draw.chance.shuffle(pairs)
    highs, lows = [high for high, _ in pairs], [low for _, low in pairs]
    if draw.often(0.03) and lows:
        is_true = lows.pop() < 0
    return Ordered(draw.numbers("Q", highs), draw.numbers(kind, lows)), pairs, is_true


def _asked(draw: Draw, kind: str, pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    drawn = [(draw.number("Q", 2**64 - 1), draw.number(kind, 3)) for _ in range(draw.count())]
    return [draw.chance.choice(pairs) if pairs and draw.often(0.6) else one for one in drawn]


def find_marks(draw: Draw, library: Library) -> Called:
    ordered, pairs, is_true = _ordered(draw, "H")
    asked = _asked(draw, "H", pairs)
    room = len(asked) if draw.often(0.95) else draw.count()
    places, known = draw.room("q", room), draw.room("B", room)
    given = Ordered(draw.numbers("Q", [one for one, _ in asked]), draw.numbers("H", [two for _, two in asked])), ordered
    out = Pointer(places), Pointer(known), Size(room)
    code = library.audiencekit_find_marks(*map(ctypes.byref, given), *out)
    if not is_true or room != len(asked):
        return Called(code, room)
    expected = [(bisect.bisect_left(pairs, one), one in pairs) for one in asked]
    found = list(zip(draw.read("q", places, room), map(bool, draw.read("B", known, room)), strict=True))
    return Called(code, room, found == expected)


def prepare(draw: Draw, library: Library) -> Called:
    high, found = draw.drawn("Q", draw.count(), 2**64 - 1), Size()
    room = 2 * high.count + 2 if draw.often(0.9) else draw.count()
    begins = draw.room("I", room)
    code = library.audiencekit_prepare(ctypes.byref(high), Pointer(begins), Size(room), ctypes.byref(found))
    return Called(code, high.count, found.value <= room if code == DONE else None)


def find_tags(draw: Draw, library: Library) -> Called:
    ordered, pairs, is_true = _ordered(draw, "Q")
    room, count = draw.room("I", 2 * len(pairs) + 2), Size()
    code = library.audiencekit_prepare(
        ctypes.byref(ordered.high), Pointer(room), Size(2 * len(pairs) + 2), ctypes.byref(count)
    )
    begins = list(draw.read("I", room, count.value)) if code == DONE else []
    if draw.often(0.2) and begins:
        begins[draw.chance.randrange(len(begins))], is_true = draw.number("I", len(pairs)), False
    asked = _asked(draw, "Q", pairs)
    places = draw.room("q", len(asked))
    tags = draw.slice(b"".join(half.to_bytes(8, "little") for one in asked for half in one), TAG_BYTES)
    given = tags, ordered, draw.numbers("I", begins)
    code = library.audiencekit_find_tags(*map(ctypes.byref, given), Pointer(places), Size(len(asked)))
    if not is_true:
        return Called(code, len(asked))
    expected = tuple(pairs.index(one) if one in pairs else -1 for one in asked)
    return Called(code, len(asked), draw.read("q", places, len(asked)) == expected)


def compare(draw: Draw, library: Library) -> Called:
    entries, (marks, pairs, _) = draw_entries(draw, draw.count()), _ordered(draw, "H")
    days = draw.drawn("h", len(pairs) if draw.often(0.95) else draw.count(), 400)
    horizon, counts = Horizon(*(draw.number("q", 400) for _ in range(4)), draw.often(0.5)), Counts()
    room = len(entries) if draw.often(0.95) else draw.count()
    sent, gone = draw.room("q", room), draw.room("q", days.count)
    given = (
        in_pieces(draw, entries),
        draw.slice(draw.bytes(26 if draw.often(0.9) else None)),
        Members(marks, days),
        horizon,
    )
    out = Pointer(sent), Size(room), Pointer(gone), ctypes.byref(counts)
    code = library.audiencekit_compare(*map(ctypes.byref, given), *out)
    fits = counts.sent <= room and counts.gone <= days.count and counts.additions <= counts.wanted <= len(entries)
    return Called(code, len(entries), fits if code == DONE else None)
