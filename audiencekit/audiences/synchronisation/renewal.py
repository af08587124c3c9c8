"""`renew`: put in again, from the snapshot, the members of an audience whose entry expires soon."""

from __future__ import annotations

import functools
import math
from datetime import timedelta
from typing import Final

from audiencekit.audiences.synchronisation.plan.renewalplan import plan_renewal
from audiencekit.audiences.synchronisation.snapshotaccess import run_on_snapshot
from audiencekit.delivery.limiter import RateLimiter
from audiencekit.destinations.target import Target
from audiencekit.durations import parse_duration
from audiencekit.limits import RENEW_BEFORE_DAYS
from audiencekit.machine.eventloop import blocking, cancellable
from audiencekit.planning.options import Keywords, Time, plain_keywords
from audiencekit.reporting.progress import Progress
from audiencekit.reporting.report import Report
from audiencekit.runs.arguments import RunArguments
from audiencekit.runs.journal.facts import RENEW
from audiencekit.runs.runkeywords import RunOptions
from audiencekit.settings import Settings

DEFAULT_BEFORE: Final = f"{RENEW_BEFORE_DAYS}d"


@cancellable
async def renew_async(
    *,
    audience_id: str,
    before: str = DEFAULT_BEFORE,
    expires_at: Time | None = None,
    ttl_days: int | None = None,
    settings: Settings | None = None,
    progress: Progress | None = None,
    limiter: RateLimiter | None = None,
) -> Report:
    """Extend the entries of an audience under sync that expire within `before`, such as 30d; the report of the run.

    The rows of the report are the members of the snapshot. Raises the errors of `sync_async`, and PlanRefused for an
    audience that is not under sync.
    """
    options = RunOptions.of(settings=settings, progress=progress, limiter=limiter)
    days = math.ceil(parse_duration(before, "`before=`") / timedelta(days=1))
    target = Target.audience(audience_id)
    keywords = plain_keywords(Keywords(expires_at=expires_at, ttl_days=ttl_days))
    arguments = RunArguments(source=None, target=target, keywords=keywords, options=options, operation=RENEW)
    return await run_on_snapshot(arguments, lambda snapshot: functools.partial(plan_renewal, snapshot, days))


renew = blocking(renew_async)
