"""`sync`: make an audience equal to a source by sending what has changed since the last time, and nothing else."""

from __future__ import annotations

import functools
from typing import Unpack

from audiencekit.api.calls import check_identifier
from audiencekit.audiences.synchronisation.plan.syncplanner import SyncPlanner, allowed_share
from audiencekit.audiences.synchronisation.snapshotaccess import run_on_snapshot
from audiencekit.destinations.target import Target
from audiencekit.limits import DEFAULT_ALLOWED_SHRINK
from audiencekit.machine.eventloop import blocking, cancellable
from audiencekit.planning.options import SyncKeywords, plain_keywords, read_keywords, with_keywords
from audiencekit.reporting.report import Report
from audiencekit.runs.arguments import RunArguments
from audiencekit.runs.firstlook import look_first
from audiencekit.runs.journal.facts import SYNC
from audiencekit.runs.runkeywords import RUN_DEFAULTS, RunOptions, SyncRunKeywords
from audiencekit.settings import Settings
from audiencekit.sources.files import AnySource, items_of


@cancellable
@with_keywords(SyncRunKeywords, RUN_DEFAULTS)
async def sync_async(
    source: AnySource,
    *,
    audience_id: str,
    replace: bool = False,
    rebuild: bool = False,
    allow_shrink: float = DEFAULT_ALLOWED_SHRINK,
    **keywords: Unpack[SyncRunKeywords],
) -> Report:
    """Make the audience equal to the source; the report of the complete run.

    Only the differences from the snapshot of the last sync are sent. All additions and renewals are confirmed before
    the first removal. The audience may shrink by the share `allow_shrink`, or with `replace` by any share; it is never
    left empty. `rebuild` sends all members, without regard to the snapshot. To finish a sync that ended early, call it
    again: it goes on from what was confirmed. Raises the errors of `upload_async`, and SnapshotRefused when the
    snapshot cannot be trusted.
    """
    source = items_of(source)
    options, about_source = RunOptions.split(keywords)
    allowed = check_sync(about_source, options.settings, audience_id, allow_shrink, replace=replace)
    plain = plain_keywords(about_source, few_people=options.settings.few_people)
    target = Target.audience(audience_id)
    await look_first(target.connect(options.settings), options.progress)
    arguments = RunArguments(source=source, target=target, keywords=plain, options=options, operation=SYNC)
    planner = functools.partial(SyncPlanner, allowed_shrink=allowed, all_members=rebuild)
    return await run_on_snapshot(arguments, planner, rebuild=rebuild)


sync = blocking(sync_async)


def check_sync(
    keywords: SyncKeywords, settings: Settings, audience_id: str, allow_shrink: float, *, replace: bool
) -> float:
    """The share that the audience may shrink by. Raises UsageError for what could never work."""
    allowed = allowed_share(allow_shrink, replace=replace)
    read_keywords(keywords, settings.profile)
    check_identifier("audience", audience_id)
    return allowed
