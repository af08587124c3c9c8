"""The time that requests are signed with: ours, corrected by what the service says the time is."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from audiencekit.limits import MAX_CLOCK_OFFSET_SECONDS, MIN_CLOCK_OFFSET_SECONDS

UNAUTHORIZED: Final = 401


def elapsed_seconds() -> float:
    """Seconds that never jump; where the system can tell, time asleep included."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)


def seconds_behind(now: float, answered_at: float | None) -> float:
    """How far `now`, of this machine, is behind the service's time; 0.0 where it is near, or not known."""
    behind = 0.0 if answered_at is None else answered_at - now
    return behind if abs(behind) >= MIN_CLOCK_OFFSET_SECONDS else 0.0


def skew_in_words(seconds_behind: float) -> str:
    """The same for people."""
    apart = "behind" if seconds_behind > 0 else "ahead of"
    return f"the clock of this machine is {abs(seconds_behind):,.0f} s {apart} the service's"


class ServiceClock:
    """The wall clock as it was at the start, carried on by a clock that never jumps, and an offset that is learnt.

    So nothing that is done to the wall clock meanwhile matters, and one that was wrong from the start is corrected
    when a signature was refused for its time (reliability bar, fault 23).
    """

    def __init__(
        self, *, wall: Callable[[], float] = time.time, elapsed: Callable[[], float] = elapsed_seconds
    ) -> None:
        self._elapsed, self._zero = elapsed, wall() - elapsed()
        self.offset_seconds = 0.0

    def now(self) -> float:
        """Epoch seconds as the service sees them, as far as we know."""
        return self._zero + self._elapsed() + self.offset_seconds

    def learn(self, *, status: int, answered_at: float | None) -> None:
        """Takes over the service's time from an answer that refused a signature.

        An answer that was accepted proves our time right, whatever its `Date`. So does one whose time is close to
        ours; and one that is too far from our own clock is not believed.
        """
        if status != UNAUTHORIZED or answered_at is None:
            return
        offset = answered_at - (self._zero + self._elapsed())
        if abs(offset) <= MAX_CLOCK_OFFSET_SECONDS and abs(answered_at - self.now()) >= MIN_CLOCK_OFFSET_SECONDS:
            self.offset_seconds = offset
