"""Columns of any type of Arrow: the sample of those that hold objects."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pyarrow as pa

from audiencekit.sources.arrow.typedcolumns import sampled_objects
from audiencekit.sources.arrow.types import sample_texts


def _orders(rows: int, each: int) -> pa.Array:
    """A column of lists of objects."""
    values = pa.StructArray.from_arrays([pa.array(["bea@example.com"] * rows * each)], ["email"])
    return pa.ListArray.from_arrays(pa.array(np.arange(0, rows * each + 1, each, dtype=np.int32)), values)


def test_columns_that_hold_objects_are_sampled_by_their_first_cells() -> None:
    """Those of other columns are no objects; a column may come in pieces."""
    orders = _orders(150, 1)
    found = sampled_objects([[pa.array(["1"])], [orders, orders], [pa.array([["a"]])]])
    assert list(found) == [1]
    assert found[1] == [[{"email": "bea@example.com"}]] * 200


def test_large_cells_are_sampled_in_little_memory() -> None:
    """As few of them as are small together; one that is large by itself is not looked at."""
    orders = _orders(20, 20_000)
    tracemalloc.start()
    try:
        found = sampled_objects([[orders], [_orders(1, 200_000)]])
        texts = sample_texts(orders)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (list(found), texts) == ([0], [""] * 20)
    assert 0 < len(found[0]) < 5
    assert peak < 40_000_000
