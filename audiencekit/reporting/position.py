"""A position in a stage of long work, and words for amounts, rates and the time left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_SIZES: Final = ((1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB"))
_MINUTES_FROM_SECONDS: Final = 120
_LEFT_FROM_SECONDS: Final = 2  # the first batch loads what it needs, and would make it far too long


@dataclass(frozen=True, slots=True)
class Position:
    """A position in a stage: `done` of `total` units, and `also` counts of other units, by their names."""

    done: int
    total: int
    unit: str
    also: Mapping[str, int]

    def amount(self) -> str:
        """`44.6 of 85.9 MB, 512,000 rows`."""
        others = (measured(count, unit) for unit, count in self.also.items())
        return ", ".join([_share(self.done, self.total, self.unit), *others])

    def rates(self, since: Position, seconds: float) -> list[str]:
        """Return `18.9 MB/s` and `210,000 rows/s` since the position `since`; empty if nothing was done."""
        if seconds <= 0 or self.done <= since.done:
            return []
        gained = {self.unit: self.done - since.done}
        gained |= {unit: count - since.also.get(unit, 0) for unit, count in self.also.items()}
        if "bytes" in self.also:  # bodies tell more than their number
            del gained[self.unit]
        return [f"{measured(count / seconds, unit)}/s" for unit, count in gained.items()]

    def left(self, since: Position, seconds: float) -> str:
        """Return `84 s left`, or an empty text if it is not known, or not yet."""
        if seconds < _LEFT_FROM_SECONDS or self.done <= since.done or self.total <= self.done:
            return ""
        left = (self.total - self.done) * seconds / (self.done - since.done)
        return f"{left:.0f} s left" if left < _MINUTES_FROM_SECONDS else f"{left / 60:.0f} min left"


def measured(count: float, unit: str) -> str:
    """`18.9 MB`, `210,000 rows`, `0.5 requests`."""
    if count == 1 and isinstance(count, int):
        return f"1 {unit.removesuffix('s')}"
    if unit != "bytes":
        return f"{count:,.0f} {unit}" if count >= 10 or isinstance(count, int) else f"{count:.1f} {unit}"
    divisor, name = _size(count)
    return f"{_decimal(count, divisor)} {name}"


def _share(done: int, total: int, unit: str) -> str:
    if not total:
        return measured(done, unit)
    divisor, name = _size(total) if unit == "bytes" else (1, unit)
    return f"{_decimal(done, divisor)} of {_decimal(total, divisor)} {name}"


def _size(count: float) -> tuple[int, str]:
    return next((size for size in _SIZES if count >= size[0]), (1, "bytes"))


def _decimal(count: float, divisor: int) -> str:
    return f"{count:,.0f}" if divisor == 1 else f"{count / divisor:,.1f}"
