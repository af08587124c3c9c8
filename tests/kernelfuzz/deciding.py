"""Calls of the exports of `door/deciding.rs`."""

from __future__ import annotations

import ctypes
import hashlib
import re
from typing import Any

from tests.kernelfuzz.drawing import Column, Draw
from tests.kernelfuzz.layouts import (
    DIGEST_BYTES,
    DONE,
    I8,
    I32,
    PENDING,
    REASONS,
    UNDECIDED,
    VALID,
    Called,
    Decided,
    Letters,
    Library,
    Plans,
    Pointer,
    Size,
    is_utf8,
)

MOST_DISTINCT = 1_024


def _sha256(text: bytes) -> bytes:
    return hashlib.sha256(text).digest()


def hash(draw: Draw, library: Library) -> Called:  # noqa: A001
    column = draw.column()
    out = draw.room("B", DIGEST_BYTES * column.rows)
    code = library.audiencekit_hash(ctypes.byref(column.texts), Pointer(out))
    if column.values is None:
        return Called(code, column.rows)
    expected = b"".join(map(_sha256, column.values))
    return Called(code, column.rows, ctypes.string_at(out, len(expected)) == expected if expected else True)


def longest(draw: Draw, library: Library) -> Called:
    column, found, is_text = draw.column(), Size(), I32()
    code = library.audiencekit_longest(*map(ctypes.byref, (column.texts, found, is_text)))
    if column.values is None:
        return Called(code, column.rows)
    pieces = (*column.values, *column.others)
    expected = max(map(len, column.values), default=0) if all(map(is_utf8, pieces)) else None
    if not column.values:  # where there are none, only the data are looked at
        return Called(code, 0)
    return Called(code, column.rows, (found.value if is_text.value else None) == expected)


def _decided(draw: Draw, column: Column) -> tuple[Any, int, int]:
    codes, digests = draw.room("b", column.rows), draw.room("B", DIGEST_BYTES * column.rows)
    return Decided(codes, digests, (I8 * len(REASONS))(*REASONS)), codes, digests


def _signs(draw: Draw) -> Any:
    """A table of any size: a kernel asks it of each character that it is sure to have."""
    return draw.slice(draw.bytes() if draw.chance.random() < 0.5 else bytes(range(128)) * 512)


def _address(text: bytes) -> bytes:
    """`text` of ASCII as it is hashed when it is one, without a spreadsheet's marks."""
    trimmed = text.strip(b" \t\n\v\f\r").lower()
    formula = re.fullmatch(rb'="([^"]*)"', trimmed)
    if formula:
        return formula[1].strip(b" \t\n\v\f\r")
    return trimmed[1:].lstrip(b" \t\n\v\f\r") if trimmed.startswith(b"'") else trimmed


def emails(draw: Draw, library: Library) -> Called:
    column = draw.column()
    decided, codes, digests = _decided(draw, column)
    words = [draw.words() for _ in range(5)]
    folds = draw.numbers("q", [draw.number("q", 1 << 62) for _ in range(draw.chance.randrange(4))])
    letters = Letters(_signs(draw), *(draw.slice(draw.bytes()) for _ in range(2)), folds)
    code = library.audiencekit_emails(*map(ctypes.byref, (column.texts, *words, letters, decided)))
    if code != DONE or column.values is None:  # the closed lists may lie as well
        return Called(code, column.rows)
    found = draw.read("b", codes, column.rows)
    hashes = [ctypes.string_at(digests + DIGEST_BYTES * row, DIGEST_BYTES) for row in range(column.rows)]
    right = all(
        one in (VALID, UNDECIDED, PENDING, *REASONS)
        and (one != VALID or not text.isascii() or digest == _sha256(_address(text)))
        for one, text, digest in zip(found, column.values, hashes, strict=True)
    )
    return Called(code, column.rows, right)


def phones(draw: Draw, library: Library) -> Called:
    column, regions = draw.column(), draw.chance.randint(1, 9)
    decided = _decided(draw, column)[0]
    states = draw.chance.randint(1, 40)
    plans = Plans(
        draw.drawn("i", 16 * states, states), draw.drawn("q", states, 1 << draw.chance.choice((8, 24, 48, 62))),
        *(draw.drawn("i", count, states) for count in (regions, 1000)),
        draw.drawn("h", 1000, 999), draw.drawn("b", 16, 127),
        draw.words(), draw.words(), _signs(draw), *(draw.number("i", 16) for _ in range(3)),
    )  # fmt: skip
    given = column.texts, draw.drawn("i", column.rows, regions - 1), plans, decided
    code = library.audiencekit_phones(*map(ctypes.byref, given))
    return Called(code, column.rows)


def number(draw: Draw, library: Library) -> Called:
    column, count = draw.column(), ctypes.c_ssize_t()
    most = draw.chance.choice((MOST_DISTINCT, MOST_DISTINCT + 1, 3))
    numbers, firsts = draw.room("i", column.rows), draw.room("I", most)
    room = Pointer(numbers), Pointer(firsts), Size(most)
    code = library.audiencekit_number(ctypes.byref(column.texts), *room, ctypes.byref(count))
    if column.values is None:
        return Called(code, column.rows)
    distinct = list(dict.fromkeys(column.values))
    if len(distinct) > min(most, MOST_DISTINCT):
        return Called(code, column.rows, count.value == -1)
    expected = tuple(map(distinct.index, column.values)), tuple(map(column.values.index, distinct))
    found = draw.read("i", numbers, column.rows), draw.read("I", firsts, len(distinct))
    return Called(code, column.rows, count.value == len(distinct) and found == expected)


def keep_valid(draw: Draw, library: Library) -> Called:
    rows, kept = draw.count(), Size()
    codes = [draw.chance.choice((VALID, VALID, *REASONS, PENDING)) for _ in range(rows)]
    digests = draw.room("B", DIGEST_BYTES * rows)
    before = [ctypes.string_at(digests + DIGEST_BYTES * row, DIGEST_BYTES) for row in range(rows)]
    code = library.audiencekit_keep_valid(ctypes.byref(draw.numbers("b", codes)), Pointer(digests), ctypes.byref(kept))
    expected = b"".join(digest for digest, one in zip(before, codes, strict=True) if one == VALID)
    found = ctypes.string_at(digests, len(expected)) if expected else b""
    return Called(code, rows, (kept.value * DIGEST_BYTES, found) == (len(expected), expected))
