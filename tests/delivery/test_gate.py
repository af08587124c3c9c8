"""One 429 holds back all workers, for the longest time that was asked."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from audiencekit.delivery.clock import Clock
from audiencekit.delivery.gate import Gate


@pytest.mark.parametrize(
    ("shut", "opens_at"),
    [
        ([], 0.0),
        ([(0.0, 30.0)], 30.0),
        ([(0.0, 30.0), (10.0, 30.0)], 40.0),  # shut again while shut: longer
        ([(0.0, 30.0), (10.0, 5.0)], 30.0),  # a shorter word does not open it earlier
        ([(0.0, 0.0)], 0.0),
    ],
)
def test_gate_opens_when_every_wait_is_over(
    virtually: Any, clock: Clock, shut: list[tuple[float, float]], opens_at: float
) -> None:
    """Waiting workers pass at the latest moment that was asked for, however early they came."""

    async def main() -> list[float]:
        gate = Gate(clock=clock)

        async def shutter(at: float, seconds: float) -> None:
            await clock.sleep(at)
            gate.shut(seconds)

        async def passer(at: float) -> float:
            await clock.sleep(at)
            await gate.passed()
            assert gate.is_open
            return clock.monotonic()

        passers = asyncio.gather(passer(0.001), passer(11.0))
        await asyncio.gather(passers, *(shutter(*word) for word in shut))
        return list(passers.result())

    assert virtually(main()) == pytest.approx([max(opens_at, 0.001), max(opens_at, 11.0)])


def test_shut_gate_says_so(virtually: Any, clock: Clock) -> None:
    """`is_open` turns with the time."""

    async def main() -> list[bool]:
        gate = Gate(clock=clock)
        seen = [gate.is_open]
        gate.shut(10.0)
        for _ in range(2):
            await clock.sleep(6.0)
            seen.append(gate.is_open)
        return seen

    assert virtually(main()) == [True, False, True]
