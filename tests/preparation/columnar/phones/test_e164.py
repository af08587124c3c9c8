"""Numbers are written in E.164."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from audiencekit.preparation.columnar.phones.digits import read_digits
from audiencekit.preparation.columnar.phones.e164 import write_numbers

ROWS = [
    # text, written, dropped, calling code, expected digits
    ("0151 1234", True, 1, 49, "491511234"),
    ("no number", False, 0, 0, None),
    ("+1 (415) 555", True, 1, 1, "1415555"),
    ("123", False, 2, 7, None),
    ("", False, 0, 0, None),
    ("0039 06 12", True, 4, 39, "390612"),
    ("00 423 0 55 1", True, 6, 423, "423551"),
    ("800", True, 0, 800, "800800"),
]


@pytest.mark.parametrize("plus", [True, False])
def test_written_rows(*, plus: bool) -> None:
    """Each written row has its own calling code and digits, and the others are null."""
    texts, written, dropped, codes, expected = zip(*ROWS, strict=True)
    column = write_numbers(
        read_digits(pa.array(texts)),
        np.array(written),
        np.array(dropped, dtype=np.int32),
        np.array(codes, dtype=np.int16),
        plus=plus,
    )
    column.validate(full=True)
    assert column.to_pylist() == [text and ("+" if plus else "") + text for text in expected]


@pytest.mark.parametrize("count", [0, 3])
def test_nothing_written(count: int) -> None:
    """Without a row that is written all are null."""
    zeros = np.zeros(count, dtype=np.int32)
    digits = read_digits(pa.array(["1234"] * count, pa.string()))
    column = write_numbers(digits, zeros > 0, zeros, zeros.astype(np.int16), plus=True)
    column.validate(full=True)
    assert column.to_pylist() == [None] * count
