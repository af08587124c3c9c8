"""The order that the plan asks for: a wave begins when all before it are confirmed (design, *conflict*)."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from typing import Final

from audiencekit.errors import Bug

FIRST_WAVE: Final = 0  # as plans count


class Waves:
    """Counts the requests of each wave that were taken and are not confirmed.

    Requests are taken in the order of their waves. So when none of a lower wave is open, none will come.
    """

    def __init__(self) -> None:
        self._open: Counter[int] = Counter()
        self._doubts: dict[int, float] = {}
        self._highest: int | None = None
        self._moved = asyncio.Event()

    def take(self, wave: int) -> None:
        """Notes a request of `wave`. Raises Bug when a higher wave was taken before it."""
        if self._highest is not None and wave < self._highest:
            raise Bug(f"a request of wave {wave} came after one of wave {self._highest}")
        self._highest = wave
        self._open[wave] += 1

    def confirm(self, wave: int) -> None:
        """Notes that one request of `wave` is confirmed, and lets the next wave begin if it was the last."""
        self._open[wave] -= 1
        if not self._open[wave]:
            del self._open[wave]
            self._moved.set()

    async def reached(self, wave: int) -> None:
        """Returns when every request of the waves before `wave` is confirmed."""
        while min(self._open, default=wave) < wave:
            self._moved.clear()
            await self._moved.wait()

    def doubt(self, wave: int, at: float) -> None:
        """Notes that an attempt of `wave` ended at that monotonic second and may still be applied."""
        self._doubts[wave] = max(self._doubts.get(wave, -math.inf), at)

    def doubted_at(self, wave: int) -> float:
        """When the last attempt ended that may still be applied and belongs to a wave before `wave`; -inf for none."""
        return max((at for doubted, at in self._doubts.items() if doubted < wave), default=-math.inf)
