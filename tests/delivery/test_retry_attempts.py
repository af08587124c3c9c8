"""One request, what it has been through, and what tenacity makes of it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from audiencekit.delivery.retry import Attempts, Clock, RetryPolicy, RetryQuota, retrying
from audiencekit.errors import (
    AudiencekitError,
    Bug,
    CountMismatch,
    CredentialsRefused,
    HostRefused,
    InputOutputFailed,
    MalformedAnswer,
    Outcome,
    RateLimited,
    RequestRefused,
    TemporarilyUnavailable,
    TransportFailed,
    Unauthorized,
    UsageError,
)


@dataclass(frozen=True, slots=True)
class Answer:
    success_count: int
    total_count: int


GOOD = Answer(3, 3)
SHORT = CountMismatch(sent=3, success_count=2, total_count=3)
MALFORMED = MalformedAnswer("no JSON", status=200)
LIMITED = RateLimited("the service asks to wait", status=429)
BUSY = TemporarilyUnavailable("not available", status=503, outcome=Outcome.UNKNOWN)
LOST = TransportFailed("reset", sent=True)
UNREACHED = TransportFailed("connection refused", sent=False)
REFUSED = RequestRefused("refused", status=400)
FOREIGN = RequestRefused("a page", status=400, outcome=Outcome.UNKNOWN, is_of_service=False)
REVOKED = Unauthorized("revoked", status=401)
SKEWED = Unauthorized("clock", status=401, codes=("135",))

Step = Answer | AudiencekitError


def run_script(virtually: Any, clock: Clock, script: list[Step], **options: Any) -> tuple[Attempts, Any]:
    """The attempts of a request whose exchanges go as scripted (the last step for ever), and what the call returned."""
    attempts = Attempts(RetryPolicy(clock=clock, randomness=random.Random(1), **options))

    async def attempt() -> Step:
        attempts.begin_exchange()
        return script[min(attempts.exchanges, len(script)) - 1]

    async def main() -> Any:
        return await retrying(attempts, sleep=clock.sleep, is_stopped=lambda: False)(attempt)

    return attempts, virtually(main())


@pytest.mark.parametrize(
    ("script", "exchanges", "outcome"),
    [
        ([GOOD], 1, Outcome.CONFIRMED),
        ([LOST, GOOD], 2, Outcome.CONFIRMED),
        ([BUSY] * 5 + [GOOD], 6, Outcome.CONFIRMED),
        ([BUSY], 6, Outcome.UNKNOWN),  # MAX_ATTEMPTS
        ([LOST, BUSY], 6, Outcome.UNKNOWN),  # of whatever mixture
        ([UNREACHED], 6, Outcome.REFUSED),
        ([UNREACHED, LOST, UNREACHED], 6, Outcome.UNKNOWN),  # one may have been applied
        ([SHORT], 4, Outcome.UNKNOWN),  # three re-sends
        ([MALFORMED], 4, Outcome.UNKNOWN),
        ([SHORT, SHORT, SHORT, GOOD], 4, Outcome.CONFIRMED),
        ([SHORT, MALFORMED] * 3, 6, Outcome.UNKNOWN),
        ([REFUSED], 1, Outcome.REFUSED),
        ([REVOKED], 1, Outcome.REFUSED),
        ([LOST, REVOKED], 2, Outcome.UNKNOWN),  # the refusal of the second says nothing about the first
        ([LIMITED] * 9 + [GOOD], 10, Outcome.CONFIRMED),
        ([LIMITED], 10, Outcome.REFUSED),  # ten in a row
        ([LIMITED] * 9 + [BUSY] + [LIMITED] * 9 + [GOOD], 20, Outcome.CONFIRMED),  # not in a row
        ([LIMITED] * 3 + [BUSY] * 5 + [GOOD], 9, Outcome.CONFIRMED),  # 429 is no attempt
        ([LIMITED, LOST, LIMITED, GOOD], 4, Outcome.CONFIRMED),
        ([SKEWED, GOOD], 2, Outcome.CONFIRMED),
        ([SKEWED], 2, Outcome.REFUSED),  # signed anew once
        ([FOREIGN], 4, Outcome.UNKNOWN),  # three re-sends, then in parts
        ([FOREIGN, GOOD], 2, Outcome.CONFIRMED),
        ([Bug("ours")], 1, Outcome.UNKNOWN),
        ([InputOutputFailed("disk")], 1, Outcome.UNKNOWN),
        ([HostRefused("not there")], 1, Outcome.REFUSED),
        ([UsageError("no such option")], 1, Outcome.REFUSED),
        ([CredentialsRefused("none")], 1, Outcome.REFUSED),
    ],
)
def test_request_is_tried_as_the_catalogue_says(
    virtually: Any, clock: Clock, script: list[Step], exchanges: int, outcome: Outcome
) -> None:
    """How often a request is sent, what is known of it then, and that the last attempt is given back."""
    attempts, last = run_script(virtually, clock, script)
    assert (attempts.exchanges, attempts.outcome) == (exchanges, outcome)
    assert last is script[min(exchanges, len(script)) - 1]
    assert attempts.error is (None if outcome is Outcome.CONFIRMED else last)


def test_rate_limits_are_counted_apart(virtually: Any, clock: Clock) -> None:
    """`rate_limited` says how many of the exchanges a 429 answered."""
    attempts, _ = run_script(virtually, clock, [LIMITED, LOST, LIMITED, GOOD])
    assert (attempts.exchanges, attempts.rate_limited) == (4, 2)


def test_empty_budget_ends_the_resends(virtually: Any, clock: Clock) -> None:
    """When the run's budget is spent, a failure is final, however few attempts the request had."""
    quota = RetryQuota(10, cost=5)
    assert run_script(virtually, clock, [BUSY], quota=quota)[0].exchanges == 3
    assert run_script(virtually, clock, [BUSY], quota=quota)[0].exchanges == 1
    assert run_script(virtually, clock, [LIMITED, GOOD], quota=quota)[0].exchanges == 2  # waiting is free


