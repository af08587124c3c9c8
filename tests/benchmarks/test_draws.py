"""Random numbers that a seed decides."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from benchmarks.draws import Draws


@given(st.integers(0, 2**32), st.integers(0, 1_000), st.integers(1, 10**12))
def test_numbers_are_below_their_bound_and_the_seed_decides_them(seed: int, stream: int, bound: int) -> None:
    """The same seed and stream give the same column."""
    drawn = Draws(seed, stream, 50).below(bound)
    assert drawn.min() >= 0
    assert drawn.max() < bound
    assert np.array_equal(drawn, Draws(seed, stream, 50).below(bound))


def test_streams_of_one_seed_differ() -> None:
    """So that chunks do not repeat each other."""
    assert not np.array_equal(Draws(1, 0, 50).below(10**9), Draws(1, 1, 50).below(10**9))
