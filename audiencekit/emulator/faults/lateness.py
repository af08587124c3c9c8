"""Requests that are applied later than they came, by the clock of the emulator."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable

from audiencekit.emulator.clock import Clock


class LateApplies:
    """Bodies that wait for their moment. It comes with time, or when the clock is moved and `run_due` called."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: list[tuple[float, int, Callable[[], None]]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._serial = 0

    def add(self, seconds: float, apply: Callable[[], None]) -> None:
        """Call `apply` in so many seconds."""
        self._serial += 1
        heapq.heappush(self._waiting, (self._clock.now() + seconds, self._serial, apply))
        self._set_timer()

    def run_due(self) -> None:
        """Apply all whose moment has come, in the order of their moments."""
        while self._waiting and self._waiting[0][0] <= self._clock.now():
            heapq.heappop(self._waiting)[2]()
        self._set_timer()

    def close(self) -> None:
        """Nothing is applied any more."""
        self._waiting.clear()
        self._set_timer()

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._waiting:
            # A clock that stands still would else be asked again and again.
            delay_seconds = max(0.01, self._waiting[0][0] - self._clock.now())
            self._timer = asyncio.get_running_loop().call_later(delay_seconds, self.run_due)
