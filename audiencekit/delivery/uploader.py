"""Send every request of a plan until each is confirmed: several at once, never above the rate.

A request is confirmed only when the records sent, `success_count` and `total_count` are equal (specification part 2,
section 4.4). The facts are returned however a delivery stops; they are not part of an exception.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import math
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from audiencekit.delivery.concurrency import Lanes
from audiencekit.delivery.isolation import Isolation
from audiencekit.delivery.options import (
    DOUBT,
    FIRST_WAVE,
    Earlier,
    Journal,
    Listener,
    NoJournal,
    Route,
    Stop,
    Waits,
    Waves,
    end,
    uncancel_task,
)
from audiencekit.delivery.request_history import RequestHistory
from audiencekit.delivery.request_sizes import LearnedSizes, RequestSize
from audiencekit.delivery.results import Delivered, DeliveryTally, OpenedBody, RefusedRow
from audiencekit.delivery.sending import Sending
from audiencekit.errors import AudiencekitError, NotFinished, UsageError
from audiencekit.limits import THREADED_BODY_BYTES
from audiencekit.packed_request import PackedRequest
from audiencekit.personal import without_frames

T = TypeVar("T")

_SILENT: Final = Listener()
_WAITS: Final = Waits()
_WHY_SETTLE: Final = "an answer was lost, and until then its request could still be applied and undo them"


async def deliver(
    requests: Iterable[PackedRequest],
    route: Route,
    *,
    journal: Journal | None = None,
    listener: Listener = _SILENT,
    waits: Waits = _WAITS,
    earlier: Earlier | None = None,
) -> Delivered:
    """Send `requests` and return the results. They are taken in order, as fast as they can be sent.

    The first error that cannot be retried stops the delivery: exchanges under way are finished, and nothing else is
    sent. A cancellation does the same, for a limited time, and is returned as NotFinished; a second one is raised.
    A wait that is longer than the policy allows stops it with LongWait.
    `journal` is called before the first byte of each request is sent, and when it has ended. A wave waits for attempts
    of earlier waves that may be applied late, so that they cannot undo it; such attempts may also be those of `earlier`
    processes (None in the first process).
    """
    if route.concurrency < 1:
        raise UsageError("concurrency must be at least 1")
    delivery = _Delivery(requests, route, journal=journal or NoJournal(), listener=listener, waits=waits)
    if earlier is not None:
        delivery.follow(earlier)
    return await delivery.run()


class _Delivery:
    """One call of `deliver`: workers that share an iterator, the waves and a tally."""

    def __init__(
        self, requests: Iterable[PackedRequest], route: Route, *, journal: Journal, listener: Listener, waits: Waits
    ) -> None:
        self._requests, self._route, self._journal, self._listener = iter(requests), route, journal, listener
        self._clock, self._waits, self._stop = route.policy.clock, waits, Stop()
        self._lanes = Lanes(route.concurrency, clock=self._clock, notify=listener.notify)
        self._waves, self._tally = Waves(), DeliveryTally()
        self._sending = Sending(route, lanes=self._lanes, stop=self._stop, listener=listener)
        self._sizes = LearnedSizes()
        self._isolating = asyncio.Lock()  # to open a body takes memory, and sizes are learned once: one at a time
        self._settled: dict[int, float] = {}
        self._confirmed_before = 0
        self._unrecorded: AudiencekitError | None = None  # what kept a result from the journal, or from the caller

    def follow(self, earlier: Earlier) -> None:
        """Note what earlier processes have confirmed, and since when none of their attempts is under way."""
        self._confirmed_before = earlier.confirmed
        self._waves.doubt(FIRST_WAVE, self._clock.monotonic() - earlier.left_seconds_ago)

    async def run(self) -> Delivered:
        """Run all workers to their end, and return the facts."""
        self._route.policy.begin_waiting()
        workers = [asyncio.create_task(self._work()) for _ in range(self._route.concurrency)]
        try:
            await asyncio.wait(workers)
        except asyncio.CancelledError:
            uncancel_task()
            self._stop.call(_interrupted())
            await self._drain(workers)
        finally:
            await end(workers)
            self._close_requests()
        error = self._stop.error
        if self._tally.is_complete and isinstance(error, NotFinished):
            error = self._unrecorded  # the interruption came too late to keep anything back
        return self._tally.close(error, notes=self._notes(), learned_size=self._sizes.to_json())

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
        history = RequestHistory(self._route.policy)
        try:
            await self._stop.wait_for(lambda: self._begun(request.wave, request.number))
            await self._settle(request, history)
        except asyncio.CancelledError as cancellation:
            cancellation.__traceback__ = None  # tenacity keeps it, and with its frames the body
            raise
        finally:
            await self._conclude(request, history)
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

    async def _begun(self, wave: int, number: int) -> None:
        """Return when `wave` may begin: all waves before it are confirmed, and nothing of them can be applied late."""
        await self._waves.reached(wave)
        settled_at = self._waves.doubted_at(wave) + self._waits.settle_seconds
        wait_seconds = settled_at - self._clock.monotonic()
        if wait_seconds <= 0:
            return
        if (refusal := self._route.policy.refuse_wait(wait_seconds)) is not None:
            self._stop.call(refusal)
            raise asyncio.CancelledError
        if wave not in self._settled:
            self._settled[wave] = 0.0
            seconds = math.ceil(wait_seconds)
            self._listener.on_wait(number, wait_seconds, DOUBT)
            self._listener.notify(f"waiting {seconds} s before requests that overrule earlier ones: {_WHY_SETTLE}")
        began = self._clock.monotonic()
        try:
            while (wait_seconds := settled_at - self._clock.monotonic()) > 0:
                await self._clock.sleep(wait_seconds)
        finally:  # an interruption ends the wait early
            self._settled[wave] = max(self._settled[wave], self._clock.monotonic() - began)

    async def _settle(self, request: PackedRequest, history: RequestHistory) -> None:
        size = RequestSize.of(request)
        if not self._sizes.is_over(size):
            await self._sending.settle(request, history.whole, announce=lambda: self._announce(request, history))
            if history.whole.is_confirmed:
                self._sizes.take(size)
            if not history.whole.wants_isolation:
                return
        if not self._stop.is_called:
            try:
                await self._send_in_parts(request, history)
            except Exception as error:  # a body that cannot be cut up
                history.end_isolation((), without_frames(error))

    async def _announce(self, request: PackedRequest, history: RequestHistory) -> None:
        was_intended, history.is_intended = history.is_intended, True  # who is stopped now has it written all the same
        if not was_intended:
            await self._journal.intend(request)
            return
        try:
            await self._journal.intend_again(request.number)
        except Exception as error:
            history.halt(without_frames(error))
            raise

    async def _send_in_parts(self, request: PackedRequest, history: RequestHistory) -> None:
        """Send `request` in parts until each record is confirmed or refused alone.

        While it is not known whether requests are too large, other refused requests wait for the result of the first.
        """
        await self._stop.wait_for(self._isolating.acquire)
        try:
            opened = await _in_thread(request, functools.partial(self._route.open_body, request))
            if opened is None:
                return
            is_known = self._sizes.measure is not None
            if not is_known:
                await self._isolate(request, history, opened)
        finally:
            self._isolating.release()
        if is_known:
            await self._isolate(request, history, opened)

    async def _isolate(self, request: PackedRequest, history: RequestHistory, opened: OpenedBody) -> None:
        isolation = Isolation(
            opened,
            history.whole.error,
            whole=RequestSize.of(request),
            sizes=self._sizes,
            is_trusted=lambda: self._confirmed_before + self._tally.confirmed > 0,
        )
        while (group := isolation.next_group()) is not None:
            attempts = history.begin_part()
            part = await _in_thread(request, functools.partial(opened.part, group.records, group.operations))
            await self._sending.settle(part, attempts, announce=lambda: self._announce(request, history))
            if attempts.is_confirmed:
                isolation.taken(group, RequestSize.of(part))
            elif attempts.wants_isolation and attempts.error is not None:
                isolation.refused(group, attempts.error, RequestSize.of(part))
            else:
                return
        isolation.finish()
        refused = tuple(RefusedRow(int(request.rows[index]), codes) for index, codes in isolation.bad.items())
        history.end_isolation(refused, isolation.halted_by)

    async def _conclude(self, request: PackedRequest, history: RequestHistory) -> None:
        result = history.result(request)
        self._tally.add(result)
        if history.error is not None:
            self._stop.call(history.error)
        if history.doubtful_at is not None:
            self._waves.doubt(request.wave, history.doubtful_at)
        try:
            if history.is_intended:
                await self._journal.conclude(result)
            if result.is_confirmed:
                self._waves.confirm(request.wave)
            self._listener.on_progress(result)
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
        size = self._sizes.note
        return (*(note for note, holds in notes.items() if holds), *([size] if size else []))

    # --- stopping ---

    async def _drain(self, workers: list[asyncio.Task[None]]) -> None:
        alarm = asyncio.create_task(self._clock.sleep(self._route.drain_seconds))
        try:
            while not alarm.done() and (busy := [worker for worker in workers if not worker.done()]):
                await asyncio.wait([*busy, alarm], return_when=asyncio.FIRST_COMPLETED)
        finally:
            await end([alarm])

    def _close_requests(self) -> None:
        # An error of the generator while it is closed cannot change what was sent.
        with contextlib.suppress(Exception):
            getattr(self._requests, "close", lambda: None)()


async def _in_thread(request: PackedRequest, work: Callable[[], T]) -> T:
    """Return the result of `work`, from a thread when the body is large."""
    return await asyncio.to_thread(work) if request.body_bytes > THREADED_BODY_BYTES else work()


def _interrupted() -> NotFinished:
    return NotFinished("interrupted before everything was sent")
