"""Calls of the exports of `door/writing.rs`."""

from __future__ import annotations

import ctypes

from tests.kernelfuzz.drawing import Draw, Slice
from tests.kernelfuzz.layouts import DIGEST_BYTES, DONE, Called, Field, Library, Part, Pointer, Size, slice_of


def _fields(draw: Draw, records: int) -> Slice:
    """Kinds of a batch: hashes, or texts as JSON writes them."""
    made = []
    for _ in range(draw.chance.randrange(4)):
        sizes = [draw.chance.choice((0, 1, 1, 2)) for _ in range(records)]
        lists, _ = draw.offsets(sizes)
        texts = [draw.chance.choice((b'"a"', b'"bcd"')) for _ in range(sum(sizes))] if draw.often(0.5) else None
        ends = draw.numbers("i", draw.offsets(list(map(len, texts)))[0]) if texts is not None else Slice()
        values = draw.bytes(DIGEST_BYTES * sum(sizes)) if texts is None else b"".join(texts)
        opening = draw.chance.choice((b'"e":[', b"", b"x" * 90))
        made.append(Field(draw.slice(opening), draw.numbers("i", lists), draw.slice(values), ends))
    return slice_of(draw, made)


def operations(draw: Draw, library: Library) -> Called:
    parts, users = [], 0
    for _ in range(draw.chance.randrange(3)):
        records = draw.count()
        places = draw.drawn("q", records, max(records - 1, 0))
        parts.append(Part(places, _fields(draw, records)))
        users += records
    size = draw.chance.choice((200_000, 200_000, draw.chance.randrange(9_000)))
    body, written = draw.room("B", size), Size()
    around = [ctypes.byref(draw.slice(draw.chance.choice((b"", b"{[", draw.bytes(40))))) for _ in range(2)]
    number = Size(draw.chance.choice((min(users, 3), draw.number("Q", max(users, 1)))))
    given = *around, number, ctypes.byref(slice_of(draw, parts)), ctypes.byref(written)
    code = library.audiencekit_operations(Pointer(body), Size(size), *given)
    return Called(code, users, written.value <= size if code == DONE else None)


def entry_sizes(draw: Draw, library: Library) -> Called:
    records = draw.count()
    room = records if draw.often(0.9) else draw.count()
    sizes, fields = draw.room("q", room), _fields(draw, records)
    return Called(library.audiencekit_entry_sizes(Pointer(sizes), Size(room), ctypes.byref(fields)), records)


def hex_lists(draw: Draw, library: Library) -> Called:
    sizes = [draw.chance.randrange(3) for _ in range(draw.count())]
    (lists, is_true), hashes = draw.offsets(sizes), draw.bytes(DIGEST_BYTES * sum(sizes))
    places = [draw.chance.randrange(len(sizes)) for _ in range(draw.chance.randrange(20))] if sizes else []
    if draw.often(0.1):
        places, is_true = [*places, draw.number("q", len(sizes))], False
    room = 2 * DIGEST_BYTES * (sum(sizes[place] for place in places) if is_true else draw.count())
    room, is_true = (room, is_true) if draw.often(0.9) else (draw.count(), False)
    ends, digits = draw.room("i", len(places) + 1), draw.room("B", room)
    given = draw.numbers("i", lists), draw.slice(hashes), draw.numbers("q", places)
    out = Pointer(ends), Pointer(digits), Size(room)
    code = library.audiencekit_hex_lists(*map(ctypes.byref, given), *out)
    if not is_true:
        return Called(code, len(places))
    chosen = [hashes[DIGEST_BYTES * lists[place] : DIGEST_BYTES * lists[place + 1]].hex().encode() for place in places]
    return Called(code, len(places), (ctypes.string_at(digits, room) if room else b"") == b"".join(chosen))
