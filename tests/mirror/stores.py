"""A store of objects in memory, with what a network and a service can do to calls: faults are drawn from a seed."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from audiencekit.mirror.objects import NotReached, Overtaken, Stored

T = TypeVar("T")
MOST_TICKS = 100  # that a late call takes


@dataclass
class MemoryObjects:
    """Objects with versions, and the share of calls that meet each fault.

    `losses`: the connection is lost before the call arrives, or after it was applied. `late`: a change is given up by
    the client and applied later, or a call is slow. `doubled`: a change is applied once more, by a client library that
    had no answer to the first, so that the second one is answered; or by the network, later.
    """

    objects: dict[str, tuple[bytes, int]] = field(default_factory=dict)
    chance: random.Random = field(default_factory=lambda: random.Random(0))
    losses: float = 0.0
    late: float = 0.0
    doubled: float = 0.0
    tick_seconds: float = 0.0  # of a late or slow call
    calls: int = 0
    heeds_conditions: bool = True
    round_trip_seconds: float = 0.0
    end_after: int | None = None  # so many calls; the store is away then
    under_way: set[asyncio.Task[None]] = field(default_factory=set)  # changes that come late

    def clone(self, losses: float, seed: object, **faults: float) -> MemoryObjects:
        """Return another connection to the same objects, with faults of its own."""
        return replace(self, chance=random.Random(repr(seed)), losses=losses, calls=0, **faults)

    async def settled(self) -> None:
        """Return when no change is under way."""
        while self.under_way:
            await asyncio.wait(self.under_way)

    async def _arrive(self) -> None:
        self.calls += 1
        if self.end_after is not None and self.calls > self.end_after:
            raise NotReached("away")
        for _ in range(self.chance.randrange(3)):
            await asyncio.sleep(0)
        if self._meets(self.late) and self._meets(0.5):
            await self._pass()
        if self._meets(self.losses):
            raise NotReached("lost")

    async def _answer(self) -> None:
        await asyncio.sleep(self.round_trip_seconds)
        if self._meets(self.losses):
            raise NotReached("answer lost")

    async def _change(self, apply: Callable[[], T]) -> T:
        await self._arrive()
        if self._meets(self.late):
            self._apply_later(apply)
            raise NotReached("late")
        result = apply()
        if self._meets(self.doubled):
            if self._meets(0.5):
                result = apply()  # which raises what the second one is answered
            else:
                self._apply_later(apply)
        await self._answer()
        return result

    def _apply_later(self, apply: Callable[[], object]) -> None:
        async def come() -> None:
            await self._pass()
            with contextlib.suppress(Overtaken):
                apply()

        task = asyncio.create_task(come())
        self.under_way.add(task)
        task.add_done_callback(self.under_way.discard)

    async def _pass(self) -> None:
        for _ in range(self.chance.randrange(MOST_TICKS)):
            await asyncio.sleep(self.tick_seconds)

    def _meets(self, share: float) -> bool:
        return share > 0 and self.chance.random() < share

    async def read(self, name: str) -> Stored | None:
        await self._arrive()
        found = self.objects.get(name)
        await self._answer()
        return None if found is None else Stored(found[0], str(found[1]))

    async def write(self, name: str, data: bytes) -> None:
        await self._change(lambda: self._put(name, data))

    async def swap(self, name: str, data: bytes, version: str | None) -> str:
        def apply() -> str:
            found = self.objects.get(name)
            if self.heeds_conditions and (None if found is None else str(found[1])) != version:
                raise Overtaken
            return str(self._put(name, data))

        return await self._change(apply)

    async def names(self, prefix: str) -> list[str]:
        await self._arrive()
        found = [name for name in self.objects if name.startswith(prefix)]
        await self._answer()
        return found

    async def remove(self, names: Iterable[str]) -> None:
        for name in names:
            await self._change(lambda name=name: self.objects.pop(name, None))  # type: ignore[misc]

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
