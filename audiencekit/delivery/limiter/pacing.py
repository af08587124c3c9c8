"""The limiters of one process: an even pace, no limit, and two limiters joined to one."""

from __future__ import annotations

import asyncio
import math

from audiencekit.delivery.limiter.host import CATCH_UP_INTERVALS, interval_seconds
from audiencekit.delivery.rate_limiter import Pausable, RateLimiter
from audiencekit.delivery.retry import Clock
from audiencekit.limits import PACED_REQUESTS_PER_MINUTE

# --- The limiter of one process: one request at a time, evenly spaced, first come first served ---


class PacedLimiter:
    """Space requests evenly, without bursts, in one process and one event loop.

    At the default pace at most 1,471 requests leave in any 60 s, where the service allows 1,500 (specification part 2,
    section 8); the rest is a margin for jitter on the network.
    """

    def __init__(self, requests_per_minute: float = PACED_REQUESTS_PER_MINUTE, *, clock: Clock) -> None:
        self._clock = clock
        self._interval_seconds = interval_seconds(requests_per_minute)
        self._catch_up_seconds = self._interval_seconds * CATCH_UP_INTERVALS
        self._free_at = -math.inf
        self._turn = asyncio.Lock()

    async def acquire(self) -> None:
        """Return when one request may leave. A cancelled call uses up nothing."""
        # The place counts after the wait only: who is cancelled while waiting leaves no gap behind.
        async with self._turn:
            place = max(self._free_at, self._clock.monotonic())
            while (wait_seconds := place - self._clock.monotonic()) > 0:
                await self._clock.sleep(wait_seconds)
            earliest = self._clock.monotonic() - self._catch_up_seconds
            self._free_at = max(place, earliest) + self._interval_seconds


class Unlimited:
    """No limit, for benchmarks against your own service."""

    async def acquire(self) -> None:
        """Return at once, after a turn of the event loop."""
        await asyncio.sleep(0)


# --- Two limiters as one: the quota of an account, and a pace that several accounts share ---


class JointLimiter:
    """Let a request leave when both limiters allow it. A 429 pauses both: it may be about either."""

    def __init__(self, own: RateLimiter, common: RateLimiter) -> None:
        self._own, self._common = own, common

    async def acquire(self) -> None:
        """Return when one request may leave."""
        await self._common.acquire()
        await self._own.acquire()

    async def pause(self, seconds: float) -> None:
        """Note a 429."""
        for limiter in (self._own, self._common):
            if isinstance(limiter, Pausable):
                await limiter.pause(seconds)

    @property
    def is_quota_shared(self) -> bool:
        """Whether another client uses the quota of the account."""
        return isinstance(self._own, Pausable) and self._own.is_quota_shared
