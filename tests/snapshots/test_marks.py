"""Marks looked up among others in ascending order, exactly."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from audiencekit.selection.tag_arrays import TAG
from audiencekit.snapshots import marks as marks_module
from audiencekit.snapshots.marks import MARK_BYTES, NO_MARKS, Marks
from audiencekit.snapshots.plain_marks import PlainMarks

Pair = tuple[int, int]
PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=12)
WIDE = st.lists(st.tuples(st.integers(0, 2**56 - 1), st.integers(0, 2**16 - 1)), max_size=12)


def _marks(pairs: list[Pair]) -> Marks:
    return Marks.of(np.array([(high, low << 48) for high, low in pairs], dtype=TAG))


def _first_halves(high: npt.NDArray[np.uint64]) -> Marks:
    return Marks(high, np.zeros(len(high), dtype=np.uint16))


def _found(asked: Marks, ordered: Marks) -> tuple[list[int], list[bool]]:
    """Where each stands and whether it is there, which is the same with the kernels and without."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(marks_module, "MARK_LOOPS", PlainMarks())
        expected = [each.tolist() for each in asked.find_in(ordered)]
    places, known = (each.tolist() for each in asked.find_in(ordered))
    assert [places, known] == expected
    return places, known


def _pairs(marks: Marks) -> list[Pair]:
    return list(zip(marks.high.tolist(), marks.low.tolist(), strict=True))


@given(PAIRS.map(lambda pairs: sorted(set(pairs))), PAIRS)
def test_each_is_found_where_it_stands(ordered: list[Pair], asked: list[Pair]) -> None:
    """Also where several share the first half; a missing mark has the index where it would be inserted."""
    places, known = _found(_marks(asked), _marks(ordered))
    assert known == [pair in ordered for pair in asked]
    assert places == [sum(other < pair for other in ordered) for pair in asked]


@given(st.integers(0, 2**32))
def test_many_are_found(seed: int) -> None:
    """In whatever order they are asked for."""
    drawn = np.random.default_rng(seed).integers(0, 2**64, 300, dtype=np.uint64)
    ordered = _first_halves(np.sort(drawn[:200]))
    places, known = _found(_first_halves(drawn), ordered)
    assert known == [True] * 200 + [False] * 100
    assert places == np.searchsorted(ordered.high, drawn).tolist()


@given(st.integers(0, 2**32), st.integers(0, 40))
def test_numbers_that_lie_close_together_are_found(seed: int, bits: int) -> None:
    """Although most of them are in one stretch, and one is far away; so are few that are asked for."""
    drawn = np.random.default_rng(seed).integers(0, 2**bits, 300, dtype=np.uint64)
    ordered = np.append(np.unique(drawn[:200]), np.uint64(2**64 - 1))
    for asked in (drawn, drawn[:5], ordered):
        places, known = _found(_first_halves(asked), _first_halves(ordered))
        assert known == np.isin(asked, ordered).tolist()
        assert places == np.searchsorted(ordered, asked).tolist()


@given(PAIRS)
def test_the_order_is_of_both_halves(pairs: list[Pair]) -> None:
    """As numbers of 80 bits."""
    marks = _marks(pairs)
    assert _pairs(marks.take(marks.order())) == sorted(pairs)


@given(WIDE, st.integers(0, 255))
def test_bytes_and_back(pairs: list[Pair], part: int) -> None:
    """The first byte is not written: it is that of the part."""
    marks = _marks([(high + (part << 56), low) for high, low in pairs])
    content = marks.to_bytes()
    assert len(content) == MARK_BYTES * len(pairs)
    assert _pairs(Marks.from_bytes(content, part)) == _pairs(marks)


def test_they_are_joined_and_not_shown() -> None:
    """In order; a mark identifies a person for the holder of the key."""
    both = Marks.joined([NO_MARKS, _marks([(3, 1)]), _marks([(2, 2)])])
    assert _pairs(both) == [(3, 1), (2, 2)]
    assert "3" not in repr(both)


def test_where_the_marks_of_each_part_end() -> None:
    """Of those in order; a part may have none, and the last byte of the parts there are is no limit."""
    high = np.array([(5 << 56) - 1, 5 << 56, (5 << 56) + 1, 7 << 56], dtype=np.uint64)
    assert _first_halves(high).ends(range(4, 8)) == [1, 3, 3, 4]
    assert _first_halves(high[:0]).ends(range(256)) == [0] * 256
    assert _first_halves(np.array([255 << 56, 2**64 - 1], dtype=np.uint64)).ends(range(255, 256)) == [2]
