"""Counters of values: never too few, found from the time on when they are many, and as they grow."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.selection import valuecounts
from audiencekit.selection.valuecounts import FOUND, SlotCounts, Slots, ValueCounts
from tests.examples import examples

# Values that differ in each part of a slot, so that some fall together and others do not.
VALUES = st.builds(lambda block, first, further: block << 11 | further << 7 | first, *[st.integers(0, 3)] * 3)
BATCHES = st.lists(st.lists(VALUES, max_size=20), max_size=6)


def _slots(values: list[int]) -> Slots:
    return np.array(values, dtype=np.uint32)


@pytest.mark.parametrize("compiled", [True, False])
@settings(max_examples=examples(100), deadline=None)
@given(batches=BATCHES, most=st.integers(1, 5), bits=st.integers(0, 10))
def test_none_that_is_many_is_missed(compiled: bool, batches: list[list[int]], most: int, bits: int) -> None:
    """Each place is found once: in its batch, if its value is many by then, or at the end."""
    with pytest.MonkeyPatch.context() as patch:
        if not compiled:
            patch.setattr(valuecounts, "kernels", lambda _: None)
        counts, sofar, found = ValueCounts(most, bits=bits, most_bits=12), Counter[int](), []
        for values in batches:
            slots = _slots(values)
            places = counts.count(slots)
            sofar.update(values)
            for place, value in enumerate(values):
                assert place in places or sofar[value] <= most or value in values[place + 1 :]
            slots[places] |= FOUND
            found.append((slots, set(places.tolist())))
        for values, (slots, early) in zip(batches, found, strict=True):
            late = set(counts.find(slots).tolist())
            assert not late & early
            assert {place for place, value in enumerate(values) if sofar[value] > most} <= late | early


@pytest.mark.parametrize("compiled", [True, False])
def test_values_that_do_not_fall_together_are_told_apart(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also beyond the number at which a counter stops."""
    if not compiled:
        monkeypatch.setattr(valuecounts, "kernels", lambda _: None)
    counts = ValueCounts(10)
    counts.count(_slots([1 << 11] * 1_000 + [2 << 11] * 10))
    assert counts.find(_slots([1 << 11, 2 << 11, 3 << 11])).tolist() == [0]


@pytest.mark.parametrize("compiled", [True, False])
def test_a_full_counter_says_many(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """It never says too few, whatever number is asked for."""
    if not compiled:
        monkeypatch.setattr(valuecounts, "kernels", lambda _: None)
    counts = ValueCounts(100)
    counts.count(_slots([1 << 11] * 101 + [2 << 11] * 2))
    assert counts.find(_slots([1 << 11, 2 << 11])).tolist() == [0]


def test_counters_grow_with_the_values() -> None:
    """Earlier counts go on: one value has been seen in each batch."""
    counts, seen = ValueCounts(5, bits=6, most_bits=20), []
    for batch in range(8):
        others = np.arange(batch * 1_000, batch * 1_000 + 1_000, dtype=np.uint32) * 977 % 2**31
        seen.append(0 in counts.count(np.append(_slots([1_234_567_890]), others.astype(np.uint32))))
    assert not any(seen[:3])
    assert all(seen[5:])


@settings(max_examples=examples(100), deadline=None)
@given(batches=BATCHES, least=st.integers(1, 5), most=st.integers(1, 40))
def test_few_slots_are_counted_exactly(batches: list[list[int]], least: int, most: int) -> None:
    counts, numbers = SlotCounts(most), Counter(value for values in batches for value in values)
    for values in batches:
        counts.add(_slots(values))
    assert counts.are_few == (len(numbers) <= most)
    if counts.are_few:
        assert counts.of_at_least(least).tolist() == sorted(slot for slot in numbers if numbers[slot] >= least)
        asked = [0, 1, 2**31 - 1, *numbers]
        assert counts.hold(_slots(asked)).tolist() == [slot in numbers for slot in asked]
