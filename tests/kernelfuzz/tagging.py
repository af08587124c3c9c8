"""Calls of the exports of `door/tagging.rs`."""

from __future__ import annotations

import bisect
import ctypes
from collections import Counter

from tests.kernelfuzz.drawing import Draw, Slice
from tests.kernelfuzz.entries import draw_entries, in_pieces
from tests.kernelfuzz.layouts import (
    DIGEST_BYTES,
    DONE,
    I64,
    TAG_BYTES,
    U8,
    Buffers,
    Called,
    Library,
    Listed,
    PartOfSlots,
    Pointer,
    Size,
    Tagged,
    slice_of,
)


def halves(draw: Draw, library: Library) -> Called:
    count, mask = draw.count(), draw.bytes(16 if draw.often(0.95) else None)
    hashes = draw.bytes(DIGEST_BYTES * count + draw.chance.choice((0, 0, 0, 5)))
    room = count if draw.often(0.95) else draw.count()
    out = draw.room("B", TAG_BYTES * room)
    given = draw.slice(hashes), draw.slice(mask)
    code = library.audiencekit_halves(*map(ctypes.byref, given), Pointer(out), Size(room))
    if room != count or len(mask) != TAG_BYTES:
        return Called(code, count)
    firsts = [hashes[DIGEST_BYTES * row : DIGEST_BYTES * row + TAG_BYTES] for row in range(count)]
    expected = b"".join(bytes(one ^ two for one, two in zip(first, mask, strict=True)) for first in firsts)
    return Called(code, count, (ctypes.string_at(out, len(expected)) if expected else b"") == expected)


def add_up(draw: Draw, library: Library) -> Called:
    records, kinds, is_true, keys = draw.count(), [], True, 0
    for _ in range(draw.chance.randrange(4)):
        sizes = [draw.chance.choice((0, 1, 1, 2)) for _ in range(records)]
        offsets, one_true = draw.offsets(sizes, 3)
        kinds.append(draw.numbers("i", offsets))
        is_true, keys = is_true and one_true, keys + sum(sizes)
    tags, sums = draw.slice(draw.bytes(TAG_BYTES * keys), TAG_BYTES), draw.room("Q", 2 * records)
    given = ctypes.byref(tags), ctypes.byref(slice_of(draw, kinds))
    code = library.audiencekit_add_up(*given, Pointer(sums), Size(records))
    if not is_true:
        return Called(code, keys)
    halves = draw.read("Q", tags.data or 0, 2 * keys), draw.read("Q", sums, 2 * records)
    totals = [sum(half[place::2]) % 2**64 for half in halves for place in (0, 1)]
    return Called(code, keys, totals[:2] == totals[2:] if kinds else True)


def count(draw: Draw, library: Library) -> Called:
    slots = [draw.chance.choice((draw.number("I", 2**32 - 1), draw.chance.randrange(9))) for _ in range(draw.count())]
    size = 2 ** draw.chance.randrange(13) if draw.often(0.9) else draw.count()
    counters, least = draw.room("B", size), draw.chance.choice((1, 2, 3, 254, 255))
    bits = draw.chance.choice((0, 0, 1, 2, 32, 33))
    part = PartOfSlots(bits, draw.chance.randrange(4))
    is_new = draw.often(0.7)
    if is_new and size:
        ctypes.memset(counters, 0, size)
    out, found, table = draw.room("I", len(slots)), Size(), Slice(counters, size)
    given = *map(ctypes.byref, (draw.numbers("I", slots), part, table)), U8(least)
    code = library.audiencekit_count(*given, Pointer(out), ctypes.byref(found))
    if code != DONE or not is_new:
        return Called(code, len(slots))
    own = Counter(slot for slot in slots if slot >> 32 - bits == part.number)
    chosen = Counter(draw.read("I", out, found.value))
    frequent = {slot: times - least + 1 for slot, times in own.items() if times >= least}
    return Called(code, len(slots), Counter(frequent) <= chosen <= own)


