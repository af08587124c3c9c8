"""Sends every request of a plan until each is confirmed: several in flight, never over the rate.

A request counts only when records sent, `success_count` and `total_count` are one number (specification
part 2, section 4.4). The facts come back however a delivery stops: no exception carries them away.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import math
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from audiencekit.delivery.clock import Clock
from audiencekit.delivery.concurrency import Lanes
from audiencekit.delivery.isolation import Isolation
from audiencekit.delivery.journal import Journal, NoJournal
from audiencekit.delivery.limiter import RateLimiter
from audiencekit.delivery.requesthistory import Course
from audiencekit.delivery.results import Delivered, OpenBody, PackedRequest, RefusedRow, RequestResult
from audiencekit.delivery.retry import RetryPolicy
from audiencekit.delivery.sending import Send, Sending
from audiencekit.delivery.stop import Stop, end, take_back_cancellation
from audiencekit.delivery.tally import Tally
from audiencekit.delivery.waves import FIRST_WAVE, Waves
from audiencekit.errors import AudiencekitError, NotFinished, UsageError
from audiencekit.limits import DEFAULT_CONCURRENCY, DRAIN_SECONDS, SETTLE_SECONDS, THREADED_BODY_BYTES
from audiencekit.personal import without_frames

T = TypeVar("T")

_WHY_SETTLE: Final = "an answer was lost, and until then its request could still be applied and undo them"


async def deliver(
    requests: Iterable[PackedRequest],
    *,
    send: Send,
    open_body: OpenBody,
    limiter: RateLimiter,
    policy: RetryPolicy,
    clock: Clock,
    journal: Journal | None = None,
    concurrency: int = DEFAULT_CONCURRENCY,
    on_progress: Callable[[RequestResult], None] = lambda result: None,
    tell: Callable[[str], None] = lambda message: None,
    drain_seconds: float = DRAIN_SECONDS,
    settle_seconds: float = SETTLE_SECONDS,
    confirmed_before: int | None = None,
    left_seconds_ago: float = 0.0,
) -> Delivered:
    """Send `requests` and return the results; they are taken one by one, in order, as fast as they can be sent.

    `send` is one exchange and raises an ExchangeError for a request that is not confirmed, counts that differ included.
    `open_body` gives back the places of the records in a body that is refused, or None where it cannot be sent in
    parts. The first error that cannot be retried stops the delivery: exchanges under way are finished, and nothing else
    is sent. A cancellation does the same, for at most `drain_seconds`, and comes back as NotFinished; a second one is
    raised. `on_progress` gets one result for every request that was taken, `tell` what explains a wait.

    `journal` hears of each request before its first byte leaves, and of its end. A wave waits `settle_seconds`
    after an attempt of an earlier one that may be applied late, so that this cannot undo what the wave does. With
    `confirmed_before`, the number of requests that earlier processes of this run have confirmed, such attempts may
    have been left behind by them, of any wave, and ended at least `left_seconds_ago`; None when this is the first
    process.
    """
    if concurrency < 1:
        raise UsageError("concurrency must be at least 1")
    stop = Stop()
    lanes = Lanes(concurrency, clock=clock, tell=tell)
    sending = Sending(send, lanes=lanes, limiter=limiter, policy=policy, clock=clock, stop=stop)
    delivery = _Delivery(
        requests, open_body=open_body, lanes=lanes, sending=sending, policy=policy, clock=clock, stop=stop,
        journal=journal or NoJournal(), on_progress=on_progress, tell=tell, settle_seconds=settle_seconds,
    )  # fmt: skip
    if confirmed_before is not None:
        delivery.follow(confirmed_before, left_seconds_ago)
    return await delivery.run(concurrency, drain_seconds)


class _Delivery:
    """One call of `deliver`: workers that share an iterator, the waves and a tally."""

    def __init__(
        self,
        requests: Iterable[PackedRequest],
        *,
        open_body: OpenBody,
        lanes: Lanes,
        sending: Sending,
        policy: RetryPolicy,
        clock: Clock,
        stop: Stop,
        journal: Journal,
        on_progress: Callable[[RequestResult], None],
        tell: Callable[[str], None],
        settle_seconds: float,
    ) -> None:
        self._requests, self._open_body = iter(requests), open_body
        self._sending, self._policy, self._clock, self._stop, self._journal = sending, policy, clock, stop, journal
        self._on_progress, self._tell, self._settle_seconds = on_progress, tell, settle_seconds
        self._lanes, self._waves, self._tally = lanes, Waves(), Tally()
        self._isolating = asyncio.Lock()  # an opened body is large: one at a time
        self._settled: dict[int, float] = {}
        self._confirmed_before = 0
        self._unrecorded: AudiencekitError | None = None  # what kept a result from the journal, or from the caller

    def follow(self, confirmed: int, left_seconds_ago: float) -> None:
        """Notes what processes before this one have confirmed, and since when none of theirs is under way."""
        self._confirmed_before = confirmed
        self._waves.doubt(FIRST_WAVE, self._clock.monotonic() - left_seconds_ago)

    async def run(self, concurrency: int, drain_seconds: float) -> Delivered:
        """All workers to their end, and the facts."""
        workers = [asyncio.create_task(self._work()) for _ in range(concurrency)]
        try:
            await asyncio.wait(workers)
        except asyncio.CancelledError:
            take_back_cancellation()
            self._stop.call(_interrupted())
            await self._drain(workers, drain_seconds)
        finally:
            await end(workers)
            self._close_requests()
        error = self._stop.error
        if self._tally.is_complete and isinstance(error, NotFinished):
            error = self._unrecorded  # the interruption came too late to keep anything back
        return self._tally.close(error, notes=self._notes())

    # --- the way of one request ---

    async def _work(self) -> None:
        # However a worker ends, it must not leave the others waiting for its wave.
        try:
            while await self._deliver_next():
                pass
        except asyncio.CancelledError:
            self._stop.call(_interrupted())
            raise
        except Exception as error:
            self._stop.call(without_frames(error))

    async def _deliver_next(self) -> bool:
        request = self._take()
        if request is None:
            return False
        course = Course(self._policy)
        try:
            await self._stop.idly(lambda: self._begun(request.wave))
            await self._settle(request, course)
        except asyncio.CancelledError as cancellation:
            cancellation.__traceback__ = None  # tenacity keeps it, and with its frames the body
            raise
        finally:
            await self._conclude(request, course)
        return True

    def _take(self) -> PackedRequest | None:
        if self._stop.is_called:
            return None
        try:
            request = next(self._requests, None)
            if request is None:
                self._tally.is_read_to_end = True
            else:
                self._waves.take(request.wave)
        except Exception as error:  # of packing or unsealing; its frames hold hashes
            self._stop.call(without_frames(error))
            return None
        return request

    async def _begun(self, wave: int) -> None:
        """Returns when `wave` may begin: all before it is confirmed, and nothing of it can be applied late."""
        await self._waves.reached(wave)
        settled_at = self._waves.doubted_at(wave) + self._settle_seconds
        wait_seconds = settled_at - self._clock.monotonic()
        if wait_seconds <= 0:
            return
        if wave not in self._settled:
            self._settled[wave] = 0.0
            self._tell(f"waiting {math.ceil(wait_seconds)} s before what overrules earlier requests: {_WHY_SETTLE}")
        began = self._clock.monotonic()
        try:
            while (wait_seconds := settled_at - self._clock.monotonic()) > 0:
                await self._clock.sleep(wait_seconds)
        finally:  # an interruption ends the wait early
            self._settled[wave] = max(self._settled[wave], self._clock.monotonic() - began)

    async def _settle(self, request: PackedRequest, course: Course) -> None:
        await self._sending.settle(request, course.whole, announce=lambda: self._announce(request, course))
        if course.whole.wants_isolation and not self._stop.is_called:
            await self._stop.idly(self._isolating.acquire)
            try:
                await self._isolate(request, course)
            except Exception as error:  # a body that cannot be cut up
                course.end_isolation((), without_frames(error))
            finally:
                self._isolating.release()

    async def _announce(self, request: PackedRequest, course: Course) -> None:
        was_intended, course.is_intended = course.is_intended, True  # who is stopped now has it written all the same
        if not was_intended:
            await self._journal.intend(request)
            return
        try:
            await self._journal.leave_again(request.number)
        except Exception as error:
            course.halt(without_frames(error))
            raise

    async def _isolate(self, request: PackedRequest, course: Course) -> None:
        """Sends `request` in parts until each record is confirmed or refused alone."""
        assert course.whole.error is not None  # noqa: S101
        opened = await _aside(request, functools.partial(self._open_body, request))
        if opened is None:
            return
        isolation = Isolation(
            opened.operation_of,
            course.whole.error,
            is_trusted=lambda: self._confirmed_before + self._tally.confirmed > 0,
        )
        while (group := isolation.next_group()) is not None:
            tries = course.begin_part()
            part = await _aside(request, functools.partial(opened.part, group.records))
            await self._sending.settle(part, tries, announce=lambda: self._announce(request, course))
            if tries.is_confirmed:
                isolation.taken(group)
            elif tries.wants_isolation and tries.error is not None:
                isolation.refused(group, tries.error)
            else:
                return
        isolation.finish()
        refused = tuple(RefusedRow(int(request.rows[index]), codes) for index, codes in isolation.bad.items())
        course.end_isolation(refused, isolation.halted_by)

    async def _conclude(self, request: PackedRequest, course: Course) -> None:
        result = course.result(request)
        self._tally.add(result)
        if course.error is not None:
            self._stop.call(course.error)
        if course.doubtful_at is not None:
            self._waves.doubt(request.wave, course.doubtful_at)
        try:
            if course.is_intended:
                await self._journal.conclude(result)
            if result.is_confirmed:
                self._waves.confirm(request.wave)
            self._on_progress(result)
        except Exception as failure:
            self._unrecorded = without_frames(failure)
            self._stop.call(self._unrecorded)

    def _notes(self) -> tuple[str, ...]:
        waited = math.ceil(sum(self._settled.values()))
        fewest = self._lanes.fewest
        notes = {
            f"fewer requests were sent at once, at the fewest {fewest}: the service closed connections beyond so many":
                self._lanes.has_narrowed,
            f"waited {waited} s: {_WHY_SETTLE}": waited > 0,
            "the service refused requests below our own limit: another client uses the same quota":
                self._sending.is_quota_shared,
        }  # fmt: skip
        return tuple(note for note, holds in notes.items() if holds)

    # --- stopping ---

    async def _drain(self, workers: list[asyncio.Task[None]], seconds: float) -> None:
        alarm = asyncio.create_task(self._clock.sleep(seconds))
        try:
            while not alarm.done() and (busy := [worker for worker in workers if not worker.done()]):
                await asyncio.wait([*busy, alarm], return_when=asyncio.FIRST_COMPLETED)
        finally:
            await end([alarm])

    def _close_requests(self) -> None:
        # What a generator does while it is closed cannot change what was sent.
        with contextlib.suppress(Exception):
            getattr(self._requests, "close", lambda: None)()


async def _aside(request: PackedRequest, work: Callable[[], T]) -> T:
    """Return the result of `work`, from a thread when the body is large."""
    return await asyncio.to_thread(work) if request.body_bytes > THREADED_BODY_BYTES else work()


def _interrupted() -> NotFinished:
    return NotFinished("the upload was interrupted before everything was sent")
