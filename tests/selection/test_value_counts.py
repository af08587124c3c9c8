"""Values that stand in many records: none is missed, and hardly any other is found."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.selection import value_counts as valuecounts
from audiencekit.selection.plain_tags import PlainTags
from audiencekit.selection.tag_arrays import Slots
from audiencekit.selection.value_counts import ListedSlots, ValueCounts, find_many
from tests.examples import examples

# Values that differ in each part of a slot, so that some fall together and others do not.
VALUES = st.builds(
    lambda part, block, first, further: part << 28 | block << 11 | further << 7 | first,
    st.integers(0, 15),
    *[st.integers(0, 3)] * 3,
)
BATCHES = st.lists(st.lists(VALUES, max_size=20), max_size=6)


def _slots(values: list[int]) -> Slots:
    return np.array(values, dtype=np.uint32)


@pytest.mark.parametrize("compiled", [True, False])
@settings(max_examples=examples(100), deadline=None)
@given(
    batches=BATCHES,
    most=st.integers(1, 5),
    bits=st.integers(0, 10),
    threads=st.sampled_from([1, 2, 4]),
    few=st.sampled_from([0, 1, 1000]),
)
def test_none_that_is_many_is_missed(
    compiled: bool, batches: list[list[int]], most: int, bits: int, threads: int, few: int
) -> None:
    """In however many parts they are counted, and by however few counters. Of few, none that is not many is found."""
    with pytest.MonkeyPatch.context() as patch:
        if not compiled:
            patch.setattr(valuecounts, "TAG_LOOPS", PlainTags())
        patch.setattr(valuecounts, "_VALUES_A_THREAD", 1)
        patch.setattr(valuecounts, "_TOGETHER", 10)
        patch.setattr(valuecounts, "_FEW_A_BATCH", few)
        patch.setattr(valuecounts, "cores", lambda: threads)
        numbers = Counter(value for values in batches for value in values)
        found = find_many(
            lambda number: _slots(batches[number]), len(batches), numbers.total(), most, bits=bits
        ).tolist()
    assert found == sorted(set(found))
    assert set(found) <= set(numbers)
    many = {value for value in numbers if numbers[value] > most}
    assert many <= set(found)
    if few == 1000:
        assert many == set(found)


@pytest.mark.parametrize("compiled", [True, False])
def test_hardly_any_other_is_found(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 100,000 drawn values, ten of which come six times."""
    if not compiled:
        monkeypatch.setattr(valuecounts, "TAG_LOOPS", PlainTags())
    drawn = np.random.default_rng(1).integers(0, 2**32, 100_000, dtype=np.uint32)
    batches = [np.concatenate([part, drawn[:10]]) for part in np.split(drawn[10:], [18_000, 36_000, 54_000, 72_000])]
    batches[0] = np.concatenate([batches[0], drawn[:10]])
    found = find_many(batches.__getitem__, 5, sum(map(len, batches)), 5)
    assert set(drawn[:10].tolist()) <= set(found.tolist())
    assert len(found) < 100


@pytest.mark.parametrize("compiled", [True, False])
def test_values_that_do_not_fall_together_are_told_apart(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also beyond the number at which a counter stops."""
    if not compiled:
        monkeypatch.setattr(valuecounts, "TAG_LOOPS", PlainTags())
    counts = ValueCounts(10, bits=20)
    counts.count(_slots([1 << 11] * 1_000 + [2 << 11] * 10))
    assert counts.count(_slots([1 << 11, 3 << 11])).tolist() == [1 << 11]


@pytest.mark.parametrize("compiled", [True, False])
def test_a_full_counter_says_many(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """It never says too few, whatever number is asked for."""
    if not compiled:
        monkeypatch.setattr(valuecounts, "TAG_LOOPS", PlainTags())
    counts = ValueCounts(100, bits=20)
    counts.count(_slots([1 << 11] * 100 + [2 << 11] * 2))
    assert counts.count(_slots([1 << 11, 2 << 11])).tolist() == [1 << 11]


@pytest.mark.parametrize("compiled", [True, False])
@settings(max_examples=examples(100), deadline=None)
@given(listed=st.sets(VALUES, max_size=20), asked=st.lists(st.one_of(VALUES, st.integers(0, 2**32 - 1)), max_size=20))
def test_slots_are_found_among_others(compiled: bool, listed: set[int], asked: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if not compiled:
            patch.setattr(valuecounts, "TAG_LOOPS", PlainTags())
        places = ListedSlots(_slots(sorted(listed))).places_in(_slots(asked))
    assert places.tolist() == [place for place, value in enumerate(asked) if value in listed]
