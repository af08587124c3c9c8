"""Virtual time: a real event loop that skips every wait, so that hours pass in milliseconds and always the same way."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any

EPOCH = 1_795_000_000.0  # an arbitrary second of the year 2026: the wall clock when a test's loop starts
RESOLUTION_SECONDS = 1e-9  # a timer may fire as much before its moment, as on a real loop


class SkippingSelector(selectors.DefaultSelector):
    """Moves the time instead of waiting for it."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise AssertionError("every task waits, and nothing will ever wake one")
        self.now += max(timeout, 0.0)
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop on virtual time: `asyncio.sleep` and timeouts included."""

    def __init__(self) -> None:
        self._skipping = SkippingSelector()
        super().__init__(self._skipping)
        self._clock_resolution = RESOLUTION_SECONDS

    def time(self) -> float:
        return self._skipping.now


class VirtualClock:
    """The clock of whatever virtual loop is running. `skew_seconds` moves the wall clock."""

    def __init__(self, skew_seconds: float = 0.0) -> None:
        self.skew_seconds = skew_seconds

    def now(self) -> float:
        return EPOCH + self.skew_seconds + self.monotonic()

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        # A shorter wait would be over at once, and time would never move.
        await asyncio.sleep(max(seconds, 2 * RESOLUTION_SECONDS) if seconds > 0 else 0)


async def leaving_nothing_behind(main: Coroutine[Any, Any, Any]) -> Any:
    result = await main
    left = asyncio.all_tasks() - {asyncio.current_task()}
    assert not left, f"{len(left)} tasks were left behind"
    return result


def run_virtually(main: Coroutine[Any, Any, Any]) -> Any:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(leaving_nothing_behind(main))
