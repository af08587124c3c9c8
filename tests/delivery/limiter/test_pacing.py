"""Never over the rate, in any window, however callers arrive."""

from __future__ import annotations

import asyncio
import random
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.delivery.limiter import PacedLimiter, RateLimiter, Unlimited
from audiencekit.delivery.retry import Clock
from audiencekit.errors import UsageError
from audiencekit.limits import REQUESTS_PER_WINDOW, WINDOW_SECONDS
from tests.examples import examples


class LateClock:
    """Wakes every sleeper too late, by up to `lateness` seconds."""

    def __init__(self, clock: Clock, lateness: float, seed: int) -> None:
        self._clock, self._lateness, self._random = clock, lateness, random.Random(seed)

    def now(self) -> float:
        return self._clock.now()

    def monotonic(self) -> float:
        return self._clock.monotonic()

    async def sleep(self, seconds: float) -> None:
        await self._clock.sleep(seconds + self._random.uniform(0, self._lateness))


async def moments_of(
    limiter: RateLimiter, clock: Clock, arrivals: list[float], patience: list[float] | None = None
) -> list[tuple[int, float]]:
    """(caller, moment) of every place that was given; a caller leaves after its `patience` seconds."""
    given_out: list[tuple[int, float]] = []

    async def caller(number: int, arrival: float) -> None:
        await clock.sleep(arrival)
        try:
            async with asyncio.timeout(None if patience is None else patience[number]):
                await limiter.acquire()
                given_out.append((number, clock.monotonic()))
        except TimeoutError:
            pass

    await asyncio.gather(*(caller(number, arrival) for number, arrival in enumerate(arrivals)))
    return given_out


def test_first_caller_does_not_wait(virtually: Any, clock: Clock) -> None:
    """An idle limiter gives a place at once."""
    places = virtually(moments_of(PacedLimiter(60, clock=clock), clock, [5.0]))
    assert places == [(0, 5.0)]


def test_places_are_evenly_spaced_and_first_come_first_served(virtually: Any, clock: Clock) -> None:
    """Callers that come together leave one interval apart, in the order of their coming."""
    places = virtually(moments_of(PacedLimiter(60, clock=clock), clock, [0.0] * 5))
    assert places == [(number, pytest.approx(float(number))) for number in range(5)]


def test_default_pace_stays_under_the_limit_and_uses_the_quota(virtually: Any, worst_window: Any, clock: Clock) -> None:
    """3,000 requests at once: never more than 1,500 in 60 s, and at least 95 % of the quota is used."""
    moments = [moment for _, moment in virtually(moments_of(PacedLimiter(clock=clock), clock, [0.0] * 3000))]
    assert worst_window(moments, WINDOW_SECONDS) <= 1_471 < REQUESTS_PER_WINDOW
    assert 2999 / max(moments) >= 0.95 * REQUESTS_PER_WINDOW / WINDOW_SECONDS


@pytest.mark.parametrize("lateness", [0.001, 0.015, 0.2, 3.0])
def test_late_timers_never_push_the_rate_over(virtually: Any, worst_window: Any, clock: Clock, lateness: float) -> None:
    """A loop that wakes late makes up for some of it, but never above the limit."""
    late = LateClock(clock, lateness, seed=1)
    moments = [moment for _, moment in virtually(moments_of(PacedLimiter(clock=late), clock, [0.0] * 1700))]
    assert worst_window(moments, WINDOW_SECONDS) <= 1_471
    assert min(after - before for before, after in pairwise(moments)) >= 60 / 1470 / 2 - 1e-6


def test_late_timers_cost_no_quota(virtually: Any, clock: Clock) -> None:
    """Timers that are late by less than half an interval do not slow the pace."""
    late = LateClock(clock, 0.015, seed=2)
    moments = [moment for _, moment in virtually(moments_of(PacedLimiter(clock=late), clock, [0.0] * 1471))]
    assert max(moments) <= WINDOW_SECONDS + 0.05


@settings(max_examples=examples(60), deadline=None)
@given(
    arrivals=st.lists(st.floats(0, 6), min_size=1, max_size=180),
    per_minute=st.sampled_from([30, 900, 1470, 6000]),
    patience_seed=st.integers(0, 2**16),
)
def test_no_window_holds_more_than_its_share(
    virtually: Any, worst_window: Any, clock: Clock, arrivals: list[float], per_minute: int, patience_seed: int
) -> None:
    """In any window of 2 s there are at most `2 s x rate + 1` requests, with callers that leave while waiting."""
    chance = random.Random(patience_seed)
    patience = [chance.choice([0.0, 0.01, 0.5, 1e6]) for _ in arrivals]
    limiter = PacedLimiter(per_minute, clock=clock)
    places = virtually(moments_of(limiter, clock, arrivals, patience))
    moments = [moment for _, moment in places]
    assert worst_window(moments, 2.0) <= 2.0 * per_minute / 60 + 1
    patient = {number for number, seconds in enumerate(patience) if seconds == 1e6}
    assert patient <= {number for number, _ in places}


def test_cancelled_caller_uses_up_nothing(virtually: Any, clock: Clock) -> None:
    """A caller that leaves while waiting leaves no gap: the next caller takes the place."""
    places = virtually(moments_of(PacedLimiter(60, clock=clock), clock, [0.0, 0.0, 0.0, 0.0], [99.0, 0.5, 0.7, 99.0]))
    assert places == [(0, 0.0), (3, pytest.approx(1.0))]


def test_idle_time_is_not_saved_up(virtually: Any, clock: Clock) -> None:
    """After a long rest callers are spaced as before: there is no burst."""
    places = virtually(moments_of(PacedLimiter(60, clock=clock), clock, [0.0, 1000.0, 1000.0, 1000.0]))
    moments = [moment for _, moment in places]
    assert moments == pytest.approx([0.0, 1000.0, 1001.0, 1002.0])


@pytest.mark.parametrize("per_minute", [0, -1, float("nan"), float("inf")])
def test_impossible_pace_is_refused(clock: Clock, per_minute: float) -> None:
    """A pace that is no number above 0 is a usage error."""
    with pytest.raises(UsageError):
        PacedLimiter(per_minute, clock=clock)


def test_unlimited_does_not_wait(virtually: Any, clock: Clock) -> None:
    """The limiter for benchmarks lets every request pass at once."""
    places = virtually(moments_of(Unlimited(), clock, [0.0] * 50))
    assert [moment for _, moment in places] == [0.0] * 50
