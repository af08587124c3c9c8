"""The dry run of a renewal: the look at the audience, then the plan by the snapshot as it is."""

from __future__ import annotations

import math
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

from audiencekit.audiences.dryruns.plansteps import look_and_plan
from audiencekit.audiences.synchronisation.heldsnapshot import HeldSnapshot
from audiencekit.audiences.synchronisation.plan.renewalplan import plan_renewal
from audiencekit.audiences.synchronisation.renewal import DEFAULT_BEFORE
from audiencekit.destinations.target import Target
from audiencekit.durations import parse_duration
from audiencekit.planning.options import Keywords, plain_keywords
from audiencekit.planning.plan import to_plan
from audiencekit.planning.plan_inputs import Means, Terms
from audiencekit.reporting.progress import Progress
from audiencekit.reporting.report import Plan
from audiencekit.runs.beginning import hold_target
from audiencekit.settings import Settings


async def dry_renewal_async(
    *,
    audience_id: str,
    before: str = DEFAULT_BEFORE,
    expires_at: str | None = None,
    ttl_days: int | None = None,
    settings: Settings,
    progress: Progress,
) -> Plan:
    """The plan of `renew`, after the look that a run begins with; nothing is sent.

    `before` and the times are those of `renew_async`. Raises what that raises before its first request.
    """
    days = math.ceil(parse_duration(before, "`before=`") / timedelta(days=1))
    target, now = Target.audience(audience_id), datetime.now(UTC)

    def plan(progress: Progress) -> Plan:
        with ExitStack() as stack:
            hold_target(target, settings, stack, now)
            snapshot = HeldSnapshot(settings, audience_id, stack)
            keywords = plain_keywords(Keywords(expires_at=expires_at, ttl_days=ttl_days))
            means = Means(stack=stack, progress=progress)
            terms = Terms.of(keywords, settings, now=now)
            return to_plan(plan_renewal(snapshot, days, (), terms, means))

    return await look_and_plan(target.connect(settings), progress, plan)
