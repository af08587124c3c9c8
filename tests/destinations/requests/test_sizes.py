"""Sizes as bytes and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from audiencekit.destinations.requests.sizes import sizes_from_bytes, sizes_to_bytes


@given(st.lists(st.integers(0, 5_000_000), max_size=30))
def test_sizes_come_back(sizes: list[int]) -> None:
    """Up to those of the largest body."""
    assert sizes_from_bytes(sizes_to_bytes(np.array(sizes, dtype=np.int64))).tolist() == sizes


@pytest.mark.parametrize(("largest", "width"), [(0, 1), (255, 1), (256, 2), (65_535, 2), (65_536, 4), (5_000_000, 4)])
def test_sizes_are_as_narrow_as_they_may_be(largest: int, width: int) -> None:
    """A byte each for the usual record."""
    assert len(sizes_to_bytes(np.array([1, largest, 2], dtype=np.int64))) == 1 + 3 * width
