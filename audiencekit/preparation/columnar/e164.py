"""Numbers in E.164 as a column, written from digits."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .digits import Bools, Bytes, Digits, Places

_ZERO = np.uint8(ord("0"))


def write_numbers(
    digits: Digits, written: Bools, dropped: Places, calling_codes: npt.NDArray[np.int16], *, plus: bool
) -> Any:
    """For each row that is `written`: plus sign, calling code, digits without the first `dropped`; null for others."""
    heads, head_sizes = _heads(int(calling_codes.max(initial=0)), plus=plus)
    sizes = np.where(written, digits.counts - dropped + head_sizes[calling_codes], 0)
    offsets = np.zeros(len(sizes) + 1, dtype=np.int32)
    np.cumsum(sizes, out=offsets[1:])
    rows = np.flatnonzero(written)
    places, codes = offsets[:-1][rows], calling_codes[rows]
    text = np.empty(int(offsets[-1]), dtype=np.uint8)
    is_digit = np.ones(len(text), dtype=bool)
    for place in range(heads.shape[1]):
        at = places + np.int32(place)
        if place:
            inside = head_sizes[codes] > place
            at, codes, places = at[inside], codes[inside], places[inside]
        text[at] = heads[codes, place]
        is_digit[at] = False
    text[np.flatnonzero(is_digit)] = _kept(digits, written, dropped) + _ZERO
    nulls = pa.array(written).buffers()[1]
    return pa.StringArray.from_buffers(len(sizes), pa.py_buffer(offsets), pa.py_buffer(text), nulls)


def _heads(highest: int, *, plus: bool) -> tuple[Bytes, Places]:
    """What stands before the digits for each calling code up to `highest`, and its size."""
    texts = [f"{'+' if plus else ''}{code}".encode() for code in range(highest + 1)]
    sizes = np.array([len(text) for text in texts], dtype=np.int32)
    padded = b"".join(text.ljust(int(sizes.max())) for text in texts)
    return np.frombuffer(padded, dtype=np.uint8).reshape(len(texts), -1), sizes


def _kept(digits: Digits, written: Bools, dropped: Places) -> Bytes:
    """The digits that are written, one row behind the other."""
    keep = np.repeat(written, digits.counts)
    rows = np.flatnonzero(written)
    starts, left = digits.starts[rows], dropped[rows]
    for place in range(int(left.max(initial=0))):
        inside = left > place
        starts, left = starts[inside], left[inside]
        keep[starts + np.int32(place)] = False
    kept: Bytes = digits.values.take(np.flatnonzero(keep))
    return kept
