"""A task that waits without a worker: when it is put off, for how long, and what it remembers meanwhile.

A run stays in the state directory while its task is deferred, as after a kill. The database of Airflow gets two
numbers: since when the task waits, and how often it was put off.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Final

from audiencekit.delivery.retry import Clock, SystemClock
from audiencekit.errors import AudienceBusy, AudiencekitError, LongWait, ServiceUnavailable
from audiencekit.integrations.airflow.versions import BaseTrigger, TriggerEvent

DEFER_AFTER_SECONDS: Final = 60.0  # a worker is started again in some seconds; shorter waits are not worth it
DEFERRAL_TIMEOUT_SECONDS: Final = 7_200.0  # outages and windows of the service are over by then, or a person is needed
# A service that stays away is asked less and less often: each look reads the source again.
_LONGEST_SECONDS: Final = 900.0
_MOST_DOUBLINGS: Final = 16
_STEP_SECONDS: Final = 30.0  # between two looks at the clock, which may be set meanwhile


@dataclass(frozen=True, slots=True)
class Waiting:
    """Since when a task waits without any progress, in epoch seconds; and how often it was put off since then.

    `since` is None for a task that does not wait.
    """

    since: float | None = None
    times: int = 0

    def put_off(self, error: AudiencekitError, *, now: float, least_seconds: float) -> tuple[Waiting, float]:
        """Return what the task remembers when it is put off for `error`, and the seconds until its next try."""
        begins_anew = self.since is None or (isinstance(error, LongWait) and error.has_progress)
        before = Waiting(now) if begins_anew else self
        growing = min(least_seconds * 2.0 ** min(before.times, _MOST_DOUBLINGS), max(least_seconds, _LONGEST_SECONDS))
        due = error.seconds if isinstance(error, LongWait) else 0.0
        return Waiting(before.since, before.times + 1), max(due, growing)

    def ends_in_time(self, at: float, *, timeout_seconds: float) -> bool:
        """Whether the next try, at this moment, is within the time that the task may wait."""
        return self.since is None or at - self.since <= timeout_seconds


def is_worth_waiting(error: AudiencekitError) -> bool:
    """Whether only time is needed: the service is away or asks to wait, or another run works on the audience."""
    return isinstance(error, LongWait | AudienceBusy) or error.exit_code == ServiceUnavailable.exit_code


class DeferralTrigger(BaseTrigger):
    """One event, at `until` in epoch seconds: what the task remembers. It asks no service and reads no connection."""

    def __init__(self, *, until: float, since: float | None, times: int) -> None:
        super().__init__()
        self.until, self.waiting = until, Waiting(since, times)

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """The class and its arguments, as the database keeps them."""
        return f"{type(self).__module__}.{type(self).__qualname__}", {"until": self.until, **asdict(self.waiting)}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """The one event."""
        clock: Clock = SystemClock()
        while (seconds := self.until - clock.now()) > 0:
            await asyncio.sleep(min(seconds, _STEP_SECONDS))
        yield TriggerEvent(asdict(self.waiting))


def in_utc(moment: float) -> str:
    """Return epoch seconds as people read them."""
    return f"{datetime.fromtimestamp(moment, UTC):%H:%M:%S} UTC"
