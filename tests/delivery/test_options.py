"""Causes that end a delivery early, and the facts that are known then."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from audiencekit.delivery.options import Waves
from audiencekit.delivery.results import Delivered, RequestResult
from audiencekit.delivery.retry import Clock
from audiencekit.errors import Bug, InputOutputFailed, NotFinished, NotFound, Outcome, Unauthorized
from tests.delivery.scripted import (
    FATAL,
    MARKER,
    Counts,
    Packed,
    Upload,
    busy,
    interrupted,
    limited,
    lost,
    plan,
    revoked,
)


@pytest.mark.parametrize("error", FATAL, ids=lambda error: type(error).__name__)
def test_fatal_error_stops_and_drains(virtually: Any, clock: Clock, error: Exception) -> None:
    """Requests under way are finished and counted; nothing else is sent, and nothing is sent again."""
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
    """A confirmed request counts, even when telling it fails."""

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
    """No worker waits out a pause of a minute after Ctrl-C."""
    upload = Upload(clock, plan(9), {1: [limited(60.0)]})
    delivered = virtually(interrupted(upload, 5.0))
    assert upload.ended_at == pytest.approx(5.0)
    assert delivered.confirmed == 3
    assert {result.number: result.outcome for result in delivered.pending}[1] is Outcome.REFUSED


def test_drain_has_an_end(virtually: Any, clock: Clock) -> None:
    """An exchange that hangs is cut off after 25 s; its outcome is unknown."""
    upload = Upload(clock, plan(9), {2: [10_000.0]}, concurrency=2)
    delivered = virtually(interrupted(upload, 0.7))
    assert upload.ended_at == pytest.approx(25.7)
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
    assert upload.ended_at == pytest.approx(30.0)


def test_wave_waits_for_every_request_before_it(virtually: Any) -> None:
    """Wave 2 begins after the last confirmation of wave 1, not after the first; wave 1 never waits."""

    async def main() -> list[str]:
        waves, seen = Waves(), []
        for wave in (1, 1, 2, 3):
            waves.take(wave)

        async def begin(wave: int) -> None:
            await waves.reached(wave)
            seen.append(f"wave {wave} begins")

        tasks = [asyncio.create_task(begin(wave)) for wave in (3, 2, 1)]
        for confirmed in (1, 1, 2, 3):
            await asyncio.sleep(1)
            seen.append(f"one of wave {confirmed} is confirmed")
            waves.confirm(confirmed)
        await asyncio.gather(*tasks)
        return seen

    assert virtually(main()) == [
        "wave 1 begins",
        "one of wave 1 is confirmed",
        "one of wave 1 is confirmed",
        "wave 2 begins",
        "one of wave 2 is confirmed",
        "wave 3 begins",
        "one of wave 3 is confirmed",
    ]


def test_all_who_wait_for_a_wave_begin_together(virtually: Any) -> None:
    """One confirmation wakes every request of the next wave."""

    async def main() -> int:
        waves = Waves()
        for wave in (5, 7, 7, 7):
            waves.take(wave)
        waiting = [asyncio.create_task(waves.reached(7)) for _ in range(3)]
        await asyncio.sleep(1)
        waves.confirm(5)
        await asyncio.gather(*waiting)
        return len(waiting)

    assert virtually(main()) == 3


def test_waves_out_of_order_are_a_bug() -> None:
    """A request of a lower wave after one of a higher can no longer be in order."""
    waves = Waves()
    waves.take(2)
    with pytest.raises(Bug, match="wave 1 came after one of wave 2"):
        waves.take(1)
