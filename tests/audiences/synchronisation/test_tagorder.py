"""Tags looked up among others in ascending order, exactly."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from audiencekit.audiences.synchronisation.tagorder import find_places, in_order_of
from audiencekit.preparation.tags import TAG

PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=12)


@given(PAIRS.map(lambda pairs: sorted(set(pairs))), PAIRS)
def test_each_is_found_where_it_stands(ordered: list[tuple[int, int]], asked: list[tuple[int, int]]) -> None:
    """Also where several share the first half; whoever is not there has the place that it would come to."""
    places, known = find_places(np.array(asked, dtype=TAG), np.array(ordered, dtype=TAG))
    assert known.tolist() == [pair in ordered for pair in asked]
    assert places.tolist() == [sum(other < pair for other in ordered) for pair in asked]


@given(PAIRS)
def test_the_order_is_of_both_halves(pairs: list[tuple[int, int]]) -> None:
    """As numbers of 128 bits."""
    tags = np.array(pairs, dtype=TAG)
    assert tags[in_order_of(tags)].tolist() == sorted(pairs)
