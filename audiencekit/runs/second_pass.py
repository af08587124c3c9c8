"""Pass two of a run: its requests are delivered, with progress, and its end is written."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from audiencekit.delivery.limiter import RateLimiter
from audiencekit.delivery.options import Earlier, Listener, Route
from audiencekit.delivery.results import Delivered, RequestResult
from audiencekit.delivery.retry import Clock
from audiencekit.delivery.uploader import deliver
from audiencekit.destinations.destination import Session
from audiencekit.errors import AudiencekitError, ExchangeError, InputOutputFailed, NotFinished, NotFound, ResumeRefused
from audiencekit.personal import short_of_memory
from audiencekit.planning.plan import PlannedRun
from audiencekit.process.event_loop import closed_to_its_end
from audiencekit.records.plan_times import format_time
from audiencekit.reporting.progress import Progress
from audiencekit.reporting.text import describe_resumption, warning_line
from audiencekit.runs.failures import failure_of, not_found_hint, unreconciled
from audiencekit.runs.journal.facts import Sums, seconds_in_the_past
from audiencekit.runs.journal.writer import RunJournal
from audiencekit.runs.run import Run, RunClock
from audiencekit.text import shown

# --- Pass two of a run: its plan is sent, and the journal decides whether it is complete ---


@dataclass(frozen=True, slots=True)
class Sent:
    """The result of pass two: the sums of the journal, and the error of a run that is not complete."""

    sums: Sums
    failure: AudiencekitError | None
    notes: tuple[str, ...]
    pace: dict[str, Any]
    learned_size: dict[str, Any] | None


async def send_plan(
    run: Run, planned: PlannedRun, session: Session, limiter: RateLimiter, time: RunClock, progress: Progress
) -> Sent:
    """Send what is not confirmed, and finish the session. Errors that can end a run are returned, not raised."""
    notes: tuple[str, ...] = ()
    learned_size: dict[str, Any] | None = None
    failure: AudiencekitError | None
    sending = SendingProgress(progress, planned, run.journal.confirmed_numbers(), time.clock)
    try:
        with short_of_memory():
            async with closed_to_its_end(session):
                delivered = await deliver_run(run, planned, session, limiter, time, sending)
                if delivered.is_complete:
                    await session.finish()
        sums, notes = _sums_after(run, delivered), delivered.notes
        learned_size = delivered.learned_size
        if isinstance(delivered.error, NotFound):
            delivered.error.hint = not_found_hint(run.facts)
        failure = unreconciled(sums, run.facts.target) if delivered.is_complete else failure_of(delivered, sums)
    except ExchangeError as error:
        sums = run.journal.sums()
        failure = NotFinished(f"all is sent, and the end of the run is not confirmed: {error}")
    except InputOutputFailed as error:
        sums, failure = run.journal.sums(), error
    except asyncio.CancelledError:
        # The second interruption: what was under way is in doubt, as the journal says.
        sums, failure = run.journal.sums(), NotFinished("the upload was stopped at once")
    return Sent(sums, failure, notes, sending.pace(), learned_size)


def _sums_after(run: Run, delivered: Delivered) -> Sums:
    """Return the sums of the journal; if it cannot be read any more, those from before plus those of this delivery."""
    try:
        return run.journal.sums()
    except (InputOutputFailed, ResumeRefused):
        return run.earlier.plus(delivered)


# --- The delivery of a run: unconfirmed requests are packed and sent, each with its lines in the journal ---


async def deliver_run(
    run: Run, planned: PlannedRun, session: Session, limiter: RateLimiter, time: RunClock, sending: SendingProgress
) -> Delivered:
    """Pack and send the requests that the journal does not confirm. `sending` is called for each request."""
    confirmed = run.journal.confirmed_numbers()
    async with RunJournal(run.journal, run.key, moment=time.moment, events=run.events) as journal:
        return await deliver(
            planned.packed(lambda number: number not in confirmed),
            Route(
                session.send,
                planned.form.open_body,
                limiter,
                time.retry_policy(run.settings),
                run.settings.concurrency,
                drain_seconds=run.settings.drain_seconds,
            ),
            journal=journal,
            listener=Listener(
                on_progress=sending.add,
                on_failure=sending.on_failure,
                notify=sending.progress.tell,
                on_wait=run.events.wait,
            ),
            earlier=None if run.plan is None else _earlier(run, time),
        )


def _earlier(run: Run, time: RunClock) -> Earlier:
    left_seconds_ago = seconds_in_the_past(run.journal.departures().values(), time.moment())
    return Earlier(run.earlier.confirmed, left_seconds_ago)


# --- Pass two for people: notes before it begins, its progress, and its pace for the report ---

MOST_STEPS: Final = 60  # of a pace: as many as a picture shows

_LOG: Final = logging.getLogger(__name__)
_COUNTED: Final = ("requests", "attempts", "waits", "records")


def announce_plan(run: Run, planned: PlannedRun, progress: Progress) -> None:
    """Show how the run could be resumed, unless by its list as it is, then the notes and warnings of its plan."""
    facts = run.facts
    if facts.repeat_command or facts.keep_spool or not planned.source.repeatable:
        again = facts.repeat_command
        progress.tell(describe_resumption(planned.source.repeatable, keeps_spool=facts.keep_spool, again=again))
    lines = [f"note: {shown(note)}" for note in planned.plan_notes]
    lines += [warning_line(warning.to_json()) for warning in planned.warnings]
    if lines:
        progress.tell("\n".join(lines))


class SendingProgress:
    """The progress of pass two: requests, with their bytes and records. It begins with the `confirmed` ones.

    It counts the requests that ended in each second since then.
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
        """Note that one request has ended; one that was never sent is not counted."""
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

    def on_failure(self, number: int, why: str) -> None:
        """Note that an exchange for a request, or for a part of it, has failed."""
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
