"""Sends every request of a plan until each is confirmed: several in flight, never over the rate.

A request counts only when records sent, `success_count` and `total_count` are one number (specification
part 2, section 4.4). Whatever stops the delivery, the facts come back: no exception carries them away.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable
from typing import Generic, TypeVar

from audiencekit.delivery.clock import Clock
from audiencekit.delivery.gate import Gate
from audiencekit.delivery.limiter import Pausable, RateLimiter
from audiencekit.delivery.results import Counts, Delivered, PackedRequest, RequestResult
from audiencekit.delivery.retry import Reaction, RetryPolicy
from audiencekit.delivery.tally import Tally
from audiencekit.delivery.tries import Attempted, Tries, retrying
from audiencekit.delivery.waves import Waves
from audiencekit.errors import AudiencekitError, Bug, CountMismatch, MalformedAnswer, NotFinished, UsageError
from audiencekit.limits import DEFAULT_CONCURRENCY, DRAIN_SECONDS
from audiencekit.personal import without_frames

R = TypeVar("R", bound=PackedRequest)


async def deliver(
    requests: Iterable[R],
    *,
    send: Callable[[R], Awaitable[Counts]],
    limiter: RateLimiter,
    policy: RetryPolicy,
    clock: Clock,
    concurrency: int = DEFAULT_CONCURRENCY,
    on_progress: Callable[[RequestResult], None] = lambda result: None,
    drain_seconds: float = DRAIN_SECONDS,
) -> Delivered:
    """What became of `requests`, which are taken one by one, in order, only as fast as they can be sent.

    `send` is one exchange and raises an ExchangeError for whatever is not confirmed. The first error that
    cannot be retried stops the delivery: exchanges under way are finished, and nothing else is sent. A
    cancellation does the same, for at most `drain_seconds`, and comes back as NotFinished; a second one is
    raised. `on_progress` gets one result for every request that was taken.
    """
    if concurrency < 1:
        raise UsageError("concurrency must be at least 1")
    delivery = _Delivery(requests, send=send, limiter=limiter, policy=policy, clock=clock, on_progress=on_progress)
    return await delivery.run(concurrency, drain_seconds)


class _Delivery(Generic[R]):
    """One call of `deliver`: workers that share an iterator, a gate, the waves and a tally."""

    def __init__(
        self,
        requests: Iterable[R],
        *,
        send: Callable[[R], Awaitable[Counts]],
        limiter: RateLimiter,
        policy: RetryPolicy,
        clock: Clock,
        on_progress: Callable[[RequestResult], None],
    ) -> None:
        self._requests = iter(requests)
        self._send, self._limiter, self._policy, self._clock = send, limiter, policy, clock
        self._on_progress = on_progress
        self._gate, self._waves, self._tally = Gate(clock=clock), Waves(), Tally()
        self._idle: set[asyncio.Task[None]] = set()
        self._error: AudiencekitError | None = None

    async def run(self, concurrency: int, drain_seconds: float) -> Delivered:
        """All workers to their end, and the facts."""
        workers = [asyncio.create_task(self._work()) for _ in range(concurrency)]
        try:
            await asyncio.wait(workers)
        except asyncio.CancelledError:
            _take_back_cancellation()
            self._stop(_interrupted())
            await self._drain(workers, drain_seconds)
        finally:
            await _end(workers)
            self._close_requests()
        if self._tally.is_complete and isinstance(self._error, NotFinished):
            self._error = None  # the interruption came too late to keep anything back
        return self._tally.close(self._error)

    # --- the way of one request ---

    async def _work(self) -> None:
        # However a worker ends, it must not leave the others waiting for its wave.
        try:
            while await self._deliver_next():
                pass
        except asyncio.CancelledError:
            self._stop(_interrupted())
            raise
        except Exception as error:
            self._stop(without_frames(error))

    async def _deliver_next(self) -> bool:
        request = self._take()
        if request is None:
            return False
        tries = Tries(self._policy)
        try:
            await self._settle(request, tries)
        except asyncio.CancelledError as cancellation:
            cancellation.__traceback__ = None  # tenacity keeps it, and with its frames the body
            raise
        finally:
            self._conclude(request, tries)
        return True

    def _take(self) -> R | None:
        if self._is_stopped():
            return None
        try:
            request = next(self._requests, None)
            if request is None:
                self._tally.is_read_to_end = True
            else:
                self._waves.take(request.wave)
        except Exception as error:  # whatever packs or unseals requests; its frames hold hashes
            self._stop(without_frames(error))
            return None
        return request

    async def _settle(self, request: R, tries: Tries) -> None:
        await self._idly(lambda: self._waves.reached(request.wave))

        async def sleep(seconds: float) -> None:
            await self._rest(tries, seconds)

        await retrying(tries, sleep=sleep, is_stopped=self._is_stopped)(self._attempt, request, tries)

    async def _attempt(self, request: R, tries: Tries) -> Attempted:
        await self._idly(self._turn)
        tries.begin_exchange()
        try:
            return _checked(await self._send(request), request.records)
        except Exception as error:
            return without_frames(error)
        except asyncio.CancelledError:
            if _is_being_cancelled():
                raise
            return Bug("an exchange ended as cancelled, and nobody cancelled it")

    async def _turn(self) -> None:
        """Returns when one request may leave: the gate is open and the limiter has given a place."""
        while True:
            await self._gate.passed()
            await self._limiter.acquire()
            if self._gate.is_open:
                return

    async def _rest(self, tries: Tries, seconds: float) -> None:
        if tries.reaction is Reaction.WAIT:
            self._gate.shut(seconds)  # for all workers; the next attempt waits there
            limiter = self._limiter
            if isinstance(limiter, Pausable):  # and for all who share the quota
                await self._idly(lambda: limiter.pause(seconds))
        elif seconds > 0:
            await self._idly(lambda: self._clock.sleep(seconds))

    def _conclude(self, request: R, tries: Tries) -> None:
        result = RequestResult(
            number=request.number,
            outcome=tries.outcome,
            attempts=tries.exchanges,
            rate_limited=tries.rate_limited,
            records=request.records,
            body_bytes=request.body_bytes,
            error=None if tries.error is None else type(tries.error).__name__,
            codes=getattr(tries.error, "codes", ()),
        )
        self._tally.add(result)
        if tries.error is not None:
            self._stop(tries.error)
        elif result.is_confirmed:
            self._waves.confirm(request.wave)
        try:
            self._on_progress(result)
        except Exception as failure:
            self._stop(without_frames(failure))

    # --- stopping ---

    def _is_stopped(self) -> bool:
        return self._error is not None

    def _stop(self, error: AudiencekitError) -> None:
        """Keeps the first error, and ends every wait: exchanges under way go on, no other begins."""
        if self._error is not None:
            return
        self._error = error
        for worker in self._idle:
            worker.cancel()

    async def _idly(self, wait: Callable[[], Awaitable[None]]) -> None:
        """Waits for something that is no exchange: a stop ends it at once."""
        if self._is_stopped():
            raise asyncio.CancelledError
        worker = asyncio.current_task()
        assert worker is not None  # noqa: S101
        self._idle.add(worker)
        try:
            await wait()
        finally:
            self._idle.discard(worker)

    async def _drain(self, workers: list[asyncio.Task[None]], seconds: float) -> None:
        alarm = asyncio.create_task(self._clock.sleep(seconds))
        try:
            while not alarm.done() and (busy := [worker for worker in workers if not worker.done()]):
                await asyncio.wait([*busy, alarm], return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _end([alarm])

    def _close_requests(self) -> None:
        # What a generator does while it is closed cannot change what was sent.
        with contextlib.suppress(Exception):
            getattr(self._requests, "close", lambda: None)()


def _checked(counts: Counts, records: int) -> Attempted:
    """`counts`, or the error that they are: only three equal integers confirm a request."""
    success_count, total_count = counts.success_count, counts.total_count
    if type(success_count) is not int or type(total_count) is not int:
        return MalformedAnswer("the counts of the answer are not whole numbers", status=200)
    if not success_count == total_count == records:
        return CountMismatch(sent=records, success_count=success_count, total_count=total_count)
    return counts


def _interrupted() -> NotFinished:
    return NotFinished("the upload was interrupted before everything was sent")


def _is_being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _take_back_cancellation() -> None:
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()


async def _end(tasks: list[asyncio.Task[None]]) -> None:
    """Cancels what is left of `tasks` and returns when all have ended."""
    left = [task for task in tasks if not task.done()]
    for task in left:
        task.cancel()
    if left:
        await asyncio.wait(left)
