"""One 429 holds back all workers, for the longest time that was asked."""

from __future__ import annotations

import asyncio
import re
from itertools import pairwise
from typing import Any

import pytest

from audiencekit.delivery.limiter import PacedLimiter, Unlimited
from audiencekit.delivery.retry import Clock
from audiencekit.delivery.sending import Gate
from audiencekit.errors import (
    InputOutputFailed,
    LongWait,
    MalformedAnswer,
    Outcome,
    RateLimited,
    TemporarilyUnavailable,
    TransportFailed,
)
from tests.delivery.scripted import EXCHANGE_SECONDS, Counts, Packed, Step, Upload, busy, limited, lost, plan, unreached

# --- One 429 holds back all workers, for the longest time that was asked ---


@pytest.mark.parametrize(
    ("shut", "opens_at"),
    [
        ([], 0.0),
        ([(0.0, 30.0)], 30.0),
        ([(0.0, 30.0), (10.0, 30.0)], 40.0),  # shut again while shut: longer
        ([(0.0, 30.0), (10.0, 5.0)], 30.0),  # a shorter word does not open it earlier
        ([(0.0, 0.0)], 0.0),
    ],
)
def test_gate_opens_when_every_wait_is_over(
    virtually: Any, clock: Clock, shut: list[tuple[float, float]], opens_at: float
) -> None:
    """Waiting workers pass at the latest moment that was asked for, however early they came."""

    async def main() -> list[float]:
        gate = Gate(clock=clock)

        async def shutter(at: float, seconds: float) -> None:
            await clock.sleep(at)
            gate.shut(seconds)

        async def passer(at: float) -> float:
            await clock.sleep(at)
            await gate.wait_until_open()
            assert gate.is_open
            return clock.monotonic()

        passers = asyncio.gather(passer(0.001), passer(11.0))
        await asyncio.gather(passers, *(shutter(*word) for word in shut))
        return list(passers.result())

    assert virtually(main()) == pytest.approx([max(opens_at, 0.001), max(opens_at, 11.0)])


def test_shut_gate_says_so(virtually: Any, clock: Clock) -> None:
    """`is_open` turns with the time."""

    async def main() -> list[bool]:
        gate = Gate(clock=clock)
        seen = [gate.is_open]
        gate.shut(10.0)
        for _ in range(2):
            await clock.sleep(6.0)
            seen.append(gate.is_open)
        return seen

    assert virtually(main()) == [True, False, True]


# --- One request on its way: counts that are compared, waits that are kept, a budget that holds ---


@pytest.mark.parametrize(
    ("step", "error", "attempts"),
    [(Counts(9, 10), "CountMismatch", 8), (MalformedAnswer("no counts", status=200), "MalformedAnswer", 4)],
)
def test_wrong_counts_are_never_confirmed(virtually: Any, clock: Clock, step: Step, error: str, attempts: int) -> None:
    """Sent again three times, those that differ once more in halves, then the run halts as unknown."""
    upload = Upload(clock, plan(1), {1: [step] * 9})
    delivered = virtually(upload.run())
    assert (delivered.confirmed, delivered.records_confirmed, delivered.attempts) == (0, 0, attempts)
    assert delivered.pending[0].outcome is Outcome.UNKNOWN
    assert delivered.pending[0].error == error == type(delivered.error).__name__


def test_right_counts_at_last_confirm(virtually: Any, clock: Clock) -> None:
    """A short count is sent again, and counts when the numbers are right."""
    upload = Upload(clock, plan(1), {1: [Counts(9, 10)] * 3})
    delivered = virtually(upload.run())
    assert delivered.is_complete
    assert (delivered.success_count, delivered.attempts) == (10, 4)


@pytest.mark.parametrize(("reset_in", "shortest"), [(30.0, 30.0), (None, 60.0), (-500.0, 60.0), (9e9, 60.0)])
def test_429_pauses_every_worker(virtually: Any, clock: Clock, reset_in: float | None, shortest: float) -> None:
    """After one 429 no worker sends until the reset; then all go on, and the 429 was no attempt."""
    upload = Upload(clock, plan(12), {3: [limited(reset_in)]}, concurrency=4)
    delivered = virtually(upload.run())
    assert delivered.is_complete
    assert (delivered.attempts, delivered.rate_limited) == (13, 1)
    later = [at for at, _ in upload.service.sent if at > EXCHANGE_SECONDS]
    assert shortest + EXCHANGE_SECONDS <= min(later) <= shortest + EXCHANGE_SECONDS + 1.0


