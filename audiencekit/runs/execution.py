"""One run from its source to its report: read, plan, store the plan in the journal, send what is not confirmed."""

from __future__ import annotations

import functools
from contextlib import ExitStack

from audiencekit.delivery.limiter import RateLimiter
from audiencekit.destinations.destination import Session
from audiencekit.planning.plan import PlannedRun
from audiencekit.planning.planner import Planner, plan_run
from audiencekit.process.memory import give_back
from audiencekit.reporting.progress import Progress
from audiencekit.reporting.report import Report
from audiencekit.runs.endings import conclude, refuse
from audiencekit.runs.first_pass import Accept, ReadPlan, accept_plan, read_and_plan
from audiencekit.runs.run import Run, RunClock
from audiencekit.runs.second_pass import announce_plan, send_plan


async def execute(
    run: Run,
    session: Session,
    *,
    limiter: RateLimiter,
    progress: Progress,
    planner: Planner = plan_run,
    accept: Accept | None = None,
    time: RunClock | None = None,
) -> Report:
    """Return the report of the complete run. Raises for any other, as `pipeline.upload_async` says.

    `accept` is called before the first request; by default the session of the target begins then.
    """
    time = time or RunClock()
    accept = accept or functools.partial(_begin, run, session, time, progress)
    session.identify(run.facts.idempotency_key)
    run.events.tell_by(progress.tell)
    if run.note:
        progress.tell(run.note)
    with ExitStack() as stack:
        read = await read_and_plan(run, planner, progress, stack)
        give_back()
        if isinstance(read, ReadPlan):
            run.events.read(read.facts.rows_read, read.facts.rows_rejected)
        if isinstance(read, ReadPlan) and not read.planned.refusals:
            refusal = await accept_plan(run, read, accept, time, progress)
            if refusal is None:
                announce_plan(run, read.planned, progress)
                return conclude(run, read.planned, await send_plan(run, read.planned, session, limiter, time, progress))
            raise refusal
    # Raised outside the handlers of what went wrong, whose frames hold records.
    raise refuse(run, read.planned.refusals[0], read.planned) if isinstance(read, ReadPlan) else refuse(run, read)


async def _begin(run: Run, session: Session, time: RunClock, progress: Progress, planned: PlannedRun) -> None:
    if run.earlier.confirmed < len(planned.requests):
        removes = any(request.deletes for request in planned.requests)
        await session.begin(removes=removes, policy=time.retry_policy(run.settings), notify=progress.tell)
