"""The gate before every exchange: one 429 shuts it for all workers of the run."""

from __future__ import annotations

import math

from audiencekit.delivery.clock import Clock


class Gate:
    """Open, or shut until a moment. It never opens earlier because it was shut once more for a shorter time."""

    def __init__(self, *, clock: Clock) -> None:
        self._clock = clock
        self._opens_at = -math.inf

    @property
    def is_open(self) -> bool:
        """Whether a request may pass now."""
        return self._clock.monotonic() >= self._opens_at

    def shut(self, seconds: float) -> None:
        """Shuts the gate for `seconds` from now, unless it stays shut longer anyway."""
        self._opens_at = max(self._opens_at, self._clock.monotonic() + seconds)

    async def passed(self) -> None:
        """Returns when the gate is open. It may have been shut again meanwhile: the wait goes on then."""
        while (wait_seconds := self._opens_at - self._clock.monotonic()) > 0:
            await self._clock.sleep(wait_seconds)
