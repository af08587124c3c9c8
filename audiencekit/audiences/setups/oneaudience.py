"""The turn of one audience of a setup: its command is carried out, tried in a dry run, or planned.

The id of the audience is empty for the do-not-reach list, which each account has one of.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from audiencekit.audiences.do_not_reach import do_not_reach_upload_async
from audiencekit.audiences.dryruns.donotreach import dry_upload_async
from audiencekit.audiences.dryruns.sync import dry_sync_async
from audiencekit.audiences.dryruns.upload import plan_upload_async
from audiencekit.audiences.setups.pace import one_pace
from audiencekit.audiences.setups.setup import AudienceSetup
from audiencekit.audiences.synchronisation.preview import plan_sync
from audiencekit.audiences.synchronisation.sync import sync_async
from audiencekit.destinations.ads import DO_NOT_REACH_LIST
from audiencekit.destinations.target import Target
from audiencekit.pipeline import check, upload_async
from audiencekit.reporting.progress import Progress
from audiencekit.settings import Settings

Made: TypeAlias = dict[str, Any]  # a report or a plan, by its name in a result


async def sent(one: AudienceSetup, audience_id: str, progress: Progress, own: Settings) -> Made:
    """The report of the command, at the pace of all accounts. Raises what the function of the command raises."""
    async with one_pace(own) as pace:
        given: dict[str, Any] = {"settings": own, "progress": progress, "limiter": pace, **one.keywords}
        if one.command == "do-not-reach":
            return {"report": await do_not_reach_upload_async(one.sources, **given)}
        work = sync_async if one.command == "sync" else upload_async
        return {"report": await work(one.sources, audience_id=audience_id, **given)}


async def foreseen(one: AudienceSetup, audience_id: str, progress: Progress, own: Settings) -> Made:
    """The plan after a look at the audience in the service. Nothing is sent; raises what refuses the command."""
    given: dict[str, Any] = {"settings": own, "progress": progress, **one.keywords}
    if one.command == "do-not-reach":
        return {"plan": await dry_upload_async(one.sources, **given)}
    if one.command == "sync":
        return {"plan": await dry_sync_async(one.sources, audience_id=audience_id, **given)}
    return {"plan": await plan_upload_async(Target.audience(audience_id), one.sources, **given)}


def planned(one: AudienceSetup, audience_id: str, progress: Progress, own: Settings) -> Made:
    """The plan by what this machine knows, without the service. Raises what refuses the command."""
    given: dict[str, Any] = {"settings": own, "progress": progress, **one.keywords}
    if one.command == "do-not-reach":
        return {"plan": check(one.sources, destination=DO_NOT_REACH_LIST, **given)}
    if one.command == "sync":
        return {"plan": plan_sync(one.sources, audience_id=audience_id, **given)}
    return {"plan": check(one.sources, **given)}
