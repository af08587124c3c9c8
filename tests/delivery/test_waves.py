"""A wave begins when all before it are confirmed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from audiencekit.delivery.waves import Waves
from audiencekit.errors import Bug


def test_wave_waits_for_every_request_before_it(virtually: Any) -> None:
    """Wave 2 begins after the last confirmation of wave 1, not after the first; wave 1 never waits."""

    async def main() -> list[str]:
        waves, seen = Waves(), []
        for wave in (1, 1, 2, 3):
            waves.take(wave)

        async def begin(wave: int) -> None:
            await waves.reached(wave)
            seen.append(f"wave {wave} begins")

        tasks = [asyncio.create_task(begin(wave)) for wave in (3, 2, 1)]
        for confirmed in (1, 1, 2, 3):
            await asyncio.sleep(1)
            seen.append(f"one of wave {confirmed} is confirmed")
            waves.confirm(confirmed)
        await asyncio.gather(*tasks)
        return seen

    assert virtually(main()) == [
        "wave 1 begins",
        "one of wave 1 is confirmed",
        "one of wave 1 is confirmed",
        "wave 2 begins",
        "one of wave 2 is confirmed",
        "wave 3 begins",
        "one of wave 3 is confirmed",
    ]


def test_all_who_wait_for_a_wave_begin_together(virtually: Any) -> None:
    """One confirmation wakes every request of the next wave."""

    async def main() -> int:
        waves = Waves()
        for wave in (5, 7, 7, 7):
            waves.take(wave)
        waiting = [asyncio.create_task(waves.reached(7)) for _ in range(3)]
        await asyncio.sleep(1)
        waves.confirm(5)
        await asyncio.gather(*waiting)
        return len(waiting)

    assert virtually(main()) == 3


def test_waves_out_of_order_are_a_bug() -> None:
    """A request of a lower wave after one of a higher can no longer be in order."""
    waves = Waves()
    waves.take(2)
    with pytest.raises(Bug, match="wave 1 came after one of wave 2"):
        waves.take(1)
