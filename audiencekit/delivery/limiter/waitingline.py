"""The line of callers that share a quota: one value and two pure functions on it. Times are seconds of one clock.

Places in the line only say who goes first and when to look again. What keeps the rate is `free_at`, which moves when
a request really leaves: a process that is late, stopped or killed in the line takes nothing from the quota.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

from audiencekit.errors import UsageError
from audiencekit.limits import FARTHEST_PLACE_SECONDS, RATE_FLOOR_SHARE, RATE_RECOVERY_PER_MINUTE

SECONDS_PER_MINUTE: Final = 60.0
# Lateness is made up for, up to half an interval: that adds no request to a window of a whole number of intervals.
CATCH_UP_INTERVALS: Final = 0.5
# The next in line looks so long before its own turn: when its predecessor is dead by then, the turn is not lost.
HEAD_START_INTERVALS: Final = 0.75
# A caller that does not come back for so long has left the line, or is dead.
ABSENCE_INTERVALS: Final = 1.0


def interval_seconds(requests_per_minute: float) -> float:
    """Seconds from one request to the next. Raises UsageError for a pace that is no number above 0."""
    if not (requests_per_minute > 0 and math.isfinite(requests_per_minute)):
        raise UsageError("requests per minute must be a number above 0")
    return SECONDS_PER_MINUTE / requests_per_minute


@dataclass(frozen=True, slots=True)
class Waiter:
    """One process in the line, and the moment at which it looks again."""

    owner: str
    due: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingLine:
    """`free_at`: the next request may leave. `share`: of the full rate, as it was at `share_at`."""

    free_at: float
    paused_until: float = 0.0
    share: float = 1.0
    share_at: float = 0.0
    waiting: tuple[Waiter, ...] = ()


def believable(line: WaitingLine, now: float) -> bool:
    """Whether `line` can be of this clock. After a restart of the clock its times lie in a far future."""
    return max(line.free_at, line.paused_until) <= now + FARTHEST_PLACE_SECONDS


def share_of(line: WaitingLine, now: float) -> float:
    """The share of the full rate at `now`: it recovers by RATE_RECOVERY_PER_MINUTE."""
    recovered = RATE_RECOVERY_PER_MINUTE * max(0.0, now - line.share_at) / SECONDS_PER_MINUTE
    return min(1.0, line.share + recovered)


def advance(
    line: WaitingLine, owner: str, *, now: float, interval: float, is_due: bool
) -> tuple[WaitingLine, float | None]:
    """The line after `owner` asked, and when it has to ask again; None: it leaves now.

    `interval` is that of the full rate. `is_due`: the owner was told to ask now, so it need not queue behind others.
    In closed windows of n intervals at most n + 1 requests leave.
    """
    interval /= share_of(line, now)
    others = tuple(waiter for waiter in line.waiting if waiter.due >= now - ABSENCE_INTERVALS * interval)
    if now < line.paused_until:
        return replace(line, waiting=_without(others, owner)), line.paused_until
    ahead = next((place for place, waiter in enumerate(others) if waiter.owner == owner), len(others))
    if now >= line.free_at and (is_due or ahead == 0):
        free_at = max(line.free_at, line.paused_until, now - CATCH_UP_INTERVALS * interval) + interval
        return replace(line, free_at=free_at, waiting=_without(others, owner)), None
    due = max(line.free_at, now) + max(0.0, ahead - HEAD_START_INTERVALS) * interval
    waiting = (*others[:ahead], Waiter(owner, due), *others[ahead + 1 :])
    return replace(line, waiting=waiting), due


def pause(line: WaitingLine, *, now: float, seconds: float) -> WaitingLine:
    """The line after a 429: shut for `seconds` at least. The first 429 of a pause halves the rate, down to a floor."""
    share = share_of(line, now)
    if now >= line.paused_until:
        share = max(RATE_FLOOR_SHARE, share / 2)
    paused_until = max(line.paused_until, now + seconds)
    return replace(line, paused_until=paused_until, share=share, share_at=paused_until)


def _without(waiting: tuple[Waiter, ...], owner: str) -> tuple[Waiter, ...]:
    return tuple(waiter for waiter in waiting if waiter.owner != owner)
