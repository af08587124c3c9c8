"""The dry run of an upload to the do-not-reach list of the account."""

from __future__ import annotations

import functools
from typing import Any, Unpack

from audiencekit.api.opening import open_client
from audiencekit.audiences.donotreachlist import find_list
from audiencekit.audiences.dryruns.plansteps import plan_in_thread
from audiencekit.audiences.dryruns.upload import plan_upload_async
from audiencekit.destinations.ads import DO_NOT_REACH_LIST
from audiencekit.errors import Refused
from audiencekit.pipeline import check
from audiencekit.planning.options import Keywords, plain_keywords, read_keywords
from audiencekit.reporting.progress import Progress
from audiencekit.reporting.report import Plan
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
    given: dict[str, Any] = {"settings": settings, "rejections": rejections}
    if found is not None:
        return await plan_upload_async(found.target, source, progress=progress, **given, **keywords)
    if read_keywords(plain_keywords(keywords), settings.profile).operation == "delete":
        raise Refused("the account has no do-not-reach list: there is no one to take off it")
    progress.tell("the account has no do-not-reach list: the upload would create it")
    plan = functools.partial(check, source, destination=DO_NOT_REACH_LIST, **given, **keywords)
    return await plan_in_thread(progress, lambda progress: plan(progress=progress))
