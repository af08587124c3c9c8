"""Numbers in E.164 as a column, written from digits."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audiencekit.preparation.columnar.buffers import Bools, Bytes, Places, arrow_array
from audiencekit.preparation.columnar.phones.digits import FRONT, Digits

# While it is written a number has so many bytes: plus sign and calling code end where the first four do, digits follow.
# A valid number has 17 of these at most. A multiple of FRONT.
_WIDTH: Final = FRONT + 20
_ZERO: Final = np.uint8(ord("0"))


def write_numbers(
    digits: Digits, written: Bools, dropped: Places, calling_codes: npt.NDArray[np.int16], *, plus: bool
) -> Any:
    """For each row that is `written`: plus sign, calling code, digits without the first `dropped`; null for others."""
    heads, head_sizes = _heads(plus=plus)
    rows = np.flatnonzero(written)
    codes, first = calling_codes.take(rows), dropped.take(rows)
    kept = digits.counts.take(rows) - first
    wide = _windows(digits.values)[digits.starts.take(rows) + first - np.int32(FRONT)].view(np.uint8)
    wide += _ZERO
    wide.view(np.uint32)[:: _WIDTH // FRONT] = heads.take(codes)
    inside = _insides()[head_sizes.take(codes) * np.int32(_WIDTH) + kept].view(np.bool_)
    text = wide[inside]
    sizes = np.zeros(len(written) + 1, dtype=np.int32)
    sizes[rows + 1] = kept + head_sizes.take(codes)
    offsets = np.cumsum(sizes, dtype=np.int32)
    nulls = arrow_array(written).buffers()[1]
    return pa.StringArray.from_buffers(len(written), pa.py_buffer(offsets), pa.py_buffer(text), nulls)


def _windows(values: Bytes) -> Any:
    """From each place the bytes of _WIDTH, as one value, without a copy."""
    return np.ndarray((len(values) - _WIDTH + 1,), f"V{_WIDTH}", values, strides=(1,))


@cache
def _heads(*, plus: bool) -> tuple[npt.NDArray[np.uint32], Places]:
    """The text before the digits for each calling code, the last bytes of four, and its size."""
    texts = [f"{'+' if plus else ''}{code}".encode() for code in range(1000)]
    sizes = np.array([len(text) for text in texts], dtype=np.int32)
    return np.frombuffer(b"".join(text.rjust(FRONT) for text in texts), dtype=np.uint32), sizes


@cache
def _insides() -> Any:
    """Which of the bytes belong to the number, at `size of the head` * _WIDTH + `count of digits`."""
    places = np.arange(_WIDTH)
    sizes = np.arange(FRONT + 1)[:, None, None]
    counts = np.arange(_WIDTH)[:, None]
    inside = (places >= FRONT - sizes) & (places < FRONT + counts)
    return np.ascontiguousarray(inside).reshape(-1).view(f"V{_WIDTH}")
