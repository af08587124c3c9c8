"""A call that takes no records, with the attempts of a request."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from audiencekit.delivery.retry import RetryPolicy
from audiencekit.errors import (
    AudiencekitError,
    EndlessList,
    LongWait,
    Outcome,
    RateLimited,
    RequestRefused,
    TemporarilyUnavailable,
    TransportFailed,
)
from tests.virtualtime import VirtualClock

AWAY = TemporarilyUnavailable("not available", status=503, outcome=Outcome.UNKNOWN)
LIMITED = RateLimited("the service asks to wait", status=429)
LOST = TransportFailed("reset", sent=True)
ENDLESS = EndlessList("no end", status=200)
REFUSED = RequestRefused("refused", status=400)


@pytest.mark.parametrize(
    ("failures", "calls"), [((), 1), ((AWAY,), 2), ((LOST, LIMITED, AWAY), 4)], ids=["at once", "one", "three"]
)
def test_a_passing_fault_is_waited_for(
    failures: tuple[AudiencekitError, ...], calls: int, virtually: Callable[..., Any], clock: VirtualClock
) -> None:
    """And the answer comes back."""
    made: list[int] = []

    async def call() -> str:
        made.append(len(made))
        if len(made) <= len(failures):
            raise failures[len(made) - 1]
        return "described"

    told: list[str] = []
    policy = RetryPolicy(clock=clock, randomness=random.Random(1))
    assert virtually(policy.with_retries(call, told.append)) == "described"
    assert len(made) == calls
    assert told == [f"{failure}; asking again" for failure in failures[:1]]


@pytest.mark.parametrize(("failure", "calls"), [(REFUSED, 1), (ENDLESS, 1), (LOST, None)])
def test_a_lasting_fault_is_raised(
    failure: AudiencekitError, calls: int | None, virtually: Callable[..., Any], clock: VirtualClock
) -> None:
    """At once when asking again is of no use, else when the attempts are used up."""
    made: list[int] = []

    async def call() -> str:
        made.append(1)
        raise failure

    policy = RetryPolicy(clock=clock, randomness=random.Random(1), max_attempts=4)
    with pytest.raises(type(failure)):
        virtually(policy.with_retries(call))
    assert len(made) == (calls or 4)


@pytest.mark.parametrize(("longest_seconds", "calls"), [(59.0, 1), (130.0, 3)])
def test_a_wait_is_as_long_as_the_caller_allows(
    longest_seconds: float, calls: int, virtually: Callable[..., Any], clock: VirtualClock
) -> None:
    """All waits of the call together: each of these 429 asks for a minute."""
    made: list[int] = []

    async def call() -> str:
        made.append(1)
        raise LIMITED

    policy = RetryPolicy(clock=clock, randomness=random.Random(1), longest_wait_seconds=longest_seconds)
    with pytest.raises(LongWait) as caught:
        virtually(policy.with_retries(call))
    assert caught.value.seconds >= 60
    assert len(made) == calls