def test_success_fills_the_budget(virtually: Any, clock: Clock) -> None:
    """A success after a re-send gives back its price, one without gives back one token."""
    quota = RetryQuota(100, cost=5)
    run_script(virtually, clock, [BUSY, BUSY, GOOD], quota=quota)
    assert quota.tokens == 100 - 2 * 5 + 5
    run_script(virtually, clock, [GOOD], quota=quota)
    assert quota.tokens == 96


async def test_nothing_is_known_of_an_exchange_under_way(clock: Clock) -> None:
    """Before the first exchange there is no outcome; while one goes on, it is unknown."""
    attempts = Attempts(RetryPolicy(clock=clock, randomness=random.Random(1)))
    assert attempts.outcome is None
    attempts.begin_exchange()
    assert attempts.outcome is Outcome.UNKNOWN


def stopped_after(attempts: Attempts, exchanges: int) -> Callable[[], bool]:
    return lambda: attempts.exchanges >= exchanges


@pytest.mark.parametrize("step", [BUSY, LIMITED, SHORT])
def test_stop_ends_the_resends_at_once(virtually: Any, clock: Clock, step: AudiencekitError) -> None:
    """Once the run stops there is no further attempt and no wait."""
    attempts = Attempts(RetryPolicy(clock=clock, randomness=random.Random(1)))

    async def attempt() -> Step:
        attempts.begin_exchange()
        return step

    async def main() -> float:
        await retrying(attempts, sleep=clock.sleep, is_stopped=stopped_after(attempts, 1))(attempt)
        return clock.monotonic()

    assert virtually(main()) == 0.0
    assert attempts.exchanges == 1


@pytest.mark.parametrize("where", ["in the exchange", "in the wait"])
def test_cancellation_passes_through(virtually: Any, clock: Clock, where: str) -> None:
    """A cancelled attempt or wait is not an outcome that is retried."""
    attempts = Attempts(RetryPolicy(clock=clock, randomness=random.Random(1)))

    async def attempt() -> Step:
        attempts.begin_exchange()
        if where == "in the exchange":
            await clock.sleep(1000)
        return UNREACHED

    async def main() -> None:
        task: asyncio.Task[Any] = asyncio.create_task(
            retrying(attempts, sleep=lambda seconds: clock.sleep(1000), is_stopped=lambda: False)(attempt)
        )
        await clock.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    virtually(main())
    assert attempts.exchanges == 1
    assert attempts.outcome is (Outcome.UNKNOWN if where == "in the exchange" else Outcome.REFUSED)


@pytest.mark.parametrize("step", [LIMITED, BUSY, SHORT, LOST, SKEWED], ids=lambda step: type(step).__name__)
def test_no_request_takes_longer_than_it_may(virtually: Any, clock: Clock, step: Step) -> None:
    """It is given up before a wait that would end after its time, whatever patience is left for it otherwise."""
    limited = RateLimited("wait", status=429)
    limited.reset_at = None
    attempts, _ = run_script(virtually, clock, [step, limited], request_seconds=150.0, max_attempts=1_000)
    assert attempts.given_up
    assert not attempts.is_confirmed
    patient, _ = run_script(virtually, clock, [step, limited, limited, limited, GOOD], max_attempts=1_000)
    assert patient.is_confirmed
    assert attempts.exchanges < patient.exchanges
