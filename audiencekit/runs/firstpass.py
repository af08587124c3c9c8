"""Pass one of a run: its sources read and planned on the terms that it was begun with."""

from __future__ import annotations

import asyncio
import functools
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from audiencekit.errors import AudiencekitError, NotFinished
from audiencekit.personal import short_of_memory
from audiencekit.planning.plan import PlannedRun, known_members
from audiencekit.planning.plan_inputs import Means, Terms
from audiencekit.planning.planner import Planner, plan_kept, plan_run
from audiencekit.reporting.progress import Progress, Stoppable
from audiencekit.runs.fingerprints import Fingerprints
from audiencekit.runs.inthread import in_thread
from audiencekit.runs.journal.facts import PlanFacts
from audiencekit.runs.planfacts import facts_for_journal
from audiencekit.runs.resumption import has_kept_spool, kept_spool, new_spool, whole_spool
from audiencekit.runs.run import Run


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """The result of pass one: the plan, and its facts, which are compared when the run is resumed."""

    planned: PlannedRun
    facts: PlanFacts


async def read_and_plan(
    run: Run, planner: Planner, progress: Progress, stack: ExitStack
) -> ReadPlan | AudiencekitError:
    """Pass one; the error that ended it, which is NotFinished for a cancellation."""
    try:
        with short_of_memory():
            return await _plan(run, planner, progress, stack, rejections=run.rejections)
    except AudiencekitError as error:
        return error
    except asyncio.CancelledError:
        return NotFinished("interrupted while the source was read: nothing was sent")


async def _plan(
    run: Run, planner: Planner, progress: Progress, stack: ExitStack, *, rejections: Path | None
) -> ReadPlan:
    """Plan the source on the terms that the run was begun with, in a thread of its own."""
    stoppable, fingerprints = Stoppable(progress), Fingerprints(run)
    terms = Terms.of(run.keywords, run.settings, now=run.started_at, destination=run.facts.target.destination)
    if run.plan is None:  # a plan that was made is not judged by what has become known since
        terms = replace(terms, members=known_members(run.facts.target, run.settings))
    means = Means(
        stack=stack,
        progress=stoppable,
        spool_dir=run.directory,
        rejections=rejections,
        on_records=fingerprints.on_records,
        on_suppressed=fingerprints.add_suppressed,
    )
    work = functools.partial(_plan_from_spool_or_source, run, planner, terms, means)
    planned = await in_thread(work, stoppable)
    return ReadPlan(planned, facts_for_journal(planned, fingerprints.finish()))


def _plan_from_spool_or_source(run: Run, planner: Planner, terms: Terms, means: Means) -> PlannedRun:
    """The plan, from the spool that the run kept of its sources, or from the sources."""
    if has_kept_spool(run.facts, run.directory, is_planned=run.plan is not None):
        spool = means.stack.enter_context(kept_spool(run.directory, run.spool_key))
        with whole_spool():
            return plan_kept(spool, terms, means)
    if run.facts.keep_spool and run.journal.ending() is None:
        means = replace(means, keep=means.stack.enter_context(new_spool(run.directory, run.spool_key)))
    return planner(run.items, terms, means)


async def is_unchanged(run: Run, progress: Progress) -> bool:
    """Whether the source still gives the plan that the run was begun with. All of it is read, nothing is sent.

    Raises SourceRefused when it cannot be read to its end any more, and NotFinished for a cancellation.
    """
    with ExitStack() as stack:
        read = await plan_again(run, progress, stack)
        return not read.planned.refusals and run.plan is not None and run.plan.difference(read.facts) is None


async def plan_again(run: Run, progress: Progress, stack: ExitStack) -> ReadPlan:
    """The plan of the source as it is now. Raises NotFinished for a cancellation."""
    with suppress(asyncio.CancelledError):
        return await _plan(run, plan_run, progress, stack, rejections=None)
    raise NotFinished("interrupted while the source was read: nothing was sent")
