"""Pass two of a run: its plan is sent, and what the journal says then decides whether it is complete."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from audiencekit.delivery.limiter import RateLimiter
from audiencekit.delivery.results import Delivered
from audiencekit.destinations.destination import Session
from audiencekit.errors import AudiencekitError, ExchangeError, InputOutputFailed, NotFinished, NotFound, ResumeRefused
from audiencekit.machine.eventloop import closed_to_its_end
from audiencekit.personal import short_of_memory
from audiencekit.planning.plan import PlannedRun
from audiencekit.reporting.progress import Progress
from audiencekit.runs.failures import failure_of, unreconciled, where_to_look
from audiencekit.runs.journal.facts import Sums
from audiencekit.runs.run import Run
from audiencekit.runs.runclock import RunClock
from audiencekit.runs.rundelivery import deliver_run
from audiencekit.runs.sendingprogress import SendingProgress


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
    """Send what is not confirmed, and finish the session. Raises nothing that a run can end with."""
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
            delivered.error.hint = where_to_look(run.facts)
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
    """The sums of the journal; where it cannot be read any more, those from before plus those of this delivery."""
    try:
        return run.journal.sums()
    except (InputOutputFailed, ResumeRefused):
        return run.earlier.plus(delivered)
