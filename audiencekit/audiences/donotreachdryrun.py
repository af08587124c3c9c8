"""The dry run of an upload to the do-not-reach list of the account."""

from __future__ import annotations

import functools
from typing import Any, Unpack

from audiencekit.api.opening import open_client
from audiencekit.audiences.do_not_reach import find_list
from audiencekit.destinations.donotreachlist import DO_NOT_REACH_LIST
from audiencekit.errors import Refused
from audiencekit.pipeline import check
from audiencekit.planning.options import Keywords, plain_keywords, read_keywords
from audiencekit.reporting.plan import Plan
from audiencekit.reporting.progress import Progress, Stoppable
from audiencekit.runs.dryrun import plan_upload_async
from audiencekit.runs.inthread import in_thread
from audiencekit.settings import Settings
from audiencekit.sources.files import AnySource, FilePath


async def dry_upload_async(
    source: AnySource,
    *,
    settings: Settings,
    progress: Progress,
    rejections: FilePath | None = None,
    **keywords: Unpack[Keywords],
) -> Plan:
    """The plan of `do_not_reach_upload_async`; nothing is created or sent. Raises what refuses that."""
    async with open_client(settings) as client:
        found = await find_list(client)
    stoppable = Stoppable(progress)
    given: dict[str, Any] = {"settings": settings, "rejections": rejections, "progress": stoppable}
    if found is not None:
        return await plan_upload_async(found.target, source, **given, **keywords)
    if read_keywords(plain_keywords(keywords), settings.profile).operation == "delete":
        raise Refused("the account has no do-not-reach list: there is no one to take off it")
    progress.tell("the account has no do-not-reach list: the upload would create it")
    return await in_thread(
        functools.partial(check, source, destination=DO_NOT_REACH_LIST, **given, **keywords), stoppable
    )
