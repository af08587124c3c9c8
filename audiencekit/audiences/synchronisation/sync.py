"""`sync`: make an audience equal to a source by sending what has changed since the last time, and nothing else."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Unpack

from audiencekit.api.opening import open_client
from audiencekit.api.paths import check_identifier
from audiencekit.audiences.synchronisation.plan.syncplanner import SyncPlanner
from audiencekit.audiences.synchronisation.session import Session
from audiencekit.delivery.clock import SystemClock
from audiencekit.delivery.limiter import RateLimiter, open_limiter
from audiencekit.destinations.target import Target
from audiencekit.errors import UsageError
from audiencekit.limits import DEFAULT_ALLOWED_SHRINK
from audiencekit.machine.eventloop import blocking
from audiencekit.planning.options import SyncKeywords, plain_keywords, read_keywords, with_keywords
from audiencekit.planning.planinputs import Means, Terms
from audiencekit.reporting.plan import Plan
from audiencekit.reporting.progress import Progress, heard_by
from audiencekit.reporting.report import Report
from audiencekit.runs.arguments import RunArguments
from audiencekit.runs.beginning import hold_target, start_run
from audiencekit.runs.firstlook import look_first
from audiencekit.runs.journal.facts import SYNC
from audiencekit.settings import Settings, load_settings
from audiencekit.sources.files import AnySource, FilePath, items_of


@with_keywords(SyncKeywords)
async def sync_async(
    source: AnySource,
    *,
    audience_id: str,
    replace: bool = False,
    rebuild: bool = False,
    allow_shrink: float = DEFAULT_ALLOWED_SHRINK,
    settings: Settings | None = None,
    rejections: FilePath | None = None,
    progress: Progress | None = None,
    limiter: RateLimiter | None = None,
    **keywords: Unpack[SyncKeywords],
) -> Report:
    """Make the audience equal to the source; the report of the complete run.

    Only the differences from the snapshot of the last sync are sent. All additions and renewals are confirmed before
    the first removal. The audience may shrink by the share `allow_shrink`, or with `replace` by any share; it is never
    left empty. `rebuild` sends all members, without regard to the snapshot. To finish a sync that ended early, call it
    again: it goes on from what was confirmed. Raises the errors of `upload_async`, and SnapshotRefused when the
    snapshot cannot be trusted.
    """
    source, settings, progress = items_of(source), settings or load_settings(), heard_by(progress)
    allowed = _check(keywords, settings, audience_id, allow_shrink, replace=replace)
    client = open_client(settings)
    with ExitStack() as stack:
        target = Target.audience(audience_id)
        async with open_limiter(settings, target.destination.quota, clock=SystemClock(), given=limiter) as pace:
            plain = plain_keywords(keywords, few_people=settings.few_people)
            await look_first(target.connect(settings), progress)
            arguments = RunArguments(
                source=source, target=target, keywords=plain, rejections=rejections, operation=SYNC
            )
            run = start_run(arguments, settings, stack)
            session = Session(settings, audience_id, stack, progress=progress, rebuild=rebuild)
            planner = SyncPlanner(session, allowed_shrink=allowed, all_members=rebuild)
            return await session.carry_out(run, planner, client, pace)


sync = blocking(sync_async)


@with_keywords(SyncKeywords)
def plan_sync(
    source: AnySource,
    *,
    audience_id: str,
    replace: bool = False,
    rebuild: bool = False,
    allow_shrink: float = DEFAULT_ALLOWED_SHRINK,
    settings: Settings | None = None,
    rejections: FilePath | None = None,
    progress: Progress | None = None,
    **keywords: Unpack[SyncKeywords],
) -> Plan:
    """Make the plan of `sync`, whose `changes` count people. Sends nothing, and needs no credentials.

    Raises the errors of `check`, SnapshotRefused, and AudienceBusy while a run works on the audience.
    """
    source, settings, progress = items_of(source), settings or load_settings(), heard_by(progress)
    allowed = _check(keywords, settings, audience_id, allow_shrink, replace=replace)
    now = datetime.now(UTC)
    target = Target.audience(audience_id)
    with ExitStack() as stack:
        hold_target(target, settings, stack, now)
        session = Session(settings, audience_id, stack, progress=progress, rebuild=rebuild)
        terms = Terms.of(keywords, settings, now=now)
        means = Means(stack=stack, progress=progress, rejections=rejections)
        planner = SyncPlanner(session, allowed_shrink=allowed, all_members=rebuild)
        return planner(source, terms, means).to_plan()


def _check(
    keywords: SyncKeywords, settings: Settings, audience_id: str, allow_shrink: float, *, replace: bool
) -> float:
    """The share that the audience may shrink by. Raises UsageError for what could never work."""
    if not 0 <= allow_shrink <= 1:
        raise UsageError("the share that an audience may shrink by must be from 0 to 1")
    read_keywords(keywords, settings.profile)
    check_identifier("audience", audience_id)
    return 1.0 if replace else allow_shrink
