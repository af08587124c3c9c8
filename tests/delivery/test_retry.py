"""Whether and how long: the table of reactions, and the arithmetic of waits."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, strategies as st

from audiencekit.delivery.clock import Clock
from audiencekit.delivery.retry import RetryPolicy
from audiencekit.errors import Outcome, RateLimited, TemporarilyUnavailable, TransportFailed

NOW = 1_795_000_000.0


class StandingClock:
    """A clock that shows one second of the year 2026."""

    def now(self) -> float:
        return NOW

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("a policy decides and never waits")


class NoChance(random.Random):
    """Randomness that always gives the upper end (1.0) or the lower end (0.0) of what is asked."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self._share = share

    def uniform(self, a: float, b: float) -> float:
        return a + (b - a) * self._share


def policy(randomness: random.Random | None = None, clock: Clock | None = None) -> RetryPolicy:
    return RetryPolicy(clock=clock or StandingClock(), randomness=randomness or NoChance(0.0))


def limited(reset_at: Any, answered_at: Any = None) -> RateLimited:
    error = RateLimited("the service asks to wait", status=429)
    error.reset_at = reset_at
    if answered_at is not None:
        error.answered_at = answered_at
    return error


def unavailable(retry_after: float | None = None) -> TemporarilyUnavailable:
    error = TemporarilyUnavailable("the service is not available", status=503, outcome=Outcome.UNKNOWN)
    error.retry_after = retry_after
    return error


@pytest.mark.parametrize(
    ("failures", "shortest", "longest"),
    [(1, 0.0, 0.0), (2, 0.25, 1.0), (3, 1.0, 4.0), (4, 4.0, 16.0), (5, 16.0, 64.0), (6, 64.0, 256.0)]
    + [(many, 75.0, 300.0) for many in (7, 8, 100, 10_000)],
)
def test_resends_start_at_once_and_then_wait_longer(failures: int, shortest: float, longest: float) -> None:
    """At once first, then within growing steps that touch, capped at 300 s."""
    error = TransportFailed("reset", sent=True)
    assert policy(NoChance(0.0)).resend_delay(error, failures) == shortest
    assert policy(NoChance(1.0)).resend_delay(error, failures) == longest


@pytest.mark.parametrize(
    ("retry_after", "failures", "expected"),
    [
        (0.0, 1, 0.0),
        (30.0, 1, 30.0),  # not at once: the service named its time
        (30.0, 5, 30.0),
        (600.0, 1, 600.0),
        (86_400.0, 1, 600.0),
        (float("inf"), 1, 600.0),
        (float("nan"), 1, 0.0),  # nothing usable: as if it had said nothing
        (-5.0, 2, 0.25),
        (None, 2, 0.25),
    ],
)
def test_retry_after_is_obeyed_up_to_ten_minutes(retry_after: float | None, failures: int, expected: float) -> None:
    """The service's own word replaces our steps, within MAX_RETRY_AFTER_SECONDS."""
    assert policy().resend_delay(unavailable(retry_after), failures) == expected


def test_waits_that_were_asked_for_are_spread_upwards() -> None:
    """Jitter never makes a wait shorter than the service asked, nor longer than the bound."""
    late = policy(NoChance(1.0))
    assert late.resend_delay(unavailable(30.0), 1) == 31.0
    assert late.resend_delay(unavailable(600.0), 1) == 600.0
    assert late.rate_limit_delay(limited(NOW + 30), 1) == 31.0
    assert late.rate_limit_delay(limited(NOW + 900), 1) == 120.0


@pytest.mark.parametrize(
    ("reset_at", "expected"),
    [
        (NOW + 30, 30.0),
        (NOW + 120, 120.0),
        (NOW + 900, 120.0),  # a quarter of an hour: asked again every two minutes
        (NOW, 1.0),  # within this second
        (NOW - 1, 1.0),
        (NOW - 2, 60.0),  # past
        (None, 60.0),
        (0.0, 60.0),
        (-NOW, 60.0),
        (NOW * 1000, 60.0),  # milliseconds
        (float("inf"), 60.0),
        (float("-inf"), 60.0),
        (float("nan"), 60.0),
    ],
)
def test_rate_limit_waits_until_the_reset(reset_at: float | None, expected: float) -> None:
    """A reset is believed within a day and obeyed up to 120 s; anything else means 60 s."""
    assert policy().rate_limit_delay(limited(reset_at), 1) == expected


@pytest.mark.parametrize("skew", [-86_400.0 * 30, -3600.0, 600.0, 86_400.0 * 30])
def test_reset_is_measured_by_the_clock_of_the_service(skew: float) -> None:
    """When the answer says what time it is, our own clock may be as wrong as it likes."""
    assert policy().rate_limit_delay(limited(NOW + skew + 45, answered_at=NOW + skew), 1) == 45.0


@pytest.mark.parametrize(("in_a_row", "expected"), [(1, 1.0), (2, 2.0), (3, 4.0), (6, 32.0), (7, 60.0), (10, 60.0)])
def test_resets_that_never_help_cost_more_patience(in_a_row: int, expected: float) -> None:
    """A service that says "now" again and again is asked ever less often, so that ten refusals take minutes."""
    assert policy().rate_limit_delay(limited(NOW), in_a_row) == expected


@given(
    reset_at=st.none() | st.floats() | st.integers(-(10**20), 10**20),
    answered_at=st.none() | st.floats(0, 4e9),
    in_a_row=st.integers(1, 10),
    seed=st.integers(),
)
def test_no_header_makes_us_sleep_for_ever(
    reset_at: float | None, answered_at: float | None, in_a_row: int, seed: int
) -> None:
    """Whatever a 429 says, the pause is between 0 and 120 s."""
    delay = policy(random.Random(seed)).rate_limit_delay(limited(reset_at, answered_at), in_a_row)
    assert 0 <= delay <= 120


@given(retry_after=st.none() | st.floats(), failures=st.integers(1, 10_000), seed=st.integers())
def test_no_wait_is_longer_than_its_bound(retry_after: float | None, failures: int, seed: int) -> None:
    """Whatever a 503 says, the wait is between 0 and 600 s, and 300 s without its word."""
    chance = random.Random(seed)
    assert 0 <= policy(chance).resend_delay(unavailable(retry_after), failures) <= 600
    assert 0 <= policy(chance).resend_delay(TransportFailed("reset", sent=True), failures) <= 300


def test_waits_follow_the_randomness_given() -> None:
    """The same seed gives the same waits, another seed others."""

    def waits(seed: int) -> list[float]:
        chosen = policy(random.Random(seed))
        return [chosen.resend_delay(TransportFailed("reset", sent=True), failures) for failures in range(1, 9)]

    assert waits(7) == waits(7) != waits(8)


def test_clock_is_corrected_once_a_minute(virtually: Any, clock: Clock) -> None:
    """Fault 23: signed anew once in 60 s; who was under way meanwhile goes along, who fails after it halts."""

    async def main() -> None:
        chosen = policy(clock=clock)
        assert chosen.may_resign(began_at=0.0)
        await clock.sleep(5.0)
        assert not chosen.may_resign(began_at=2.0)
        await clock.sleep(50.0)
        assert not chosen.may_resign(began_at=54.0)
        await clock.sleep(10.0)
        assert chosen.may_resign(began_at=64.0)
        assert chosen.may_resign(began_at=64.9)  # before the second correction

    virtually(main())
