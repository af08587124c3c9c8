"""Both implementations of the loops over marks against their definition, one value at a time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given, settings, strategies as st

from audiencekit.selection.tag_arrays import ENTRY, TAG
from audiencekit.snapshots.mark_arrays import DayLimits, Halves
from audiencekit.snapshots.mark_kernels import MarkKernels
from audiencekit.snapshots.members import DOUBTFUL, DROPPED
from audiencekit.snapshots.plain_marks import PlainMarks
from tests.examples import examples
from tests.kernels.installed import both

Loops = Callable[[], Any]
Pair = tuple[int, int]
PAIRS = st.tuples(st.integers(0, 2).map(lambda high: high << 61), st.integers(0, 2))
ORDERED = st.sets(PAIRS, max_size=8).map(sorted)
DAYS = st.sampled_from([DOUBTFUL, DROPPED, 99, 100, 130, 131])
each = both(MarkKernels, PlainMarks)


def _halves(pairs: list[Pair], low: Any = np.uint16) -> Halves:
    return Halves(np.array([one for one, _ in pairs], dtype=np.uint64), np.array([two for _, two in pairs], dtype=low))


@each
@given(asked=st.lists(PAIRS, max_size=12), ordered=ORDERED)
def test_marks_are_found(loops: Loops, asked: list[Pair], ordered: list[Pair]) -> None:
    """Where each stands, or would have to, also where several share their first half."""
    places, known = loops().find_marks(_halves(asked), _halves(ordered))
    assert places.tolist() == [bisect_left(ordered, pair) for pair in asked]
    assert known.tolist() == [pair in ordered for pair in asked]


@each
@given(asked=st.lists(PAIRS, max_size=12), ordered=ORDERED)
def test_tags_are_found(loops: Loops, asked: list[Pair], ordered: list[Pair]) -> None:
    """By the index that is made of their first halves."""
    made, halves = loops(), _halves(ordered, np.uint64)
    found = made.find_tags(np.array(asked, dtype=TAG), halves, made.prepare(halves.high))
    assert found.tolist() == [ordered.index(pair) if pair in ordered else -1 for pair in asked]


@each
@settings(max_examples=examples(100))
@given(
    pieces=st.lists(st.lists(st.tuples(PAIRS, st.integers(0, 19)), max_size=8), min_size=1, max_size=3),
    wanted=st.lists(st.booleans(), min_size=20, max_size=20),
    members=st.dictionaries(PAIRS, DAYS, max_size=8),
    all_members=st.booleans(),
)
def test_entries_are_compared(
    loops: Loops, pieces: list[list[tuple[Pair, int]]], wanted: list[bool], members: dict[Pair, int], all_members: bool
) -> None:
    """Each wanted entry with the member of its mark, whose bits beyond the mark do not count."""
    days = dict(sorted(members.items()))
    by = DayLimits(lapsed_before=100, renewed_to=130, all_members=all_members, doubtful=DOUBTFUL, dropped=DROPPED)
    given_pieces = [np.array([(high, low << 48 | n, n) for (high, low), n in piece], dtype=ENTRY) for piece in pieces]
    packed = np.packbits(wanted, bitorder="little")
    found = loops().compare(given_pieces, packed, _halves([*days]), np.array([*days.values()], dtype=np.int16), by)
    own = [(days.get(mark, DROPPED), mark, record) for piece in pieces for mark, record in piece if wanted[record]]
    new = [day == DOUBTFUL or day < 100 for day, *_ in own]
    assert (found.wanted, found.additions) == (len(own), sum(new))
    assert found.sent.tolist() == [
        record for is_new, (day, _, record) in zip(new, own, strict=True) if is_new or day <= 130 or all_members
    ]
    assert found.gone.tolist() == [
        place
        for place, (mark, day) in enumerate(days.items())
        if (day == DOUBTFUL or day >= 100) and mark not in {mark for _, mark, _ in own}
    ]
