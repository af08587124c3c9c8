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
from audiencekit.planning.options import SyncKeywords, with_keywords
from audiencekit.planning.planinputs import Means, Terms
from audiencekit.reporting.plan import Plan
from audiencekit.reporting.progress import Progress, heard_by
from audiencekit.runs.beginning import hold_target
from audiencekit.settings import Settings, load_settings
from audiencekit.sources.files import AnySource, FilePath, items_of


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
    allowed = check_sync(keywords, settings, audience_id, allow_shrink, replace=replace)
    now = datetime.now(UTC)
    target = Target.audience(audience_id)
    with ExitStack() as stack:
        hold_target(target, settings, stack, now)
        snapshot = HeldSnapshot(settings, audience_id, stack, rebuild=rebuild)
        terms = Terms.of(keywords, settings, now=now)
        means = Means(stack=stack, progress=progress, rejections=rejections)
        planner = SyncPlanner(snapshot, allowed_shrink=allowed, all_members=rebuild)
        return planner(source, terms, means).to_plan()
