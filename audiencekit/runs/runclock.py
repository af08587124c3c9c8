"""The time of a run: the clock that its waits go by, and the moments in its journal, which other processes read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from audiencekit.delivery.retry import Clock, RetryPolicy, SystemClock
from audiencekit.runs.journal.senttimes import Moment, this_moment


@dataclass(frozen=True, slots=True)
class RunClock:
    """The clock of waits, and the one of departures, which outlives a process. By default those of this machine."""

    clock: Clock = field(default_factory=SystemClock)
    moment: Callable[[], Moment] = this_moment

    def now(self) -> datetime:
        """The time by the clock of waits."""
        return datetime.fromtimestamp(self.clock.now(), UTC)

    def retry_policy(self) -> RetryPolicy:
        """A policy that waits by this clock."""
        return RetryPolicy.seeded(self.clock)
