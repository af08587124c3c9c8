"""Real asyncio on virtual time, a service that follows a script, and sums that close whatever happens."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.delivery.limiter import PacedLimiter
from audiencekit.delivery.results import Delivered, RequestResult
from audiencekit.delivery.retry import Clock, RetryQuota
from audiencekit.errors import Bug, MalformedAnswer, Outcome, RequestRefused, UsageError
from tests.delivery.scripted import (
    EXCHANGE_SECONDS,
    FATAL,
    MARKER,
    Counts,
    Packed,
    Step,
    Upload,
    busy,
    interrupted,
    limited,
    lost,
    plan,
    unreached,
)
from tests.examples import examples

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
    assert upload.ended_at == pytest.approx(20.0 + EXCHANGE_SECONDS)  # the slow one held no other back


def test_progress_tells_each_request_once(virtually: Any, clock: Clock) -> None:
    """One result a request, when it is confirmed, with what it took."""
    upload = Upload(clock, plan(2), {1: [lost(), limited(5.0)]}, concurrency=2)
    virtually(upload.run())
    outcome: dict[str, Any] = {
        "outcome": Outcome.CONFIRMED,
        "records": 10,
        "body_bytes": 1000,
        "success_count": 10,
        "total_count": 10,
        "error": None,
        "codes": (),
    }
    assert upload.progress == [
        RequestResult(number=2, attempts=1, rate_limited=0, **outcome),
        RequestResult(number=1, attempts=3, rate_limited=1, is_doubtful=True, **outcome),
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
    upload = Upload(clock, requests, {2: [RequestRefused("refused", status=409)]})
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
    return [lambda clock: ValueError(MARKER) if kind == "bug" else type(FATAL[int(kind)])("no", status=405)]


@settings(max_examples=examples(150), deadline=None)
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


def test_a_wait_that_was_interrupted_is_told_as_long_as_it_was(virtually: Any, clock: Clock) -> None:
    """And not as long as it was to be."""
    upload = Upload(clock, [Packed(1), Packed(2, wave=2)], {1: [lost()]})
    delivered = virtually(interrupted(upload, 40.0))
    assert not delivered.is_complete
    (note,) = delivered.notes
    assert note.startswith(("waited 38 s: ", "waited 39 s: ", "waited 40 s: "))
