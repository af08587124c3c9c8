"""Uploads to any target, from their arguments to their report: begun, gone on with under an id, or resumed."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Unpack

from audiencekit.delivery.limiter import open_limiter
from audiencekit.delivery.retry import SystemClock
from audiencekit.destinations.target import Target
from audiencekit.machine.keys import known_state_key
from audiencekit.planning.options import Keywords, plain_keywords, read_keywords
from audiencekit.reporting.report import Report
from audiencekit.runs.arguments import RunArguments
from audiencekit.runs.beginning import refuse_other_settings, reopen_run, start_run
from audiencekit.runs.endings import ended, untouched
from audiencekit.runs.execution import execute
from audiencekit.runs.firstlook import look_first
from audiencekit.runs.namedruns import NamedRun
from audiencekit.runs.runkeywords import RunOptions, UploadKeywords
from audiencekit.runs.store import LAST, RunStore
from audiencekit.runs.storedreports import list_runs, the_resumable
from audiencekit.sources.files import AnySource, items_of, paths_of


async def upload_to_audience(audience_id: str, source: AnySource, **keywords: Unpack[UploadKeywords]) -> Report:
    """Do as `pipeline.upload_async`."""
    return await upload_to(Target.audience(audience_id), source, **keywords)


async def upload_to(target: Target, source: AnySource, **keywords: Unpack[UploadKeywords]) -> Report:
    """Do as `pipeline.upload_async`, for any target."""
    source = items_of(source)  # which show no cell in the frames of a traceback, as a table does
    options, about_source = RunOptions.split(keywords)
    return await upload_with(options, target, source, about_source)


async def upload_with(options: RunOptions, target: Target, source: AnySource, keywords: Keywords) -> Report:
    """Do as `upload_to`, where the options of the run are known."""
    settings, progress = options.settings, options.progress
    keywords = plain_keywords(keywords, few_people=settings.few_people)
    read_keywords(keywords, settings.profile)
    # Keywords that could never work are refused before the source is read.
    arguments = RunArguments(source=source, target=target, keywords=keywords, options=options)
    named = None if options.run_id is None else NamedRun(options.run_id, paths_of(source), arguments)
    session = target.connect(settings)
    async with open_limiter(settings, target.destination.quota, clock=SystemClock(), given=options.limiter) as pace:
        if named is not None:
            return await named.carry_out(session, pace, progress)
        await look_first(session, progress)
        with ExitStack() as stack:
            run = start_run(arguments, stack)
            return await execute(run, session, limiter=pace, progress=progress)


async def resume_run(run: str, options: RunOptions, *, new_address: bool = False) -> Report:
    """Do as `pipeline.resume_async`."""
    settings, progress = options.settings, options.progress
    if run == LAST:
        key = known_state_key(settings.state_dir, settings.key)
        run_id = the_resumable(list_runs(settings.state_dir, key))
    else:
        run_id = RunStore(settings.state_dir).find(run)
    with ExitStack() as stack:
        reopened = reopen_run(run_id, settings, stack)
        if (report := ended(reopened)) is not None:
            progress.tell(f"run {run_id} is complete: nothing is left to send")
            return report
        stack.enter_context(untouched(reopened))
        refuse_other_settings(reopened, settings, new_address=new_address)
        target, settings = reopened.facts.target, reopened.settings
        session = target.connect(settings)
        async with open_limiter(settings, target.destination.quota, clock=SystemClock(), given=options.limiter) as pace:
            return await execute(reopened, session, limiter=pace, progress=progress)
