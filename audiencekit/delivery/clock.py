"""Time as an argument: nothing in delivery asks the operating system for it by itself."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """The clock of a delivery. Waits go by `monotonic`; `now` is for times that the service names."""

    def now(self) -> float:
        """Epoch seconds, as the wall clock says."""

    def monotonic(self) -> float:
        """Seconds that never go back; their zero means nothing."""

    async def sleep(self, seconds: float) -> None:
        """Returns after `seconds`, possibly a little early or late."""


class SystemClock:
    """The clock of this machine."""

    def now(self) -> float:
        """Epoch seconds, as the wall clock says."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Returns after `seconds`."""
        await asyncio.sleep(seconds)
