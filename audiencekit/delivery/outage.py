"""A service that is away: one request asks whether it is back, all others wait (reliability bar, P9)."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable

from audiencekit.delivery.clock import Clock
from audiencekit.limits import OUTAGE_PATIENCE_SECONDS


class Outage:
    """Shared by all requests of a run. It lasts from the last success; before the first there is none to outlive."""

    def __init__(self, *, clock: Clock) -> None:
        self._clock = clock
        self._succeeded_at: float | None = None
        self._taken_at = -math.inf
        self._probes = 0
        self._turn, self._back = asyncio.Lock(), asyncio.Event()

    def is_outlived(self, *, failing_since: float, tried_before_at: float, attempts_left: bool) -> bool:
        """Whether a request that fails since then is worth further attempts.

        Not when the run never had a success or waited for one long enough; nor when others were taken since its try
        before the last, and this one has no attempts left: then it is the request's own trouble.
        """
        if self._succeeded_at is None:
            return False
        is_everybodys = self._taken_at < tried_before_at
        waited_seconds = self._clock.monotonic() - max(self._succeeded_at, failing_since)
        return (attempts_left or is_everybodys) and waited_seconds < OUTAGE_PATIENCE_SECONDS

    def end(self, *, began_at: float) -> None:
        """Notes that an exchange which began then was confirmed: all that wait go on at once."""
        self._succeeded_at = self._clock.monotonic()
        self._taken_at = max(self._taken_at, began_at)
        self._probes = 0
        self._back.set()
        self._back = asyncio.Event()

    async def probe(self, pause: Callable[[int], float]) -> None:
        """Returns when the caller may send: alone and after `pause(n)` seconds for the n-th probe, or all are free."""
        back = self._back
        async with self._turn:
            if back.is_set():
                return
            self._probes += 1
            await self._sleep(pause(self._probes), back)

    async def _sleep(self, seconds: float, back: asyncio.Event) -> None:
        waits = [asyncio.ensure_future(self._clock.sleep(seconds)), asyncio.ensure_future(back.wait())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)
