"""When bytes left, in a way that outlives a process: seconds since the start of the machine, and which start it was."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from audiencekit.delivery.limiter.host import UNKNOWN_BOOT, boot_id, boot_seconds
from audiencekit.limits import EXCHANGE_TIMEOUT_SECONDS


@dataclass(frozen=True, slots=True)
class Moment:
    """`seconds` after the start of the machine that `boot` names. No step of the wall clock moves it."""

    boot: str
    seconds: float

    def seconds_since(self, earlier: Moment) -> float:
        """How long ago `earlier` was; 0 when it is not known, after another start or on another machine."""
        if UNKNOWN_BOOT in (self.boot, earlier.boot) or self.boot != earlier.boot:
            return 0.0
        return max(0.0, self.seconds - earlier.seconds)


def this_moment() -> Moment:
    """Now, on this machine."""
    return Moment(boot_id(), boot_seconds())


def seconds_in_the_past(departures: Iterable[Moment], now: Moment) -> float:
    """The least seconds since the last attempt ended whose bytes left at one of `departures`.

    Infinite when there are none. An attempt may take as long as it is given.
    """
    elapsed = min((now.seconds_since(departure) for departure in departures), default=math.inf)
    return max(0.0, elapsed - EXCHANGE_TIMEOUT_SECONDS)
