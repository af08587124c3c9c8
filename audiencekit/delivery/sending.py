"""Send one request, or a part of one, in its turn, until it is confirmed, refused or given up."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import NoReturn

from audiencekit.delivery.concurrency import Lanes, Losses
from audiencekit.delivery.faults import Reaction
from audiencekit.delivery.limiter import Pausable
from audiencekit.delivery.options import OUTAGE, PACE, RATE_LIMIT, RETRY, Listener, Route, Stop
from audiencekit.delivery.results import Counts
from audiencekit.delivery.retry import Attempted, Attempts, Clock, retrying
from audiencekit.errors import AudiencekitError, Bug, ExchangeError, LongWait, TransportFailed
from audiencekit.limits import TOLD_PACE_SECONDS, TOLD_WAIT_SECONDS
from audiencekit.packed_request import PackedRequest
from audiencekit.personal import without_frames
from audiencekit.process.crash_points import pass_point

# --- Sending one request, or a part of one, until it is confirmed, refused or given up ---


class Sending:
    """The way to the service that all workers of a delivery share: one gate, one limiter, one retry policy."""

    def __init__(self, route: Route, *, lanes: Lanes, stop: Stop, listener: Listener) -> None:
        self._route, self._lanes, self._stop, self._listener = route, lanes, stop, listener
        self._gate = Gate(clock=route.policy.clock)

    @property
    def is_quota_shared(self) -> bool:
        """Whether the limiter found out that another client uses the same quota."""
        return isinstance(self._route.limiter, Pausable) and self._route.limiter.is_quota_shared

    async def settle(
        self, request: PackedRequest, attempts: Attempts, *, announce: Callable[[], Awaitable[None]]
    ) -> None:
        """Send `request` until it is confirmed, given up or refused; `attempts` holds the result.

        `announce` is called each time before the first byte is sent; if it raises, nothing is sent. Raises
        CancelledError when a stop ends a wait, or the worker is cancelled.
        """

        number = request.number  # tenacity keeps `sleep` in a cycle, and what it refers to: the body must not be

        async def sleep(seconds: float) -> None:
            await self._rest(number, attempts, seconds)

        calling = retrying(attempts, sleep=sleep, is_stopped=lambda: self._stop.is_called)
        await calling(self._attempt, request, attempts, announce, Losses())

    async def _attempt(
        self, request: PackedRequest, attempts: Attempts, announce: Callable[[], Awaitable[None]], losses: Losses
    ) -> Attempted:
        await self._stop.wait_for(self._lanes.enter)  # before its turn: a place in the rate is for now
        try:
            await self._stop.wait_for(lambda: self._turn(request.number))
            await self._stop.wait_for(announce)
            attempts.begin_exchange()
            flight = self._lanes.begin()
            attempted = await self._exchange(request)
            is_lost = isinstance(attempted, TransportFailed)
            is_confirmed = not isinstance(attempted, AudiencekitError)
            self._lanes.end(flight, losses, is_lost=is_lost, is_confirmed=is_confirmed)
            return attempted
        finally:
            self._lanes.leave()

    async def _exchange(self, request: PackedRequest) -> Attempted:
        try:
            return await self._send(request)
        except Exception as error:
            return without_frames(error)
        except asyncio.CancelledError:
            if _is_being_cancelled():
                raise
            return Bug("an exchange ended as cancelled, and was not cancelled")

    async def _send(self, request: PackedRequest) -> Counts:
        pass_point("before send")
        try:
            counts = await self._route.send(request)
        except ExchangeError as error:
            self._listener.on_failure(request.number, str(error))
            raise
        pass_point("after send")
        return counts

    async def _turn(self, number: int) -> None:
        """Return when one request may leave: the gate is open and the limiter has given a place."""
        clock = self._route.policy.clock
        while True:
            await self._gate.wait_until_open()
            began = clock.monotonic()
            await self._take_place()
            if (seconds := clock.monotonic() - began) >= TOLD_PACE_SECONDS:
                self._listener.on_wait(number, seconds, PACE)
            if self._gate.is_open:
                return

    async def _take_place(self) -> None:
        """Return when the limiter has given a place, which may take as long as the run may wait."""
        policy = self._route.policy
        if math.isinf(policy.patience_seconds):
            return await self._route.limiter.acquire()
        place = asyncio.ensure_future(self._route.limiter.acquire())
        alarm = asyncio.ensure_future(policy.clock.sleep(max(0.0, policy.patience_seconds)))
        try:
            await asyncio.wait([place, alarm], return_when=asyncio.FIRST_COMPLETED)
            if place.done():
                return place.result()
        finally:
            for each in (place, alarm):
                each.cancel()
            await asyncio.gather(place, alarm, return_exceptions=True)
        # Another request may have been confirmed meanwhile: then there is time again.
        if policy.patience_seconds <= 0:
            self._end_by(LongWait("the pace leaves no place for the next request", seconds=0.0))
        return await self._take_place()

    def _allow(self, seconds: float) -> None:
        """End the delivery when the run may not wait for so long."""
        if (refusal := self._route.policy.refuse_wait(seconds)) is not None:
            self._end_by(refusal)

    def _end_by(self, refusal: LongWait) -> NoReturn:
        self._stop.call(refusal)
        raise asyncio.CancelledError  # as every wait that a stop ends

    async def _rest(self, number: int, attempts: Attempts, seconds: float) -> None:
        if attempts.reaction is Reaction.WAIT:
            self._listener.on_wait(number, seconds, RATE_LIMIT)
            self._gate.shut(seconds)  # for all workers; the next attempt waits there
            limiter = self._route.limiter
            if isinstance(limiter, Pausable):  # and for all who share the quota
                await self._stop.wait_for(lambda: limiter.pause(seconds))
            self._allow(seconds)
        elif attempts.is_probing:

            def pause(probes: int) -> float:
                delay = attempts.probe_delay(probes)
                self._allow(delay)
                self._listener.on_wait(number, delay, OUTAGE)
                return delay

            await self._stop.wait_for(lambda: self._route.policy.outage.probe(pause))
        elif seconds > 0:
            self._allow(seconds)
            self._listener.on_wait(number, seconds, RETRY)
            if seconds >= TOLD_WAIT_SECONDS:
                until = datetime.fromtimestamp(self._route.policy.clock.now() + seconds, UTC)
                self._listener.notify(f"request {number} is sent again at {until:%H:%M:%S} UTC")
            await self._stop.wait_for(lambda: self._route.policy.clock.sleep(seconds))


def _is_being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


# --- The gate before every exchange: one 429 closes it for all workers of the run ---


class Gate:
    """A gate that is open, or closed until a moment. Closing it again for a shorter time does not open it earlier."""

    def __init__(self, *, clock: Clock) -> None:
        self._clock = clock
        self._opens_at = -math.inf

    @property
    def is_open(self) -> bool:
        """Whether a request may pass now."""
        return self._clock.monotonic() >= self._opens_at

    def shut(self, seconds: float) -> None:
        """Close the gate for `seconds` from now, unless it stays closed longer anyway."""
        self._opens_at = max(self._opens_at, self._clock.monotonic() + seconds)

    async def wait_until_open(self) -> None:
        """Return when the gate is open, also if it is closed again during the wait."""
        while (wait_seconds := self._opens_at - self._clock.monotonic()) > 0:
            await self._clock.sleep(wait_seconds)