def test_a_long_wait_says_until_when(virtually: Any, clock: Clock) -> None:
    """Of half a minute or more, such as a service asks for; a short one says nothing."""
    told: list[str] = []
    upload = Upload(clock, plan(1), {1: [lost(), busy(5.0), busy(200.0)]}, notify=told.append)
    assert virtually(upload.run()).is_complete
    (line,) = told
    assert re.fullmatch(r"request 1 is sent again at \d\d:\d\d:\d\d UTC", line)


def test_429_holds_back_who_already_has_a_place(virtually: Any, clock: Clock) -> None:
    """A request that waited for its turn when the 429 came does not slip through, and the pace holds after it."""
    upload = Upload(clock, plan(8), {1: [limited(30.0)]}, limiter=PacedLimiter(60, clock=clock), concurrency=8)
    assert virtually(upload.run()).is_complete
    moments = [at for at, _ in upload.service.sent]
    assert moments[0] == 0.0
    assert moments[1] >= 30.5
    assert min(later - earlier for earlier, later in pairwise(moments[1:])) >= 0.5


def test_429_is_passed_on_to_all_who_share_the_quota(virtually: Any, clock: Clock) -> None:
    """A limiter that can pause hears of each 429, with the time that this run waits; what it learns is noted."""
    pauses: list[float] = []

    class Shared(Unlimited):
        is_quota_shared = True

        async def pause(self, seconds: float) -> None:
            pauses.append(seconds)

    upload = Upload(clock, plan(4), {1: [limited(30.0)], 3: [limited(20.0)]}, limiter=Shared(), concurrency=1)
    delivered = virtually(upload.run())
    assert delivered.is_complete
    assert pauses == pytest.approx([30.5, 20.5], abs=0.5)
    assert ["quota" in note for note in delivered.notes] == [True]


def test_429_is_bounded(virtually: Any, clock: Clock) -> None:
    """Ten 429 in a row for one request end the run; it is not applied, and the rest was not lost."""
    upload = Upload(clock, plan(2), {1: [limited()] * 50}, concurrency=1)
    delivered = virtually(upload.run())
    assert isinstance(delivered.error, RateLimited)
    assert delivered.pending[0].attempts == delivered.rate_limited == 10
    assert delivered.pending[0].outcome is Outcome.REFUSED
    assert not delivered.is_read_to_end
    assert 9 * 60 <= upload.ended_at <= 9 * 61 + 10


def test_retry_after_is_for_one_request(virtually: Any, clock: Clock) -> None:
    """A 503 with Retry-After holds back its own request; the others go on."""
    upload = Upload(clock, plan(8), {1: [busy(120.0)]}, concurrency=2)
    assert virtually(upload.run()).is_complete
    assert upload.service.times_of(8)[0] <= 8 * EXCHANGE_SECONDS
    assert 120.5 <= upload.service.times_of(1)[1] <= 121.5


def test_first_resend_is_at_once_and_the_next_later(virtually: Any, clock: Clock) -> None:
    """At once, then after growing waits within their steps."""
    upload = Upload(clock, plan(1), {1: [lost(), lost(), lost(), lost(), unreached()]})
    delivered = virtually(upload.run())
    assert delivered.is_complete
    moments = upload.service.times_of(1)
    gaps = [later - earlier - EXCHANGE_SECONDS for earlier, later in pairwise(moments)]
    assert gaps[0] == pytest.approx(0.0)
    for gap, (shortest, longest) in zip(gaps[1:], [(0.25, 1), (1, 4), (4, 16), (16, 64)], strict=True):
        assert shortest <= gap <= longest


def test_unknown_outcome_is_settled_by_the_same_request(virtually: Any, clock: Clock) -> None:
    """After no answer the very same request is sent again."""
    bodies: list[int] = []
    upload = Upload(clock, plan(1), {1: [lost(), MalformedAnswer("cut off", status=200)]})

    async def send(request: Packed) -> Counts:
        bodies.append(id(request))
        return await upload.service.send(request)

    assert virtually(upload.run(send)).is_complete
    assert len(bodies) == 3
    assert len(set(bodies)) == 1


