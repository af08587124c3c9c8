"""The limiter of one process: one request at a time, evenly spaced, first come first served."""

from __future__ import annotations

import asyncio
import math

from audiencekit.delivery.clock import Clock
from audiencekit.delivery.limiter.waitingline import CATCH_UP_INTERVALS, interval_seconds
from audiencekit.limits import PACED_REQUESTS_PER_MINUTE


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
