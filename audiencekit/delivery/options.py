"""The parts of a delivery that its caller chooses, and those that its workers share: waves, stop, journal."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Protocol

from audiencekit.delivery.limiter import RateLimiter
from audiencekit.delivery.results import Counts, OpenBody, RequestResult
from audiencekit.delivery.retry import RetryPolicy
from audiencekit.errors import AudiencekitError, Bug
from audiencekit.limits import DEFAULT_CONCURRENCY, DRAIN_SECONDS, SETTLE_SECONDS
from audiencekit.packed_request import PackedRequest

# --- The parts of a delivery that its caller chooses: route, waits, listener, earlier requests ---

# Why a request waits: after a 429, before the next attempt, before a probe of an outage, until an earlier attempt can
# not be applied any more, for its place in the rate.
WHYS: Final = ("rate_limit", "retry", "outage", "doubt", "pace")
RATE_LIMIT, RETRY, OUTAGE, DOUBT, PACE = WHYS

Send = Callable[[PackedRequest], Awaitable[Counts]]


@dataclass(frozen=True, slots=True)
class Route:
    """How requests reach the service.

    `send` is one exchange; it raises an ExchangeError for a request that is not confirmed, also for differing counts.
    `open_body` returns the places of the records in a refused body, or None if the body cannot be sent in parts.
    `concurrency` requests are under way at once; after a cancellation they have `drain_seconds` to finish. The clock is
    that of `policy`.
    """

    send: Send
    open_body: OpenBody
    limiter: RateLimiter
    policy: RetryPolicy
    concurrency: int = DEFAULT_CONCURRENCY
    drain_seconds: float = DRAIN_SECONDS


@dataclass(frozen=True, slots=True)
class Waits:
    """The waits before a wave, after an attempt that may be applied late."""

    settle_seconds: float = SETTLE_SECONDS


@dataclass(frozen=True, slots=True)
class Listener:
    """Called with the result of each request that was taken, with each failed exchange, and with notes for people.

    A part of a request has the number of the whole. `on_wait` has the request, the seconds, and one of WHYS.
    """

    on_progress: Callable[[RequestResult], None] = lambda result: None
    on_failure: Callable[[int, str], None] = lambda number, why: None
    notify: Callable[[str], None] = lambda message: None
    on_wait: Callable[[int, float, str], None] = lambda number, seconds, why: None


@dataclass(frozen=True, slots=True)
class Earlier:
    """The requests that earlier processes of a run have confirmed.

    These processes may have left attempts in doubt, of any wave. The last attempt ended at least `left_seconds_ago`.
    """

    confirmed: int
    left_seconds_ago: float = 0.0


# --- The duties of a journal: intent before bytes, acknowledgement after checks (design, section 4.7) ---


class Journal(Protocol):
    """The protocol of a journal. Each call is durable when it returns, or raises InputOutputFailed."""

    async def intend(self, request: PackedRequest) -> None:
        """Note that the bytes of `request` are about to be sent for the first time in this process."""

    async def intend_again(self, number: int) -> None:
        """Note that the bytes of an intended request, or of a part of it, are about to be sent once more."""

    async def conclude(self, result: RequestResult) -> None:
        """Note how the request ended, after its counts were checked."""


class NoJournal:
    """A journal that stores nothing."""

    async def intend(self, request: PackedRequest) -> None:
        """Do nothing."""

    async def intend_again(self, number: int) -> None:
        """Do nothing."""

    async def conclude(self, result: RequestResult) -> None:
        """Do nothing."""


# --- The end of a delivery: the first error is stored, every wait ends at once, exchanges under way go on ---


class Stop:
    """The stop signal that all workers of a delivery share."""

    def __init__(self) -> None:
        self._idle: set[asyncio.Task[None]] = set()
        self.error: AudiencekitError | None = None

    @property
    def is_called(self) -> bool:
        """Whether nothing more may begin."""
        return self.error is not None

    def call(self, error: AudiencekitError) -> None:
        """Store the first error, and end every wait."""
        if self.error is not None:
            return
        self.error = error
        for worker in self._idle:
            worker.cancel()

    async def wait_for(self, wait: Callable[[], Awaitable[object]]) -> None:
        """Await anything but an exchange. A stop raises CancelledError at once."""
        if self.is_called:
            raise asyncio.CancelledError
        worker = asyncio.current_task()
        assert worker is not None  # noqa: S101
        self._idle.add(worker)
        try:
            await wait()
        finally:
            self._idle.discard(worker)


async def end(tasks: list[asyncio.Task[None]]) -> None:
    """Cancel the remaining `tasks`, and return when all have ended."""
    left = [task for task in tasks if not task.done()]
    for task in left:
        task.cancel()
    if left:
        await asyncio.wait(left)


def uncancel_task() -> None:
    """Take the cancellation of the current task back, so that it goes on."""
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()


# --- The order of the plan: a wave begins when all waves before it are confirmed (design, *conflict*) ---

FIRST_WAVE: Final = 0  # as plans count


class Waves:
    """Count the requests of each wave that were taken and are not confirmed.

    Requests are taken in the order of their waves. So when none of the lower waves is open, none will come.
    """

    def __init__(self) -> None:
        self._open: Counter[int] = Counter()
        self._doubts: dict[int, float] = {}
        self._highest: int | None = None
        self._moved = asyncio.Event()

    def take(self, wave: int) -> None:
        """Note a request of `wave`. Raises Bug when a higher wave was taken before it."""
        if self._highest is not None and wave < self._highest:
            raise Bug(f"a request of wave {wave} came after one of wave {self._highest}")
        self._highest = wave
        self._open[wave] += 1

    def confirm(self, wave: int) -> None:
        """Note that one request of `wave` is confirmed. After the last one the next wave may begin."""
        self._open[wave] -= 1
        if not self._open[wave]:
            del self._open[wave]
            self._moved.set()

    async def reached(self, wave: int) -> None:
        """Return when every request of the waves before `wave` is confirmed."""
        while min(self._open, default=wave) < wave:
            self._moved.clear()
            await self._moved.wait()

    def doubt(self, wave: int, at: float) -> None:
        """Note that an attempt of `wave` ended at this monotonic second and may still be applied."""
        self._doubts[wave] = max(self._doubts.get(wave, -math.inf), at)

    def doubted_at(self, wave: int) -> float:
        """Return when the last attempt in doubt of the waves before `wave` ended; -inf without one."""
        return max((at for doubted, at in self._doubts.items() if doubted < wave), default=-math.inf)
