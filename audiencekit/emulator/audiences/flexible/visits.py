"""Visits of people, which lookback and frequency count (specification part 2, sections 2 and 4.3).

The specification does not say how a visit is known. Here the entry of a person in an audience is one, at the moment
when it takes effect, and the seed decides how often the person came and comes besides: every 1, 2, 5, 10 or 20 days,
from thirty days before on, or never. So a leaf that asks for one visit, and has no window, holds every member.
"""

from __future__ import annotations

import operator
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from audiencekit.emulator.audiences.flexible.segments import Segment

_DAY: Final = 86_400.0
_PERIODS_DAYS: Final = (1, 2, 5, 10, 20, None)
_BEFORE_SECONDS: Final = 30 * _DAY
_COMPARATORS: Final[Mapping[str, Callable[[int, int], bool]]] = {
    "NUM_GTE": operator.ge,
    "NUM_GT": operator.gt,
    "NUM_EQ": operator.eq,
    "NUM_LTE": operator.le,
    "NUM_LT": operator.lt,
}


@dataclass(frozen=True, slots=True)
class Joining:
    """One person's entry in one audience: the moment that it took effect, in epoch seconds."""

    audience_id: str
    moment: float


def count_visits(key_set: bytes, joinings: Iterable[Joining], salt: int, moment: float, window_days: int | None) -> int:
    """Return the visits of a person up to `moment`, in the last `window_days` if there are any."""
    return sum(_count(key_set, joining, salt, moment, window_days) for joining in joinings)


def is_often_enough(segment: Segment, visits: int) -> bool:
    """Return whether so many visits are what a leaf asks for."""
    return _COMPARATORS[segment.frequency_comparator](visits, segment.frequency)


def _count(key_set: bytes, joining: Joining, salt: int, moment: float, window_days: int | None) -> int:
    since = float("-inf") if window_days is None else moment - window_days * _DAY
    chance = zlib.crc32(key_set, zlib.crc32(joining.audience_id.encode(), salt))
    period_days = _PERIODS_DAYS[chance % len(_PERIODS_DAYS)]
    if period_days is None:
        return int(since < joining.moment <= moment)
    period = period_days * _DAY
    last = (moment - joining.moment) // period
    # The last one that is too early: before the window, or more than thirty days before the person joined.
    early = (max(since - joining.moment, -_BEFORE_SECONDS)) // period
    return max(0, int(last - early))
