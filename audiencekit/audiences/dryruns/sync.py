"""The dry run of a sync: the look at the audience, then the plan by the snapshot as it is."""

from __future__ import annotations

import functools
from typing import Any

from audiencekit.audiences.dryruns.plansteps import look_and_plan
from audiencekit.audiences.synchronisation.preview import plan_sync
from audiencekit.destinations.target import Target
from audiencekit.reporting.progress import Progress
from audiencekit.reporting.report import Plan
from audiencekit.settings import Settings
from audiencekit.sources.files import AnySource


async def dry_sync_async(
    source: AnySource, *, audience_id: str, settings: Settings, progress: Progress, **given: Any
) -> Plan:
    """The plan of `sync`, after the look that it would begin with. Raises what either raises; nothing is sent."""
    session = Target.audience(audience_id).connect(settings)
    plan = functools.partial(plan_sync, source, audience_id=audience_id, settings=settings, **given)
    return await look_and_plan(session, progress, lambda progress: plan(progress=progress))
