"""Offsets and bytes of a text column are read where they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from audiencekit.preparation.columnar.buffers import text_buffers

COLUMN = pa.array(["ab", "", "é", None, "c"])


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (COLUMN, ["ab", "", "é", "", "c"]),
        (COLUMN.slice(2, 2), ["é", ""]),
        (COLUMN.slice(5), []),
        (pa.array([], pa.string()), []),
        (pa.array(["", ""]), ["", ""]),
        (pa.array([None, None], pa.string()), ["", ""]),
    ],
    ids=["whole", "slice", "nothing of a column", "no texts", "empty texts", "nulls"],
)
def test_texts_are_between_offsets(column: Any, expected: list[str]) -> None:
    """The bytes of each text stand between two offsets, of which the first is 0."""
    offsets, data = text_buffers(column)
    assert offsets[0] == 0
    assert len(offsets) == len(column) + 1
    spans = zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
    assert [data[first:last].tobytes().decode() for first, last in spans] == expected
    assert len(data) == offsets[-1]


def test_nothing_is_copied() -> None:
    """The bytes are those of the column."""
    _, data = text_buffers(COLUMN)
    assert np.shares_memory(data, np.frombuffer(COLUMN.buffers()[2], dtype=np.uint8))
