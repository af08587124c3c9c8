"""The digits of a column of phone numbers, read from its Arrow buffers, and how they were written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

Bools: TypeAlias = npt.NDArray[np.bool_]
Bytes: TypeAlias = npt.NDArray[np.uint8]
Places: TypeAlias = npt.NDArray[np.int32]

MAX_WRITTEN_BYTES: Final = 100  # as in identifiers/phone_number.py; only ASCII is read here
MIN_DIGITS: Final = 3  # phonenumbers reads two digits only where nothing stands between them
MAX_DIGITS: Final = 20  # international prefix, calling code, number; what is longer is left to the definition

_TWO_NUMBERS: Final = 14  # digits; from here on a slash may divide two numbers
_TWO_GROUPS: Final = 16  # digits; from here on a space may

_DIGIT, _PLUS, _SLASH, _DOT, _SPACE, _OTHER = (1 << bit for bit in range(6))
_ZERO: Final = ord("0")


def _marks() -> Bytes:
    """What each byte is. A tilde is not among the known ones: it may begin an extension."""
    marks = np.full(256, _OTHER, dtype=np.uint8)
    for sign, mark in {"+": _PLUS, "/": _SLASH, ".": _DOT, " ": _SPACE}.items():
        marks[ord(sign)] = mark
    for sign in "-()[]":
        marks[ord(sign)] = 0
    marks[_ZERO : _ZERO + 10] = _DIGIT
    return marks


_MARKS: Final = _marks()


@dataclass(frozen=True, slots=True, repr=False)
class Digits:
    """All digits of a column, one behind the other, and of each text where they begin and how many they are.

    `values` are 0 to 9, and some zeros behind the end, so that a look ahead stays inside. `is_read` says that the text
    is ASCII and holds nothing but digits and known punctuation, a plus only in front. The others hold only for what is
    read: `has_zeros` says that 00 is in front, `by_slash` and `by_space` that these may divide two numbers. Holds raw
    values.
    """

    values: Bytes
    starts: Places
    counts: Places
    is_read: Bools
    has_plus: Bools
    has_zeros: Bools
    has_dot: Bools
    by_slash: Bools
    by_space: Bools


def read_digits(texts: Any) -> Digits:
    """The digits of `texts` (pa.StringArray without nulls, trimmed). Holds raw values."""
    offsets, data = _buffers(texts)
    marks = np.append(_MARKS.take(data), np.uint8(0))
    firsts, sizes = offsets[:-1], np.diff(offsets)
    places = np.flatnonzero(marks == _DIGIT).astype(np.int32)
    bounds = _bounds(marks, offsets)
    starts, counts = bounds[:-1], np.diff(bounds)
    seen = np.where(sizes > 0, np.bitwise_or.reduceat(marks, firsts), 0) if len(firsts) else sizes
    has_plus = (seen & _PLUS) > 0
    is_read = (seen < _OTHER) & (sizes <= MAX_WRITTEN_BYTES) & (counts >= MIN_DIGITS) & (counts <= MAX_DIGITS)
    by_slash = ((seen & _SLASH) > 0) & (counts >= _TWO_NUMBERS)
    by_space = ((seen & _SPACE) > 0) & (counts >= _TWO_GROUPS)
    is_read &= ~has_plus | _is_plus_in_front(marks, data, firsts, has_plus)
    values = np.append(data.take(places) - np.uint8(_ZERO), np.zeros(MAX_DIGITS, dtype=np.uint8))
    has_zeros = _has_zeros_in_front(data, places, starts, firsts, is_read & ~has_plus)
    return Digits(values, starts, counts, is_read, has_plus, has_zeros, (seen & _DOT) > 0, by_slash, by_space)


def _buffers(texts: Any) -> tuple[Places, Bytes]:
    """Offsets that begin with 0, and the bytes of all texts."""
    _, offsets_buffer, data_buffer = texts.buffers()
    if not len(texts):
        return np.zeros(1, dtype=np.int32), np.zeros(0, dtype=np.uint8)
    size = texts.offset + len(texts) + 1
    offsets = np.frombuffer(offsets_buffer, dtype=np.int32, count=size)[texts.offset :]
    data = np.frombuffer(data_buffer, dtype=np.uint8) if data_buffer is not None else np.zeros(0, dtype=np.uint8)
    return offsets - offsets[0], data[offsets[0] : offsets[-1]]


def _bounds(marks: Bytes, offsets: Places) -> Places:
    """How many digits stand before each offset."""
    before = np.zeros(len(marks), dtype=np.int32)
    np.cumsum(marks[:-1] == _DIGIT, dtype=np.int32, out=before[1:])
    return before[offsets]


def _is_plus_in_front(marks: Bytes, data: Bytes, firsts: Places, has_plus: Bools) -> Bools:
    """Which texts have one plus, at their beginning or behind an opening bracket."""
    in_front = np.zeros(len(firsts), dtype=bool)
    rows = np.flatnonzero(has_plus)
    begin = firsts[rows]
    is_plus = marks == _PLUS
    bracketed = (data[begin] == ord("(")) & is_plus[begin + 1]
    in_front[rows] = is_plus[begin] | bracketed
    if np.count_nonzero(is_plus) != len(rows):
        in_front[rows] &= np.add.reduceat(is_plus, firsts, dtype=np.int32)[rows] == 1
    return in_front


def _has_zeros_in_front(data: Bytes, places: Places, starts: Places, firsts: Places, asked: Bools) -> Bools:
    """Which of the texts that are `asked` for begin with two zeros next to each other, perhaps in a bracket."""
    has_zeros = np.zeros(len(firsts), dtype=bool)
    rows = np.flatnonzero(asked)
    first = places[starts[rows]]
    rows, first = rows[data[first] == _ZERO], first[data[first] == _ZERO]
    follows = (data[first + 1] == _ZERO) & (first - firsts[rows] <= 1)
    bracketed = (first == firsts[rows]) | (data[firsts[rows]] == ord("("))
    has_zeros[rows] = follows & bracketed
    return has_zeros
