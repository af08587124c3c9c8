"""The digits of a column of phone numbers, read from its Arrow buffers, and how they were written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.preparation.columnar.buffers import Bools, Bytes, Places, arrow_array, text_buffers

MAX_WRITTEN_BYTES: Final = 100  # as in identifiers/phone_number.py; only ASCII is read here
MIN_DIGITS: Final = 3  # phonenumbers reads two digits only where nothing stands beside them
MAX_DIGITS: Final = 30  # as `kernels/src/digits.rs`: two numbers without a sign between; the definition has longer ones
FRONT: Final = 4  # zeros before the first digit of the column, room for what is written there

_TWO_NUMBERS: Final = 14  # digits; from here on a slash may divide two numbers
TWO_GROUPS: Final = 16  # digits; from here on a space may

# The weight of a byte: one sum tells how many of each sort a text of MAX_WRITTEN_BYTES has. A byte that is not among
# the known ones is as bad as a plus too many; a tilde is none of these, for it may begin an extension.
_DIGIT, _PLUS, _DIVIDER, _DOT = 1, 1 << 7, 1 << 16, 1 << 23
_MAX_PLUSES: Final = 2  # in front; both are one to the definition
_OTHER: Final = (_MAX_PLUSES + 1) * _PLUS
_COUNT: Final = (1 << 7) - 1
_PLUS_COUNT: Final = (1 << 9) - 1
_ZERO: Final = ord("0")


def _weights() -> Any:
    weights = np.full(256, _OTHER, dtype=np.uint32)
    for signs, weight in {"+": _PLUS, "/ ": _DIVIDER, ".": _DOT, "-()[]": 0, "0123456789": _DIGIT}.items():
        weights[[ord(sign) for sign in signs]] = weight
    return weights


_WEIGHTS: Final = _weights()


@dataclass(frozen=True, slots=True, repr=False)
class Digits:
    """All digits of a column, one behind the other, and of each text where they begin and how many they are.

    `values` are 0 to 9, with zeros before the first (FRONT) and behind the last (MAX_DIGITS), so that a look beyond
    stays inside. `is_read` says that the text is ASCII and holds nothing but digits and known punctuation, pluses only
    in front. The others hold only for what is read: `has_zeros` says that 00 is in front, `may_be_two` that a slash or
    a space may divide two numbers. Holds raw values.
    """

    values: Bytes
    starts: Places
    counts: Places
    is_read: Bools
    has_plus: Bools
    has_zeros: Bools
    has_dot: Bools
    may_be_two: Bools

    def texts(self, rows: npt.NDArray[np.int64]) -> Any:
        """The digits of `rows` as a column of texts. Holds raw values."""
        starts, counts = self.starts.take(rows), self.counts.take(rows)
        offsets = np.zeros(len(rows) + 1, dtype=np.int32)
        np.cumsum(counts, dtype=np.int32, out=offsets[1:])
        shifted = np.arange(offsets[-1], dtype=np.int32) + np.repeat(starts - offsets[:-1], counts)
        data = self.values.take(shifted) + np.uint8(_ZERO)
        return pa.StringArray.from_buffers(len(rows), pa.py_buffer(offsets), pa.py_buffer(data))


def read_digits(texts: Any) -> Digits:
    """The digits of `texts` (pa.StringArray without nulls, trimmed); none of texts that are too long.

    Holds raw values.
    """
    offsets, data = text_buffers(texts)
    sizes = np.diff(offsets)
    if sizes.max(initial=0) > MAX_WRITTEN_BYTES:
        offsets, data = text_buffers(pc.if_else(arrow_array(sizes > MAX_WRITTEN_BYTES), _NOTHING, texts))
    if not len(data):
        return _no_digits(len(sizes))
    sums = _sums(offsets, data)
    counts = (sums & _COUNT).astype(np.int32)
    pluses, dividers = sums >> 7 & _PLUS_COUNT, sums >> 16 & _COUNT
    has_plus = pluses > 0
    first, second, third = (data.take(offsets[:-1] + place, mode="clip") for place in range(3))
    is_read = (counts >= MIN_DIGITS) | ((counts == MIN_DIGITS - 1) & (sizes == MIN_DIGITS - 1))
    is_read &= (counts <= MAX_DIGITS) & (pluses == _pluses_in_front(first, second, third))
    may_be_two = (dividers > 0) & (counts >= _TWO_NUMBERS)
    values, starts = _values(data, counts)
    has_zeros = is_read & ~has_plus & _has_zeros_in_front(first, second, third)
    return Digits(values, starts, counts, is_read, has_plus, has_zeros, sums >= _DOT, may_be_two)


_NOTHING: Final = pa.scalar("", pa.string())


def _no_digits(size: int) -> Digits:
    none = np.zeros(size, dtype=bool)
    places = np.zeros(size, dtype=np.int32)
    values = np.zeros(FRONT + MAX_DIGITS, dtype=np.uint8)
    return Digits(values, places + np.int32(FRONT), places, none, none, none, none, none)


def _sums(offsets: Places, data: Bytes) -> Any:
    """For each text the weights of its bytes together."""
    sums = _WEIGHTS.take(data)
    np.cumsum(sums, dtype=np.uint32, out=sums)
    before = sums.take(np.maximum(offsets - np.int32(1), 0))
    before[offsets == 0] = 0
    return np.diff(before)


def _values(data: Bytes, counts: Places) -> tuple[Bytes, Places]:
    starts = np.empty(len(counts) + 1, dtype=np.int32)
    starts[0] = FRONT
    np.cumsum(counts, dtype=np.int32, out=starts[1:])
    starts[1:] += FRONT
    digits = data - np.uint8(_ZERO)  # what is no digit is more than nine then
    values = np.zeros(int(starts[-1]) + MAX_DIGITS, dtype=np.uint8)
    values[FRONT : int(starts[-1])] = digits[digits < 10]
    return values, starts[:-1]


def _pluses_in_front(first: Bytes, second: Bytes, third: Bytes) -> Bytes:
    """How many pluses each text begins with, _MAX_PLUSES at most, perhaps behind an opening bracket."""
    has_bracket = (first == ord("(")) | (first == ord("["))
    has_one = np.where(has_bracket, second, first) == ord("+")
    has_two = has_one & (np.where(has_bracket, third, second) == ord("+"))
    pluses: Bytes = has_one.astype(np.uint8) + has_two
    return pluses


def _has_zeros_in_front(first: Bytes, second: Bytes, third: Bytes) -> Bools:
    """Which texts begin with two zeros next to each other, perhaps behind an opening bracket."""
    bracketed = (first == ord("(")) & (second == _ZERO) & (third == _ZERO)
    has_zeros: Bools = ((first == _ZERO) & (second == _ZERO)) | bracketed
    return has_zeros
