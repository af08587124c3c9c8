"""Real asyncio on virtual time, a service that follows a script, and sums that close whatever happens."""

from __future__ import annotations

import asyncio
import gc
import random
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audiencekit.delivery.clock import Clock
from audiencekit.delivery.limiter import PacedLimiter, RateLimiter, Unlimited
from audiencekit.delivery.quota import RetryQuota
from audiencekit.delivery.results import Delivered, RequestResult
from audiencekit.delivery.retry import RetryPolicy
from audiencekit.delivery.uploader import deliver
from audiencekit.errors import (
    Bug,
    CountMismatch,
    InputOutputFailed,
    MalformedAnswer,
    NotFinished,
    NotFound,
    Outcome,
    RateLimited,
    Redirected,
    RequestRefused,
    TemporarilyUnavailable,
    TransportFailed,
    Unauthorized,
    UsageError,
)

EXCHANGE_SECONDS = 0.5
MARKER = "marker-of-a-person"


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Packed:
    number: int
    wave: int = 1
    records: int = 10
    body_bytes: int = 1000
    body: str = field(default=MARKER, repr=False)


@dataclass(frozen=True, slots=True)
class Counts:
    success_count: Any
    total_count: Any


def limited(reset_in: float | None = None) -> Callable[[Clock], Exception]:
    """A 429 whose reset is `reset_in` seconds after the answer."""

    def make(clock: Clock) -> Exception:
        error = RateLimited("the service asks to wait", status=429)
        error.reset_at = None if reset_in is None else clock.now() + reset_in
        return error

    return make


def busy(retry_after: float | None = None) -> Exception:
    error = TemporarilyUnavailable("the service is not available", status=503, outcome=Outcome.UNKNOWN)
    error.retry_after = retry_after
    return error


def lost() -> Exception:
    return TransportFailed("no answer", sent=True)


def unreached() -> Exception:
    return TransportFailed("connection refused", sent=False)


def revoked() -> Exception:
    return Unauthorized("the service refuses the credentials", status=401, codes=("UNAUTHORIZED_ACCESS",))


FATAL: list[Any] = [
    revoked(),
    Redirected("elsewhere", status=307),
    RequestRefused("refused", status=400, codes=("INVALID_PARAMETER",)),
    NotFound("gone", status=404),
]

Step = Any  # None: counted right; Counts; an exception; a callable that makes one; a float: seconds it takes longer


class Service:
    """Answers each request by its script, then rightly. Notes who was sent when, and watches over the promises."""

    def __init__(self, clock: Clock, scripts: dict[int, list[Step]] | None = None) -> None:
        self._clock = clock
        self._scripts = {number: list(script) for number, script in (scripts or {}).items()}
        self.sent: list[tuple[float, int]] = []
        self.confirmed: set[int] = set()
        self.in_flight: set[int] = set()
        self.most_in_flight = 0
        self.unfinished_waves: dict[int, set[int]] = defaultdict(set)

    @property
    def numbers(self) -> list[int]:
        return [number for _, number in self.sent]

    def times_of(self, number: int) -> list[float]:
        return [round(at, 6) for at, sent in self.sent if sent == number]

    async def send(self, request: Packed) -> Counts:
        assert request.number not in self.in_flight, "one request is in flight twice"
        assert request.number not in self.confirmed, "a confirmed request was sent again"
        assert not [wave for wave, open_ in self.unfinished_waves.items() if wave < request.wave and open_]
        self.sent.append((self._clock.monotonic(), request.number))
        self.in_flight.add(request.number)
        self.most_in_flight = max(self.most_in_flight, len(self.in_flight))
        try:
            return await self._answer(request)
        finally:
            self.in_flight.discard(request.number)

    async def _answer(self, request: Packed) -> Counts:
        script = self._scripts.get(request.number, [])
        step = script.pop(0) if script else None
        if isinstance(step, float):
            await self._clock.sleep(step)
            step = None
        await self._clock.sleep(EXCHANGE_SECONDS)
        if callable(step):
            step = step(self._clock)
        if isinstance(step, BaseException):
            raise step
        if step is None:
            self.confirmed.add(request.number)
            self.unfinished_waves[request.wave].discard(request.number)
            return Counts(request.records, request.records)
        assert isinstance(step, Counts)
        return step


