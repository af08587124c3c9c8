"""Pass two for people: notes before it begins, its progress, and its pace for the report."""

from __future__ import annotations

import logging
from collections import Counter
from datetime import UTC, datetime
from typing import Any, Final

from audiencekit.delivery.results import RequestResult
from audiencekit.delivery.retry import Clock
from audiencekit.planning.plan import PlannedRun
from audiencekit.preparation.plantimes import format_time
from audiencekit.reporting.progress import Progress
from audiencekit.reporting.text import how_resumable
from audiencekit.runs.run import Run
from audiencekit.shown import shown

MOST_STEPS: Final = 60  # of a pace: as many as a picture shows

_LOG: Final = logging.getLogger(__name__)
_COUNTED: Final = ("requests", "attempts", "waits", "records")


def tell_of_plan(run: Run, planned: PlannedRun, progress: Progress) -> None:
    """Tell how the run could be resumed, then the notes and warnings of its plan."""
    facts = run.facts
    progress.tell(how_resumable(planned.source.repeatable, keeps_spool=facts.keep_spool, again=facts.again))
    told = [f"note: {shown(note)}" for note in planned.plan_notes]
    told += [f"warning: {shown(warning.message)}" for warning in planned.warnings]
    if told:
        progress.tell("\n".join(told))


class SendingProgress:
    """The progress of pass two: requests, with their bytes and records. It begins with the `confirmed` ones.

    Of each second since then it counts the requests that ended.
    """

    def __init__(self, progress: Progress, planned: PlannedRun, confirmed: frozenset[int], clock: Clock) -> None:
        requests = planned.requests
        before = [request for request in requests if request.number in confirmed]
        self.progress, self._total, self._confirmed = progress, len(requests), len(before)
        self._bytes = sum(request.body_bytes for request in before)
        self._records = sum(request.records for request in before)
        self._clock, self._begun = clock, clock.monotonic()
        self._began_at = format_time(datetime.fromtimestamp(clock.now(), UTC))
        self._seconds: dict[int, Counter[str]] = {}
        self._step()

    def add(self, result: RequestResult) -> None:
        """One request has ended; one that never left counts nowhere."""
        second = self._seconds.setdefault(int(self._clock.monotonic() - self._begun), Counter())
        second.update(requests=int(result.attempts > 0), attempts=result.attempts, waits=result.rate_limited)
        facts = {"request": result.number, "outcome": str(result.outcome or "not sent"), "attempts": result.attempts}
        facts |= {"records": result.records, "bytes": result.body_bytes}
        _LOG.debug(
            "request %s: %s, %s records", result.number, facts["outcome"], result.records, extra={"facts": facts}
        )
        if result.is_confirmed:
            second["records"] += result.records
            self._confirmed += 1
            self._bytes, self._records = self._bytes + result.body_bytes, self._records + result.records
        self._step()

    def tell_failure(self, number: int, why: str) -> None:
        """An exchange for a request has failed, or for a part of it."""
        self.progress.tell(f"request {number}: {why}")

    def _step(self) -> None:
        also = {"bytes": self._bytes, "records": self._records}
        self.progress.step("sending", self._confirmed, self._total, unit="requests", also=also)

    def pace(self) -> dict[str, Any]:
        """Count the requests that ended in each step of `step_seconds` since `began_at`; empty without any."""
        if not self._seconds:
            return {}
        step = max(self._seconds) // MOST_STEPS + 1
        steps = [Counter[str]() for _ in range(max(self._seconds) // step + 1)]
        for second, counted in self._seconds.items():
            steps[second // step].update(counted)
        return {
            "began_at": self._began_at,
            "step_seconds": step,
            **{name: [each[name] for each in steps] for name in _COUNTED},
        }
