"""Visits that lookback and frequency count, against a list of their moments."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from audiencekit.emulator.audiences.flexible.segments import Segment
from audiencekit.emulator.audiences.flexible.visits import Joining, count_visits, is_often_enough
from tests.emulator.audiences.flexible.test_flexible import _audience, _batch, _create, _leaf, _tree

DAY = 86_400.0
START = 1_800_000_000.25
H = [f"{number:064x}" for number in range(600)]


def _leaf_of(frequency: int, comparator: str) -> Segment:
    return Segment(
        boolean_operator=None, child_segments=(), custom_audience_id="a", lookback_window=None, frequency=frequency,
        frequency_comparator=comparator, negate=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("comparator", "enough"),
    [("NUM_GTE", [2, 3]), ("NUM_GT", [3]), ("NUM_EQ", [2]), ("NUM_LTE", [0, 1, 2]), ("NUM_LT", [0, 1])],
)
def test_a_comparator_is_what_its_name_says(comparator: str, enough: list[int]) -> None:
    """Visits compared with the frequency."""
    leaf = _leaf_of(2, comparator)
    assert [visits for visits in range(4) if is_often_enough(leaf, visits)] == enough


@given(st.binary(min_size=1, max_size=40), st.floats(0, 400), st.sampled_from([None, 1, 7, 14, 30]))
def test_visits_are_as_many_as_their_moments(key_set: bytes, days: float, window: int | None) -> None:
    """One at the entry, and others at even distances; a longer window never has fewer, and none has all."""
    joined = Joining("a", START)
    counts = {each: count_visits(key_set, [joined], 7, START + days * DAY, each) for each in (None, 1, 7, 14, 30)}
    assert 0 <= counts[1] <= counts[7] <= counts[14] <= counts[30] <= (counts[None] or 0)
    assert counts[None] >= 1
    assert counts[30] <= 31
    assert counts[window] == count_visits(key_set, [joined], 7, START + days * DAY, window)
    assert count_visits(key_set, [joined, joined], 7, START + days * DAY, window) == 2 * counts[window]


def test_the_entry_is_a_visit_in_every_window() -> None:
    """At its moment, and for as long as the window."""
    for number in range(200):
        key_set = str(number).encode()
        for window in (1, 7, 14, 30):
            assert count_visits(key_set, [Joining("a", START)], 0, START, window) >= 1


async def _size(caller: Any, name: str, audience: str, **rule: Any) -> int | None:
    leaf = {**_leaf(audience), "negate": False, **rule}
    made = (await _batch(caller, _create(name, _tree("AND", leaf)))).body["data"][0]
    await caller.move_clock(advance=6 * 3_600)
    record = (await caller.call("GET", f"{caller.audiences}/{made['id']}")).body["data"]
    size: int | None = record["audience_size"]
    return size


async def test_the_size_follows_the_rule(open_emulator: Any) -> None:
    """Every member came once; fewer came often, or of late; the two sides of a rule add up."""
    async with open_emulator(match_rate=1.0) as caller:
        audience = await _audience(caller, "one", H)
        assert await _size(caller, "all", audience) == 600
        assert await _size(caller, "a day", audience, lookback_window=1) == 600  # they joined today
        await caller.move_clock(advance=2 * DAY)
        day = await _size(caller, "of late", audience, lookback_window=1) or 0
        week = await _size(caller, "this week", audience, lookback_window=7) or 0
        assert 0 < day < week == 600
        often = await _size(caller, "often", audience, frequency=3, lookback_window=30) or 0
        seldom = await _size(caller, "seldom", audience, frequency=3, lookback_window=30, frequency_comparator="NUM_LT")
        assert (0 < often < 600, often + (seldom or 0)) == (True, 600)