class Upload:
    """One delivery under test, with whatever it did."""

    def __init__(
        self,
        clock: Clock,
        requests: Iterable[Packed],
        scripts: dict[int, list[Step]] | None = None,
        *,
        limiter: RateLimiter | None = None,
        seed: int = 1,
        **options: Any,
    ) -> None:
        self.clock, self.requests = clock, requests
        self.service = Service(clock, scripts)
        self.progress: list[RequestResult] = []
        self._limiter = limiter or Unlimited()
        quota = options.pop("quota", None)
        self._policy = RetryPolicy(clock=clock, randomness=random.Random(seed), quota=quota)
        self._options: dict[str, Any] = {"concurrency": 4, "on_progress": self.progress.append} | options
        self.ended_at = 0.0

    async def run(self, send: Any = None) -> Delivered:
        if isinstance(self.requests, list):
            for request in self.requests:
                self.service.unfinished_waves[request.wave].add(request.number)
        delivered = await deliver(
            self.requests, send=send or self.service.send, limiter=self._limiter, policy=self._policy,
            clock=self.clock, **self._options,
        )  # fmt: skip
        self.ended_at = self.clock.monotonic()
        assert not self.service.in_flight
        return delivered


def plan(count: int, **options: Any) -> list[Packed]:
    return [Packed(number, **options) for number in range(1, count + 1)]


# --- when all goes well ---


def test_everything_is_confirmed_once(virtually: Any, clock: Clock) -> None:
    """Each request is sent once, in order, and the sums are those of the plan."""
    upload = Upload(clock, plan(9))
    delivered = virtually(upload.run())
    assert upload.service.numbers == list(range(1, 10))
    assert delivered == Delivered(
        confirmed=9, records_confirmed=90, body_bytes=9000, success_count=90, total_count=90, attempts=9,
        rate_limited=0, pending=(), is_read_to_end=True, error=None,
    )  # fmt: skip
    assert delivered.is_complete


def test_nothing_to_send_is_complete(virtually: Any, clock: Clock) -> None:
    """An empty plan is delivered without a word."""
    upload = Upload(clock, [])
    delivered = virtually(upload.run())
    assert delivered.is_complete
    assert (delivered.confirmed, upload.service.sent, upload.progress) == (0, [], [])


def test_several_requests_are_in_flight(virtually: Any, clock: Clock) -> None:
    """As many as `concurrency` go at once, never more, and each takes its own time."""
    upload = Upload(clock, plan(12), {2: [20.0]}, concurrency=3)
    virtually(upload.run())
    assert upload.service.most_in_flight == 3
    assert upload.ended_at == pytest.approx(20.0 + EXCHANGE_SECONDS)  # the slow one held nobody back


def test_progress_tells_each_request_once(virtually: Any, clock: Clock) -> None:
    """One result a request, when it is confirmed, with what it took."""
    upload = Upload(clock, plan(2), {1: [lost(), limited(5.0)]}, concurrency=2)
    virtually(upload.run())
    outcome: dict[str, Any] = {
        "outcome": Outcome.CONFIRMED,
        "records": 10,
        "body_bytes": 1000,
        "error": None,
        "codes": (),
    }
    assert upload.progress == [
        RequestResult(number=2, attempts=1, rate_limited=0, **outcome),
        RequestResult(number=1, attempts=3, rate_limited=1, **outcome),
    ]


