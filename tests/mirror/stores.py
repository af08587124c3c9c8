"""A store of objects in memory, with what a network and a service can do to calls: faults are drawn from a seed."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable
from dataclasses import dataclass, field

from audiencekit.mirror.objects import NotReached, Overtaken, Stored


@dataclass
class MemoryObjects:
    """Objects with versions. Before or after a call its connection is lost with the probability `losses`."""

    objects: dict[str, tuple[bytes, int]] = field(default_factory=dict)
    chance: random.Random = field(default_factory=lambda: random.Random(0))
    losses: float = 0.0
    calls: int = 0
    heeds_conditions: bool = True
    round_trip_seconds: float = 0.0
    end_after: int | None = None  # so many calls; the store is away then

    def clone(self, losses: float, seed: object) -> MemoryObjects:
        """Return another connection to the same objects, with faults of its own."""
        return MemoryObjects(self.objects, random.Random(repr(seed)), losses)

    async def _arrive(self) -> None:
        self.calls += 1
        if self.end_after is not None and self.calls > self.end_after:
            raise NotReached("away")
        for _ in range(self.chance.randrange(3)):
            await asyncio.sleep(0)
        if self.chance.random() < self.losses:
            raise NotReached("lost")

    async def _answer(self) -> None:
        await asyncio.sleep(self.round_trip_seconds)
        if self.chance.random() < self.losses:
            raise NotReached("answer lost")

    async def read(self, name: str) -> Stored | None:
        await self._arrive()
        found = self.objects.get(name)
        await self._answer()
        return None if found is None else Stored(found[0], str(found[1]))

    async def write(self, name: str, data: bytes) -> None:
        await self._arrive()
        self._put(name, data)
        await self._answer()

    async def swap(self, name: str, data: bytes, version: str | None) -> str:
        await self._arrive()
        found = self.objects.get(name)
        if self.heeds_conditions and (None if found is None else str(found[1])) != version:
            raise Overtaken
        number = self._put(name, data)
        await self._answer()
        return str(number)

    async def names(self, prefix: str) -> list[str]:
        await self._arrive()
        found = [name for name in self.objects if name.startswith(prefix)]
        await self._answer()
        return found

    async def remove(self, names: Iterable[str]) -> None:
        for name in names:
            await self._arrive()
            self.objects.pop(name, None)

    def _put(self, name: str, data: bytes) -> int:
        number = max((number for _, number in self.objects.values()), default=0) + 1
        self.objects[name] = (data, number)
        return number


class FakeClock:
    """Time that passes only while something sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)
