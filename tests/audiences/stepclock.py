"""A clock for code that waits: no time passes but what is slept."""

from __future__ import annotations


class StepClock:
    """Time that moves by what is slept."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def now(self) -> float:
        return sum(self.slept)

    def monotonic(self) -> float:
        return sum(self.slept)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