def test_outage_of_a_restart_is_outlived(virtually: Any, clock: Clock) -> None:
    """A server that refuses every request for 20 s ends no run, whatever the randomness."""
    for seed in range(30):
        upload = Upload(clock, plan(40), seed=seed, concurrency=16)

        async def send(request: Packed, upload: Upload = upload) -> Counts:
            if 3.0 <= clock.monotonic() < 23.0:
                raise TransportFailed("connection refused", sent=False)
            return await upload.service.send(request)

        assert virtually(upload.run(send)).is_complete


def test_dead_service_is_not_stormed(virtually: Any, clock: Clock) -> None:
    """With nothing but 503 the requests sent stay within one each and the budget of 100 re-sends."""
    upload = Upload(clock, plan(100), {n: [busy()] * 99 for n in range(1, 101)}, concurrency=32)
    delivered = virtually(upload.run())
    assert isinstance(delivered.error, TemporarilyUnavailable)
    assert delivered.attempts == len(upload.service.sent) <= 32 + 100


# The script of a delivery at a pace, and the shortest and the longest wait that ends it.
WAITS: dict[str, tuple[list[Packed], dict[int, list[Step]], float, float, float]] = {
    "a 429": ([Packed(1), Packed(2)], {2: [limited(100.0)]}, 600, 100, 102),
    "short ones in a row": ([Packed(1), Packed(2)], {2: [limited(20.0)] * 9}, 600, 20, 22),
    "a Retry-After": ([Packed(1), Packed(2)], {2: [busy(200.0)]}, 600, 200, 202),
    "an outage": ([Packed(1), Packed(2)], {2: [unreached()] * 99}, 600, 0, 64),
    "a request in doubt": ([Packed(1), Packed(2, wave=2)], {1: [lost()]}, 600, 890, 900),
    "the pace": (plan(3), {}, 1, 0, 0),
}


@pytest.mark.parametrize("case", WAITS)
def test_a_wait_that_the_caller_does_not_allow_ends_the_delivery(virtually: Any, clock: Clock, case: str) -> None:
    """After what was confirmed: the time is counted since then. Without a limit the delivery ends well."""
    requests, scripts, pace, shortest, longest = WAITS[case]
    given = {"concurrency": 1, "limiter": PacedLimiter(pace, clock=clock)}
    ended = Upload(clock, requests, scripts, longest_wait_seconds=50.0, **given)
    delivered = virtually(ended.run())
    assert isinstance(delivered.error, LongWait)
    assert shortest <= delivered.error.seconds <= longest
    assert delivered.confirmed == 1
    assert ended.ended_at <= 55.0
    if case != "an outage":
        given["limiter"] = PacedLimiter(pace, clock=clock)
        assert virtually(Upload(clock, requests, scripts, **given).run()).is_complete


def test_a_slow_pace_is_no_long_wait_while_requests_are_confirmed(virtually: Any, clock: Clock) -> None:
    """Several requests wait for their places, each for longer than the limit, and none of them alone."""
    given = {"concurrency": 4, "limiter": PacedLimiter(2, clock=clock)}
    assert virtually(Upload(clock, plan(8), longest_wait_seconds=40.0, **given).run()).is_complete


def test_a_byte_leaves_only_after_it_was_announced(virtually: Any, clock: Clock) -> None:
    """The journal hears of a request when its turn has come, before every try; its failure keeps the bytes back."""
    heard: list[tuple[str, int]] = []

    class Journal:
        async def intend(self, request: Any) -> None:
            heard.append(("intend", request.number))
            if request.number == 3:
                raise InputOutputFailed("the disk is full")

        async def intend_again(self, number: int) -> None:
            heard.append(("again", number))

        async def conclude(self, result: Any) -> None:
            heard.append(("conclude", result.number))

    upload = Upload(clock, plan(4), {1: [lost()]}, journal=Journal(), concurrency=1)
    delivered = virtually(upload.run())
    assert heard[1] == ("again", 1)
    assert heard[:1] + heard[2:] == [(word, number) for number in (1, 2, 3) for word in ("intend", "conclude")]
    assert (delivered.confirmed, delivered.attempts) == (2, 3)
    assert isinstance(delivered.error, InputOutputFailed)
    assert [(result.number, result.outcome) for result in delivered.pending] == [(3, None)]
