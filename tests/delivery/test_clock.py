"""The clock of the machine, and the virtual one that the other tests trust."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from audiencekit.delivery.clock import Clock, SystemClock


async def test_system_clock_reads_the_clocks_of_the_machine() -> None:
    """`now` is the wall clock and `monotonic` never goes back."""
    clock: Clock = SystemClock()
    before, first = time.time(), clock.monotonic()
    await clock.sleep(0)
    assert before - 1 <= clock.now() <= time.time() + 1
    assert first <= clock.monotonic()


def test_virtual_time_passes_exactly_as_asked(virtually: Any, clock: Clock) -> None:
    """Sleepers wake in the order of their moments, at their moments."""
    woken: list[tuple[str, float]] = []

    async def sleeper(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append((name, clock.monotonic()))

    async def main() -> None:
        await asyncio.gather(sleeper("c", 7200.0), sleeper("a", 0.25), sleeper("b", 3.0))

    virtually(main())
    expected: list[Any] = [(name, pytest.approx(at)) for name, at in (("a", 0.25), ("b", 3.0), ("c", 7200.0))]
    assert woken == expected


def test_virtual_time_finds_tasks_that_hang(virtually: Any) -> None:
    """A wait that nothing ends fails at once instead of hanging."""

    async def main() -> None:
        await asyncio.Event().wait()

    with pytest.raises(AssertionError, match="nothing will ever wake"):
        virtually(main())


def test_virtual_time_finds_tasks_left_behind(virtually: Any) -> None:
    """A task that outlives the code under test fails the test."""

    async def main() -> asyncio.Task[None]:
        return asyncio.create_task(asyncio.sleep(60))

    with pytest.raises(AssertionError, match="left behind"):
        virtually(main())
