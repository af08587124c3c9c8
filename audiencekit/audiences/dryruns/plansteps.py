"""The steps of every dry run that ends in a plan: the look at the target, then the plan in a thread of its own."""

from __future__ import annotations

import functools
from collections.abc import Callable

from audiencekit.destinations.destination import Session
from audiencekit.reporting.progress import Progress, Stoppable
from audiencekit.reporting.report import Plan
from audiencekit.runs.firstlook import look_first
from audiencekit.runs.inthread import in_thread


async def look_and_plan(session: Session, progress: Progress, plan: Callable[[Progress], Plan]) -> Plan:
    """Return the plan that `plan` makes, after the look at the target that a run begins with.

    `plan` is called in a thread, with a progress that stops it when this is cancelled. Raises what refuses the target.
    """
    await look_first(session, progress)
    return await plan_in_thread(progress, plan)


async def plan_in_thread(progress: Progress, plan: Callable[[Progress], Plan]) -> Plan:
    """Return the plan that `plan` makes, where there is no target to look at yet."""
    stoppable = Stoppable(progress)
    return await in_thread(functools.partial(plan, stoppable), stoppable)
