"""People put on the do-not-reach list of the account, or taken off it; the list is created when it is missing."""

from __future__ import annotations

import asyncio
import functools
from typing import Unpack

from audiencekit.api.opening import open_client
from audiencekit.audiences.donotreachlist import LIST_AGAIN, DoNotReachList, ensure_list, find_list
from audiencekit.delivery.retry import SystemClock
from audiencekit.destinations.ads import DO_NOT_REACH_LIST
from audiencekit.errors import NotFinished, Refused
from audiencekit.machine.eventloop import blocking, cancellable
from audiencekit.pipeline import check
from audiencekit.planning.options import Keywords, plain_keywords, read_keywords, with_keywords
from audiencekit.reporting.progress import Progress, Stoppable
from audiencekit.reporting.report import Report
from audiencekit.runs.inthread import in_thread
from audiencekit.runs.runkeywords import RUN_DEFAULTS, RunOptions, UploadKeywords
from audiencekit.runs.uploads import upload_with
from audiencekit.settings import Settings
from audiencekit.sources.files import AnySource, comes_once, items_of


@cancellable
@with_keywords(UploadKeywords, RUN_DEFAULTS)
async def do_not_reach_upload_async(source: AnySource, **keywords: Unpack[UploadKeywords]) -> Report:
    """Put the people of the source on the do-not-reach list of the account, or take them off; the report of the run.

    The list takes emails and phone numbers only. It is created when the account has none, but not for a source that is
    refused; standard input and readers are the exception, since they cannot be read twice. `limiter`, `run_id`,
    `keep_spool` and the errors are those of `upload_async`. Raises Refused for Deletes when the account has no list.
    """
    source = items_of(source)
    options, about_source = RunOptions.split(keywords)
    found = await _prepared_list(source, options.settings, options.progress, about_source)
    return await upload_with(options, found.target, source, about_source)


do_not_reach_upload = blocking(do_not_reach_upload_async)


async def _prepared_list(
    source: AnySource, settings: Settings, progress: Progress, keywords: Keywords
) -> DoNotReachList:
    """The list of the account. Raises what refuses the source when it has none, NotFinished for a cancellation."""
    try:
        async with open_client(settings) as client:
            if (found := await find_list(client)) is not None:
                return found
            await _check_first(source, settings, progress, keywords)
            made = await ensure_list(client, clock=SystemClock())
        progress.tell(f"the do-not-reach list {made.id} was created: the account had none")
        return made
    except asyncio.CancelledError:
        interrupted = NotFinished("interrupted before people were put on the do-not-reach list", hint=LIST_AGAIN)
    interrupted.document = {"state": "incomplete"}
    raise interrupted


async def _check_first(source: AnySource, settings: Settings, progress: Progress, keywords: Keywords) -> None:
    """Returns when a list may be created for the source. Raises what refuses it."""
    options = read_keywords(plain_keywords(keywords), settings.profile)
    if options.operation == "delete":
        raise Refused("the account has no do-not-reach list: there is no one to take off it")
    if any(map(comes_once, items_of(source))):
        return
    stoppable = Stoppable(progress)
    looking = functools.partial(
        check, source, settings=settings, progress=stoppable, destination=DO_NOT_REACH_LIST, **keywords
    )
    plan = await in_thread(looking, stoppable)
    if plan.refusals:
        raise plan.refusals[0]