def listed_slots(draw: Draw, library: Library) -> Called:
    listed = sorted({draw.number("I", 2**32 - 1) for _ in range(draw.count())})
    slots = [draw.chance.choice((draw.number("I", 2**32 - 1), *listed[:3])) for _ in range(draw.count())]
    bits, found, out = draw.chance.randrange(6), Size(), draw.room("q", len(slots))
    marks = bytearray(2 ** draw.chance.randrange(9))
    for slot in listed:
        marks[slot // 8 % len(marks)] |= 1 << slot % 8
    begins, is_true = [bisect.bisect_left(listed, part << 32 - bits) for part in range(2**bits + 1)], draw.often(0.9)
    if not is_true:
        marks, begins = bytearray(draw.bytes()), [draw.number("I", len(listed)) for _ in range(draw.count())]
    table = Listed(draw.numbers("I", listed), draw.slice(bytes(marks)), draw.numbers("I", begins))
    given = *map(ctypes.byref, (draw.numbers("I", slots), table)), Pointer(out), ctypes.byref(found)
    code = library.audiencekit_listed_slots(*given)
    if code != DONE or not is_true:
        return Called(code, len(slots))
    expected = tuple(place for place, slot in enumerate(slots) if slot in listed)
    return Called(code, len(slots), draw.read("q", out, found.value) == expected)


def sort(draw: Draw, library: Library) -> Called:
    tags, parts = draw.bytes(TAG_BYTES * draw.count()), draw.chance.choice((2, 4, 64, 256, 1, 3, 0))
    rows, bits = len(tags) // TAG_BYTES, parts.bit_length() - 1
    order, ends = draw.room("I", rows), draw.room("q", parts)
    given = ctypes.byref(draw.slice(tags, TAG_BYTES)), Pointer(order), Pointer(ends), Size(parts)
    code = library.audiencekit_sort(*given)
    if parts < 2 or parts & (parts - 1):
        return Called(code, rows, None)
    part = [int.from_bytes(tags[TAG_BYTES * row : TAG_BYTES * row + 8], "little") >> 64 - bits for row in range(rows)]
    expected = sorted(range(rows), key=part.__getitem__)
    last = [bisect.bisect_right(sorted(part), one) for one in range(parts)]
    return Called(
        code, rows, (draw.read("I", order, rows), draw.read("q", ends, parts)) == (tuple(expected), tuple(last))
    )


def spread(draw: Draw, library: Library) -> Called:
    rows, parts, room = draw.count(), draw.chance.randint(0, 5), draw.chance.randrange(20)
    records = draw.drawn("q", rows if draw.often(0.5) else 0, 1000)
    batch = Tagged(draw.slice(draw.bytes(TAG_BYTES * rows), TAG_BYTES), records, draw.number("q", 1000))
    order, ends = draw.drawn("I", rows, max(rows - 1, 0)), draw.drawn("q", parts, rows)
    starts, filled = draw.room("q", parts), draw.room("q", parts)
    for place in range(parts):
        for one, most in ((starts, rows), (filled, room)):
            I64.from_address(one + 8 * place).value = draw.number("q", most)
    count = parts if draw.often(0.95) else min(parts, draw.chance.randrange(6))
    buffers, full = Buffers(draw.room("I", 5 * room * count), room, filled, count), Size()
    given = *map(ctypes.byref, (batch, order, ends)), Pointer(starts), *map(ctypes.byref, (buffers, full))
    return Called(library.audiencekit_spread(*given), rows)


def repeated(draw: Draw, library: Library) -> Called:
    entries, found = draw_entries(draw, draw.count()), Size()
    room = len(entries) if draw.often(0.9) else draw.count()
    out = draw.room("I", 5 * room)
    given = ctypes.byref(in_pieces(draw, entries)), Pointer(out), Size(room)
    code = library.audiencekit_repeated(*given, ctypes.byref(found))
    if room < len(entries):
        return Called(code, len(entries))
    often = Counter(high for high, _, _ in entries)
    expected = sorted(entry for entry in entries if often[entry[0]] > 1)
    words = draw.read("I", out, 5 * found.value) if found.value <= room else ()
    read = [(a | b << 32, c | d << 32, e) for a, b, c, d, e in zip(*[iter(words)] * 5, strict=True)]
    return Called(code, len(entries), read == expected)


def likely(draw: Draw, library: Library) -> Called:
    rows, found = draw.count(), Size()
    hashes = draw.bytes(DIGEST_BYTES * rows)
    near, far = (draw.bytes(2 ** draw.chance.randrange(8) if draw.often(0.9) else None) for _ in "ab")
    room = rows if draw.often(0.9) else draw.count()
    out = draw.room("q", room)
    given = *(ctypes.byref(draw.slice(one)) for one in (hashes, near, far)), Pointer(out), Size(room)
    code = library.audiencekit_likely(*given, ctypes.byref(found))
    if code != DONE:
        return Called(code, rows)
    words = [[int.from_bytes(hashes[DIGEST_BYTES * row + at :][:4], "little") for at in (0, 4)] for row in range(rows)]
    expected = tuple(row for row, (one, two) in enumerate(words) if _is_set(near, one) and _is_set(far, two))
    return Called(code, rows, draw.read("q", out, found.value) == expected)


def _is_set(bits: bytes, number: int) -> bool:
    return bool(bits[number // 8 % len(bits)] >> number % 8 & 1)
