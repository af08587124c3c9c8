"""The delivery of a run: requests that are not confirmed are packed and sent, each with its lines in the journal."""

from __future__ import annotations

from audiencekit.delivery.limiter import RateLimiter
from audiencekit.delivery.options import Earlier, Listener, Route
from audiencekit.delivery.results import Delivered
from audiencekit.delivery.uploader import deliver
from audiencekit.destinations.destination import Session
from audiencekit.planning.plan import PlannedRun
from audiencekit.runs.journal.senttimes import seconds_in_the_past
from audiencekit.runs.journal.writer import RunJournal
from audiencekit.runs.run import Run
from audiencekit.runs.runclock import RunClock
from audiencekit.runs.sendingprogress import SendingProgress


async def deliver_run(
    run: Run, planned: PlannedRun, session: Session, limiter: RateLimiter, time: RunClock, sending: SendingProgress
) -> Delivered:
    """Pack and send what the journal does not confirm. `sending` hears of each request."""
    confirmed = run.journal.confirmed_numbers()
    async with RunJournal(run.journal, run.key, moment=time.moment) as journal:
        return await deliver(
            planned.packed(lambda number: number not in confirmed),
            Route(
                session.send,
                planned.form.open_body,
                limiter,
                time.retry_policy(),
                run.settings.concurrency,
                drain_seconds=run.settings.drain_seconds,
            ),
            journal=journal,
            listener=Listener(on_progress=sending.add, on_failure=sending.tell_failure, tell=sending.progress.tell),
            earlier=None if run.plan is None else _earlier(run, time),
        )


def _earlier(run: Run, time: RunClock) -> Earlier:
    left_seconds_ago = seconds_in_the_past(run.journal.departures().values(), time.moment())
    return Earlier(run.earlier.confirmed, left_seconds_ago)
