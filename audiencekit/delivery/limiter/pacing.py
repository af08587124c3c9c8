"""Limiters of one process: one request at a time, evenly spaced; and two limiters as one."""

from __future__ import annotations

import asyncio
import math

from audiencekit.delivery.limiter.host import CATCH_UP_INTERVALS, interval_seconds
from audiencekit.delivery.rate_limiter import Pausable, RateLimiter
from audiencekit.delivery.retry import Clock
from audiencekit.limits import PACED_REQUESTS_PER_MINUTE

# --- The limiter of one process: one request at a time, evenly spaced, first come first served ---


class PacedLimiter:
    """Spaces requests evenly: no burst, in any order of calls. For one process and one event loop.

    At the default pace at most 1,471 requests leave in any 60 s, where the service allows 1,500
    (specification part 2, section 8); the rest is for jitter on the way.
    """

    def __init__(self, requests_per_minute: float = PACED_REQUESTS_PER_MINUTE, *, clock: Clock) -> None:
        self._clock = clock
        self._interval_seconds = interval_seconds(requests_per_minute)
        self._catch_up_seconds = self._interval_seconds * CATCH_UP_INTERVALS
        self._free_at = -math.inf
        self._turn = asyncio.Lock()

    async def acquire(self) -> None:
        """Returns when one request may leave. A cancelled call uses up nothing."""
        # The place counts after the wait only: who is cancelled while waiting leaves no gap behind.
        async with self._turn:
            place = max(self._free_at, self._clock.monotonic())
            while (wait_seconds := place - self._clock.monotonic()) > 0:
                await self._clock.sleep(wait_seconds)
            earliest = self._clock.monotonic() - self._catch_up_seconds
            self._free_at = max(place, earliest) + self._interval_seconds


class Unlimited:
    """No limit at all, for benchmarks against your own service."""

    async def acquire(self) -> None:
        """Returns at once, after all others had a turn."""
        await asyncio.sleep(0)


# --- Two limiters as one: the quota of an account, and a pace that several accounts keep together ---


class JointLimiter:
    """A request leaves when both let it go. A 429 holds back both: it may be about either."""

    def __init__(self, own: RateLimiter, common: RateLimiter) -> None:
        self._own, self._common = own, common

    async def acquire(self) -> None:
        """Returns when one request may leave."""
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