def test_pace_is_kept_with_many_in_flight(virtually: Any, clock: Clock) -> None:
    """The limiter decides when a request leaves, re-sends included."""
    scripts: dict[int, list[Step]] = {number: [lost()] for number in range(1, 200, 3)}
    upload = Upload(clock, plan(200), scripts, limiter=PacedLimiter(1470, clock=clock), concurrency=16)
    assert virtually(upload.run()).is_complete
    moments = [at for at, _ in upload.service.sent]
    assert len(moments) == 267
    assert min(later - earlier for earlier, later in pairwise(moments)) >= 60 / 1470 / 2
    assert moments[-1] == pytest.approx(266 * 60 / 1470, rel=0.05)


def test_concurrency_below_one_is_refused(virtually: Any, clock: Clock) -> None:
    """Without a worker nothing would ever be sent."""
    with pytest.raises(UsageError):
        virtually(Upload(clock, plan(1), concurrency=0).run())


# --- memory ---


def lazily(count: int, alive: weakref.WeakSet[Packed], most: list[int]) -> Iterator[Packed]:
    for number in range(1, count + 1):
        request = Packed(number, wave=1 + number // 20)
        alive.add(request)
        most[0] = max(most[0], len(alive))
        yield request
        del request


@pytest.mark.parametrize("concurrency", [1, 4])
def test_bodies_are_taken_late_and_dropped_early(virtually: Any, clock: Clock, concurrency: int) -> None:
    """At most `concurrency + 1` requests are alive, without help of the garbage collector, retried or not."""
    alive: weakref.WeakSet[Packed] = weakref.WeakSet()
    most = [0]
    scripts: dict[int, list[Step]] = {
        number: [lost(), limited(2.0), Counts(1, 10), KeyError(MARKER) if number == 58 else busy()]
        for number in range(1, 60, 3)
    }
    upload = Upload(clock, lazily(60, alive, most), scripts, concurrency=concurrency, quota=RetryQuota(10_000))
    gc.collect()
    gc.disable()
    try:
        delivered = virtually(upload.run())
        assert len(alive) == 0
    finally:
        gc.enable()
    assert isinstance(delivered.error, Bug)
    assert delivered.confirmed >= 50
    assert most[0] <= concurrency + 1


def test_requests_are_not_taken_ahead(virtually: Any, clock: Clock) -> None:
    """No request is taken before a worker is free for it."""
    taken: list[int] = []

    def requests() -> Iterator[Packed]:
        for request in plan(20):
            assert len(taken) - len(upload.progress) < 3
            taken.append(request.number)
            yield request

    upload = Upload(clock, requests(), concurrency=3)
    assert virtually(upload.run()).confirmed == 20


# --- waves ---


def test_wave_waits_for_the_one_before(virtually: Any, clock: Clock) -> None:
    """The first request of a wave leaves after the last confirmation of the wave before, re-sends included."""
    requests = [Packed(1), Packed(2), Packed(3, wave=2), Packed(4, wave=2), Packed(5, wave=5)]
    upload = Upload(clock, requests, {1: [busy(30.0)], 3: [10.0]})
    assert virtually(upload.run()).is_complete
    first = {number: upload.service.times_of(number)[0] for number in range(1, 6)}
    assert first[1] == first[2] == 0.0
    assert 30.5 < upload.service.times_of(1)[1] <= 31.5
    assert first[3] == first[4] == pytest.approx(upload.service.times_of(1)[1] + EXCHANGE_SECONDS)
    assert first[5] == pytest.approx(first[3] + 10.0 + EXCHANGE_SECONDS)


def test_no_wave_begins_after_a_failed_one(virtually: Any, clock: Clock) -> None:
    """When a request of wave 1 is refused, no request of wave 2 ever leaves."""
    requests = [Packed(1), Packed(2), Packed(3, wave=2), Packed(4, wave=2)]
    upload = Upload(clock, requests, {2: [RequestRefused("refused", status=400)]})
    delivered = virtually(upload.run())
    assert upload.service.numbers == [1, 2]
    assert [(result.number, result.outcome, result.attempts) for result in delivered.pending] == [
        (2, Outcome.REFUSED, 1),
        (3, None, 0),
        (4, None, 0),
    ]


def test_waves_out_of_order_stop_the_delivery(virtually: Any, clock: Clock) -> None:
    """A plan whose waves go back is a bug: what is under way ends, nothing more is sent."""
    upload = Upload(clock, iter([Packed(1, wave=2), Packed(2, wave=1), Packed(3, wave=2)]), concurrency=1)
    delivered = virtually(upload.run())
    assert isinstance(delivered.error, Bug)
    assert upload.service.numbers == [1]
    assert delivered.confirmed == 1


# --- answers that do not add up ---


@pytest.mark.parametrize(
    ("counts", "error"),
    [
        (Counts(9, 10), "CountMismatch"),
        (Counts(10, 11), "CountMismatch"),
        (Counts(9, 9), "CountMismatch"),  # equal to each other, not to what was sent
        (Counts(11, 11), "CountMismatch"),
        (Counts(0, 0), "CountMismatch"),
        (Counts(10, 9), "CountMismatch"),
        (Counts(10.0, 10), "MalformedAnswer"),
        (Counts("10", "10"), "MalformedAnswer"),
        (Counts(True, True), "MalformedAnswer"),
        (Counts(None, None), "MalformedAnswer"),
    ],
)
def test_wrong_counts_are_never_confirmed(virtually: Any, clock: Clock, counts: Counts, error: str) -> None:
    """The uploader compares by itself: sent again three times, then the run halts with an unknown outcome."""
    upload = Upload(clock, plan(1), {1: [counts] * 9})
    delivered = virtually(upload.run())
    assert (delivered.confirmed, delivered.records_confirmed, delivered.attempts) == (0, 0, 4)
    assert delivered.pending[0].outcome is Outcome.UNKNOWN
    assert delivered.pending[0].error == error == type(delivered.error).__name__


@pytest.mark.parametrize("wrong", [Counts(9, 10), CountMismatch(sent=10, success_count=9, total_count=10)])
def test_right_counts_at_last_confirm(virtually: Any, clock: Clock, wrong: Step) -> None:
    """A short count is sent again, whoever noticed it, and counts when the numbers are right."""
    upload = Upload(clock, plan(1), {1: [wrong, wrong, wrong]})
    delivered = virtually(upload.run())
    assert delivered.is_complete
    assert (delivered.success_count, delivered.attempts) == (10, 4)


def test_single_record_is_not_true(virtually: Any, clock: Clock) -> None:
    """`true` is no count of one record."""
    upload = Upload(clock, plan(1, records=1), {1: [Counts(True, True)] * 4})
    assert virtually(upload.run()).confirmed == 0


def test_zero_records_need_zero_counts(virtually: Any, clock: Clock) -> None:
    """Even an empty request is compared."""
    assert virtually(Upload(clock, plan(1, records=0)).run()).confirmed == 1
    assert virtually(Upload(clock, plan(1, records=0), {1: [Counts(1, 1)] * 4}).run()).confirmed == 0


# --- waiting ---


@pytest.mark.parametrize(("reset_in", "shortest"), [(30.0, 30.0), (None, 60.0), (-500.0, 60.0), (9e9, 60.0)])
def test_429_pauses_every_worker(virtually: Any, clock: Clock, reset_in: float | None, shortest: float) -> None:
    """After one 429 nobody sends until the reset; then all go on, and the 429 was no attempt."""
    upload = Upload(clock, plan(12), {3: [limited(reset_in)]}, concurrency=4)
    delivered = virtually(upload.run())
    assert delivered.is_complete
    assert (delivered.attempts, delivered.rate_limited) == (13, 1)
    later = [at for at, _ in upload.service.sent if at > EXCHANGE_SECONDS]
    assert shortest + EXCHANGE_SECONDS <= min(later) <= shortest + EXCHANGE_SECONDS + 1.0


def test_429_holds_back_who_already_has_a_place(virtually: Any, clock: Clock) -> None:
    """A request that waited for its turn when the 429 came does not slip through, and the pace holds after it."""
    upload = Upload(clock, plan(8), {1: [limited(30.0)]}, limiter=PacedLimiter(60, clock=clock), concurrency=8)
    assert virtually(upload.run()).is_complete
    moments = [at for at, _ in upload.service.sent]
    assert moments[0] == 0.0
    assert moments[1] >= 30.5
    assert min(later - earlier for earlier, later in pairwise(moments[1:])) >= 0.5


def test_429_is_passed_on_to_whoever_shares_the_quota(virtually: Any, clock: Clock) -> None:
    """A limiter that can pause hears of each 429, with the time that this run waits."""
    pauses: list[float] = []

    class Shared(Unlimited):
        is_quota_shared = False

        async def pause(self, seconds: float) -> None:
            pauses.append(seconds)

    upload = Upload(clock, plan(4), {1: [limited(30.0)], 3: [limited(20.0)]}, limiter=Shared(), concurrency=1)
    assert virtually(upload.run()).is_complete
    assert pauses == pytest.approx([30.5, 20.5], abs=0.5)


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
    """A server that refuses everybody for 20 s ends no run, whatever the randomness."""
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


# --- the end, before the end ---


@pytest.mark.parametrize("error", FATAL, ids=lambda error: type(error).__name__)
def test_fatal_error_stops_and_drains(virtually: Any, clock: Clock, error: Exception) -> None:
    """What is under way is finished and counted; nothing else is sent, and nothing is sent again."""
    upload = Upload(clock, plan(40), {5: [1.0], 6: [error], 7: [3.0], 8: [lost()]}, concurrency=4)
    delivered = virtually(upload.run())
    assert delivered.error is error
    assert upload.service.numbers == [1, 2, 3, 4, 5, 6, 7, 8]
    assert delivered.confirmed == 6
    assert [(result.number, result.outcome, result.error) for result in delivered.pending] == [
        (6, Outcome.REFUSED, type(error).__name__),
        (8, Outcome.UNKNOWN, "TransportFailed"),
    ]
    assert not delivered.is_read_to_end
    assert delivered.pending_refused
    assert len(upload.progress) == 8


def test_codes_of_the_service_come_back(virtually: Any, clock: Clock) -> None:
    """The words that the service gave stand in the result."""
    delivered = virtually(Upload(clock, plan(1), {1: [revoked()]}).run())
    assert delivered.pending[0].codes == ("UNAUTHORIZED_ACCESS",)


def test_fatal_error_ends_every_wait(virtually: Any, clock: Clock) -> None:
    """Requests that wait out a backoff, a pause, a turn or a wave are given up at once."""
    requests = [Packed(1), Packed(2), Packed(3), Packed(4), Packed(5, wave=2)]

    async def send(request: Packed) -> Counts:
        if request.number == 3:
            await clock.sleep(3.0)
            raise revoked()
        return await upload.service.send(request)

    upload = Upload(clock, requests, {1: [busy(500.0)], 2: [limited(100.0)]}, concurrency=5)
    delivered = virtually(upload.run(send))
    assert isinstance(delivered.error, Unauthorized)
    assert upload.ended_at == pytest.approx(3.0)
    assert [result.number for result in delivered.pending] == [1, 2, 3, 5]
    assert {result.number: result.error for result in delivered.pending} == {
        1: "TemporarilyUnavailable",
        2: "RateLimited",
        3: "Unauthorized",
        5: None,
    }


def test_first_error_is_kept(virtually: Any, clock: Clock) -> None:
    """Of several fatal errors the first one is told."""
    first, second = NotFound("gone", status=404), revoked()
    upload = Upload(clock, plan(3), {1: [lambda clock: second], 2: [first]}, concurrency=3)

    async def send(request: Packed) -> Counts:
        if request.number == 1:
            await clock.sleep(1.0)
        return await upload.service.send(request)

    delivered = virtually(upload.run(send))
    assert delivered.error is first
    assert [result.error for result in delivered.pending] == ["Unauthorized", "NotFound"]


def test_failing_plan_stops_the_delivery(virtually: Any, clock: Clock) -> None:
    """A spool that cannot be read ends the run with its own error, after what is under way."""

    def requests() -> Iterator[Packed]:
        yield from plan(5)
        raise InputOutputFailed("chunk 3 of the spool was changed after it was written")

    upload = Upload(clock, requests(), {4: [5.0]}, concurrency=2)
    delivered = virtually(upload.run())
    assert isinstance(delivered.error, InputOutputFailed)
    assert delivered.confirmed == 5
    assert not delivered.is_read_to_end


@pytest.mark.parametrize("where", ["send", "plan", "progress", "limiter"])
def test_unexpected_exception_shows_no_value(virtually: Any, clock: Clock, where: str) -> None:
    """An exception that is not ours becomes a Bug by type and place: no message, no frames, no cause."""

    def fail(*_: Any) -> Any:
        raise ValueError(MARKER)

    def requests() -> Iterator[Packed]:
        yield Packed(1)
        if where == "plan":
            fail()
        yield Packed(2)

    class FailingLimiter:
        async def acquire(self) -> None:
            fail()

    options: dict[str, Any] = {"concurrency": 1}
    if where == "progress":
        options["on_progress"] = fail
    if where == "limiter":
        options["limiter"] = FailingLimiter()
    upload = Upload(clock, requests(), {1: [lambda clock: fail()]} if where == "send" else {}, **options)
    delivered = virtually(upload.run())
    error = delivered.error
    assert isinstance(error, Bug)
    assert "ValueError in fail" in str(error)
    assert MARKER not in str(error) + repr(error) + repr(delivered)
    assert (error.__traceback__, error.__cause__, error.__context__) == (None, None, None)
    assert 2 not in upload.service.numbers


def test_errors_come_back_without_frames(virtually: Any, clock: Clock) -> None:
    """The error that is told holds no traceback, in whose frames bodies would stand."""
    delivered = virtually(Upload(clock, plan(1), {1: [revoked()]}).run())
    assert delivered.error is not None
    assert delivered.error.__traceback__ is None
    assert delivered.error.__context__ is None


def test_confirmation_survives_a_failing_progress(virtually: Any, clock: Clock) -> None:
    """What was confirmed counts, even when telling it fails."""

    def full(result: RequestResult) -> None:
        raise InputOutputFailed("no space left")

    delivered = virtually(Upload(clock, plan(9), on_progress=full, concurrency=2).run())
    assert isinstance(delivered.error, InputOutputFailed)
    assert (delivered.confirmed, delivered.pending) == (2, ())


def test_plan_is_closed(virtually: Any, clock: Clock) -> None:
    """A generator that was not read to its end is closed, so that it lets go of what it holds."""
    closed: list[bool] = []

    def requests() -> Iterator[Packed]:
        try:
            yield from plan(50)
        finally:
            closed.append(True)

    virtually(Upload(clock, requests(), {3: [revoked()]}).run())
    assert closed == [True]


def test_exchange_that_cancels_itself_is_a_bug(virtually: Any, clock: Clock) -> None:
    """A CancelledError out of nowhere is no interruption: the outcome is unknown and the run halts."""
    upload = Upload(clock, plan(3), {2: [asyncio.CancelledError()]}, concurrency=1)
    delivered = virtually(upload.run())
    assert isinstance(delivered.error, Bug)
    assert [(result.number, result.outcome) for result in delivered.pending] == [(2, Outcome.UNKNOWN)]
    assert delivered.confirmed == 1


# --- interruption ---


async def interrupted(upload: Upload, *moments: float) -> Delivered:
    """What a delivery gives back that is cancelled at `moments`."""
    task = asyncio.create_task(upload.run())
    for moment in moments:
        await upload.clock.sleep(moment - upload.clock.monotonic())
        task.cancel()
    return await task


def test_interruption_drains(virtually: Any, clock: Clock) -> None:
    """Ctrl-C lets exchanges under way finish and comes back with the facts, not with an exception."""
    upload = Upload(clock, plan(40), {5: [4.0], 6: [lost()]}, concurrency=4)
    delivered = virtually(interrupted(upload, 0.7))
    assert isinstance(delivered.error, NotFinished)
    assert upload.service.numbers == [1, 2, 3, 4, 5, 6, 7, 8]
    assert delivered.confirmed == 7
    assert [(result.number, result.outcome) for result in delivered.pending] == [(6, Outcome.UNKNOWN)]
    assert upload.ended_at == pytest.approx(0.5 + 4.0 + 0.5)


def test_interruption_ends_waits(virtually: Any, clock: Clock) -> None:
    """Nobody waits out a pause of a minute after Ctrl-C."""
    upload = Upload(clock, plan(9), {1: [limited(60.0)]})
    delivered = virtually(interrupted(upload, 5.0))
    assert upload.ended_at == pytest.approx(5.0)
    assert delivered.confirmed == 3
    assert {result.number: result.outcome for result in delivered.pending}[1] is Outcome.REFUSED


def test_drain_has_an_end(virtually: Any, clock: Clock) -> None:
    """An exchange that hangs is cut off after 30 s; its outcome is unknown."""
    upload = Upload(clock, plan(9), {2: [10_000.0]}, concurrency=2)
    delivered = virtually(interrupted(upload, 0.7))
    assert upload.ended_at == pytest.approx(30.7)
    assert isinstance(delivered.error, NotFinished)
    cut_off = [(result.number, result.outcome, result.error) for result in delivered.pending]
    assert cut_off == [(2, Outcome.UNKNOWN, None)]


def test_second_interruption_is_raised(virtually: Any, clock: Clock) -> None:
    """A second Ctrl-C waits for nothing: the exchanges are cut off and the cancellation goes on; each was told."""
    upload = Upload(clock, plan(9), {2: [10_000.0]}, concurrency=2)

    async def main() -> float:
        with pytest.raises(asyncio.CancelledError):
            await interrupted(upload, 0.7, 2.0)
        return clock.monotonic()

    assert virtually(main()) == pytest.approx(2.0)
    assert {result.number: result.outcome for result in upload.progress}[2] is Outcome.UNKNOWN
    assert not upload.service.in_flight


def test_interruption_before_the_start_sends_nothing(virtually: Any, clock: Clock) -> None:
    """A cancellation that comes first leaves everything unsent."""
    upload = Upload(clock, plan(3))

    async def main() -> Delivered:
        task = asyncio.create_task(upload.run())
        await asyncio.sleep(0)
        task.cancel()
        return await task

    delivered = virtually(main())
    assert (upload.service.sent, delivered.confirmed, delivered.attempts) == ([], 0, 0)
    assert {result.outcome for result in delivered.pending} <= {None}
    assert isinstance(delivered.error, NotFinished)


def test_interruption_that_comes_too_late_changes_nothing(virtually: Any, clock: Clock) -> None:
    """When all that was left gets confirmed while draining, the delivery is complete."""
    upload = Upload(clock, plan(3), {2: [5.0]}, concurrency=3)
    assert virtually(interrupted(upload, 2.0)).is_complete


def test_interruption_does_not_cancel_what_follows(virtually: Any, clock: Clock) -> None:
    """After the facts came back, the caller can go on: write a report, for instance."""
    upload = Upload(clock, plan(9))

    async def main() -> str:
        await upload.run()
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0
        await clock.sleep(1.0)
        return "report written"

    async def cancelling() -> str:
        task = asyncio.create_task(main())
        await clock.sleep(0.7)
        task.cancel()
        return await task

    assert virtually(cancelling()) == "report written"


def test_interruption_while_draining_an_error_keeps_the_error(virtually: Any, clock: Clock) -> None:
    """The first reason to stop is the one that is told; the interruption only bounds the drain."""
    upload = Upload(clock, plan(9), {1: [revoked()], 2: [10_000.0]}, concurrency=2)
    delivered = virtually(interrupted(upload, 5.0))
    assert isinstance(delivered.error, Unauthorized)
    assert upload.ended_at == pytest.approx(35.0)


# --- whatever happens ---

STEPS = st.one_of(
    st.just(None),
    st.sampled_from([Counts(9, 10), Counts(10, 9), Counts(0, 0), Counts("10", 10)]),
    st.floats(0.0, 200.0),
    st.builds(lost),
    st.builds(unreached),
    st.builds(busy, st.none() | st.floats(-10, 2000)),
    st.builds(limited, st.none() | st.floats(-100, 1e6)),
    st.builds(lambda: MalformedAnswer("no JSON", status=200)),
)
RARE_ENDS = st.sampled_from([None] * 12 + [0, 1, 2, 3, "bug"])


def ending(kind: int | str | None) -> list[Step]:
    if kind is None:
        return []
    return [lambda clock: ValueError(MARKER) if kind == "bug" else type(FATAL[int(kind)])("no", status=400)]


@settings(max_examples=150, deadline=None)
@given(
    waves=st.lists(st.integers(0, 1), min_size=1, max_size=25),
    scripts=st.lists(st.tuples(st.lists(STEPS, max_size=7), RARE_ENDS), max_size=25),
    concurrency=st.integers(1, 8),
    seed=st.integers(0, 2**32),
    paced=st.booleans(),
    interruption=st.none() | st.floats(0, 400),
)
def test_sums_close_whatever_happens(
    virtually: Any,
    clock: Clock,
    waves: list[int],
    scripts: list[tuple[list[Step], int | str | None]],
    concurrency: int,
    seed: int,
    paced: bool,
    interruption: float | None,
) -> None:
    """For every script: each request is confirmed or pending or untouched, and confirmed only where counts matched.

    The service itself asserts on the way that no request is in flight twice, sent after it was confirmed, or sent
    before its wave.
    """
    requests, wave = [], 1
    for number, step in enumerate(waves, start=1):
        wave += step
        requests.append(Packed(number, wave=wave))
    upload = Upload(
        clock, requests, {number: steps + ending(end) for number, (steps, end) in enumerate(scripts, start=1)},
        concurrency=concurrency, seed=seed, limiter=PacedLimiter(600, clock=clock) if paced else None,
    )  # fmt: skip

    async def main() -> Delivered:
        return await (upload.run() if interruption is None else interrupted(upload, interruption))

    delivered = virtually(main())
    service = upload.service
    pending = {result.number for result in delivered.pending}
    untouched = {request.number for request in requests} - pending - service.confirmed
    told = {result.number: result for result in upload.progress}

    assert len(told) == len(upload.progress)
    assert set(told) == pending | service.confirmed
    assert not pending & service.confirmed
    assert {number for number, result in told.items() if result.is_confirmed} == service.confirmed
    assert not untouched & set(service.numbers)
    confirmed_records = sum(request.records for request in requests if request.number in service.confirmed)
    assert delivered.records_confirmed == delivered.success_count == delivered.total_count == confirmed_records
    assert delivered.attempts == len(service.sent)
    assert all(told[number].attempts == service.numbers.count(number) for number in told)
    assert service.most_in_flight <= concurrency
    everything = service.confirmed == {request.number for request in requests}
    assert delivered.is_complete == (delivered.error is None)
    if delivered.is_complete:
        assert everything
    assert everything or delivered.error is not None
    assert MARKER not in repr(delivered)
