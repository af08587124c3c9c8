"""How a run comes to the snapshot of its audience: under its lock, at its pace, with the client of its account."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from audiencekit.api.client import AdsClient
from audiencekit.api.opening import open_client
from audiencekit.audiences.synchronisation.heldsnapshot import HeldSnapshot
from audiencekit.audiences.synchronisation.snapshotrun import SnapshotRun
from audiencekit.audiences.synchronisation.stamp.stamping import Stamping
from audiencekit.delivery.limiter import open_limiter
from audiencekit.destinations.ads_session import AudienceSession
from audiencekit.planning.planner import Planner
from audiencekit.reporting.progress import Progress
from audiencekit.reporting.report import Report
from audiencekit.runs.arguments import RunArguments
from audiencekit.runs.beginning import start_run
from audiencekit.runs.run import Run
from audiencekit.runs.runclock import RunClock

# Makes the planner of a run, which opens the snapshot.
PlannerOf = Callable[[HeldSnapshot], Planner]


async def run_on_snapshot(arguments: RunArguments, planner_of: PlannerOf, *, rebuild: bool = False) -> Report:
    """The report of a new run. Raises what `upload_async` does, and SnapshotRefused."""
    options, time = arguments.options, RunClock()
    settings = options.settings
    client, quota = open_client(settings), arguments.target.destination.quota
    async with open_limiter(settings, quota, clock=time.clock, given=options.limiter) as pace:
        with ExitStack() as stack:
            run = start_run(arguments, stack)
            opened = open_snapshot_run(run, client, stack, time=time, progress=options.progress, rebuild=rebuild)
            return await opened.carry_out(planner_of(opened.snapshot), pace)


def open_snapshot_run(
    run: Run, client: AdsClient, stack: ExitStack, *, time: RunClock, progress: Progress, rebuild: bool = False
) -> SnapshotRun:
    """The snapshot of the audience of `run`, with its stamp; `stack` closes it. With `rebuild` it is built anew."""
    audience_id = run.facts.target.id
    snapshot = HeldSnapshot(run.settings, audience_id, stack, rebuild=rebuild, now=time.now)
    stamping = Stamping(
        client, audience_id, snapshot.directory, snapshot.key,
        policy=time.retry_policy(), is_rebuild=rebuild, tell=progress.tell,
    )  # fmt: skip
    session = AudienceSession(client, run.facts.account_id, audience_id)
    return SnapshotRun(run, snapshot, stamping, session, time, progress)
