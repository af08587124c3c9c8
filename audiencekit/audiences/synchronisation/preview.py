"""The plan of a sync that is only looked at: no request is sent, and nothing is changed."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Unpack

from audiencekit.audiences.synchronisation.heldsnapshot import HeldSnapshot
from audiencekit.audiences.synchronisation.plan.syncplanner import SyncPlanner
from audiencekit.audiences.synchronisation.sync import check_sync
from audiencekit.destinations.target import Target
from audiencekit.limits import DEFAULT_ALLOWED_SHRINK
from audiencekit.planning.options import with_keywords
from audiencekit.planning.plan import to_plan
from audiencekit.planning.plan_inputs import Means, Terms
from audiencekit.reporting.report import Plan
from audiencekit.runs.beginning import hold_target
from audiencekit.runs.runkeywords import RUN_DEFAULTS, RunOptions, SyncPlanKeywords
from audiencekit.sources.files import AnySource, items_of


@with_keywords(SyncPlanKeywords, RUN_DEFAULTS)
def plan_sync(
    source: AnySource,
    *,
    audience_id: str,
    replace: bool = False,
    rebuild: bool = False,
    allow_shrink: float = DEFAULT_ALLOWED_SHRINK,
    **keywords: Unpack[SyncPlanKeywords],
) -> Plan:
    """Make the plan of `sync`, whose `changes` count people. Sends nothing, and needs no credentials.

    Raises the errors of `check`, SnapshotRefused, and AudienceBusy while a run works on the audience.
    """
    source = items_of(source)
    options, about_source = RunOptions.split(keywords)
    settings = options.settings
    allowed = check_sync(about_source, settings, audience_id, allow_shrink, replace=replace)
    now = datetime.now(UTC)
    target = Target.audience(audience_id)
    with ExitStack() as stack:
        hold_target(target, settings, stack, now)
        snapshot = HeldSnapshot(settings, audience_id, stack, rebuild=rebuild)
        terms = Terms.of(about_source, settings, now=now)
        means = Means(stack=stack, progress=options.progress, rejections=options.rejections)
        planner = SyncPlanner(snapshot, allowed_shrink=allowed, all_members=rebuild)
        return to_plan(planner(source, terms, means))
