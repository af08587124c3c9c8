"""Between the passes: a plan is journalled, compared with the one before, and accepted, or the run ends here."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable

from audiencekit.errors import AudiencekitError, NotFinished, ResumeRefused
from audiencekit.personal import guarded, short_of_memory
from audiencekit.planning.plan import PlannedRun
from audiencekit.reporting.progress import Progress
from audiencekit.runs.doubts import EarlierRuns
from audiencekit.runs.endings import fail, leave_untouched
from audiencekit.runs.failures import cannot_resume, refuse_expired
from audiencekit.runs.firstpass import ReadPlan
from audiencekit.runs.inthread import in_thread
from audiencekit.runs.journal.facts import PlanFacts
from audiencekit.runs.journal.writer import body_digest, other_bytes
from audiencekit.runs.reports import report_of, store_report
from audiencekit.runs.run import Run
from audiencekit.runs.runclock import RunClock

# The last step before the first request of a plan.
Accept = Callable[[PlannedRun], Awaitable[None]]


async def accept_plan(
    run: Run, read: ReadPlan, accept: Accept, time: RunClock, progress: Progress
) -> AudiencekitError | None:
    """Put the plan into the journal, wait for earlier runs, and `accept` it; the error that ended the run instead.

    Such errors: the disk cannot keep the plan, it is not the one that the run was begun with, it is not accepted.
    """
    planned = read.planned
    try:
        with short_of_memory():
            refuse_expired(planned, run.journal.confirmed_numbers(), time.now())
            _journal(run, read.facts)
            await in_thread(functools.partial(_check_bodies, run, planned))
            store_report(run, report_of(run, planned))
            await _earlier_runs(run, time).wait(run.facts.target, run.journal.plan(), time.clock.sleep, progress.tell)
            await accept(planned)
    except ResumeRefused as refusal:
        return leave_untouched(run, refusal)
    except AudiencekitError as failure:
        return fail(run, failure, report_of(run, planned), run.earlier)
    except asyncio.CancelledError:
        interrupted = NotFinished("interrupted before anything was sent")
        return fail(run, interrupted, report_of(run, planned), run.earlier)
    return None


def _journal(run: Run, facts: PlanFacts) -> None:
    """Put the plan into the journal; one that is there already must be the same, or ResumeRefused is raised."""
    if run.plan is None:
        run.journal.keep_plan(facts, run.key)
    elif difference := run.plan.difference(facts):
        raise cannot_resume(*difference)


@guarded
def _check_bodies(run: Run, planned: PlannedRun) -> None:
    """Make the bodies that may have left before once more; raises ResumeRefused when one is other bytes."""
    known = run.journal.digests()
    for request in planned.packed(known.__contains__):
        if body_digest(request, run.key) != known[request.number]:
            raise other_bytes(request.number)


def _earlier_runs(run: Run, time: RunClock) -> EarlierRuns:
    return EarlierRuns(
        run.store.state_dir, run.facts.account_id, now=time.clock.now, moment=time.moment, except_run=run.facts.run_id
    )
