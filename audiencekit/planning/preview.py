"""A plan that is only looked at: pass one without the records themselves, and nothing of it left behind."""

from __future__ import annotations

from contextlib import ExitStack

from audiencekit.machine.heap import give_back
from audiencekit.planning.plandocument import to_plan
from audiencekit.planning.planinputs import Means, Terms
from audiencekit.planning.planner import plan_run
from audiencekit.reporting.plan import Plan
from audiencekit.reporting.progress import Progress
from audiencekit.sources.files import AnySource, FilePath


def preview(source: AnySource, terms: Terms, *, rejections: FilePath | None, progress: Progress) -> Plan:
    """Return the plan of `source` for people and programs. Raises what `plan_run` raises."""
    with ExitStack() as stack:
        means = Means(stack=stack, progress=progress, rejections=rejections, keeps_records=False)
        plan = to_plan(plan_run(source, terms, means))
    give_back()
    return plan
