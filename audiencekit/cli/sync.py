"""`sync`: make an audience equal to a source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from audiencekit.cli.audiencenaming import audience_id_of, audience_option
from audiencekit.cli.commandhelp import Command, judgement_option, plan_option
from audiencekit.cli.dryruns import foresee_sync
from audiencekit.cli.options import (
    SHARE,
    as_keywords,
    dry_run_option,
    json_option,
    rejections_option,
    source_options,
    suppression_options,
    sync_options,
)
from audiencekit.cli.sendingcommands import pace_options, send, service_options
from audiencekit.cli.syncplan import leave_with_sync_plan
from audiencekit.limits import DEFAULT_ALLOWED_SHRINK

if TYPE_CHECKING:
    from audiencekit.reporting.progress import Progress
    from audiencekit.reporting.report import Report
    from audiencekit.settings import Settings


@click.command(
    cls=Command,
    examples=("sync list.csv --audience h1ab2 --plan", "sync list.csv --audience h1ab2 --suppress unsubscribed.csv"),
)
@source_options
@audience_option()
@plan_option("--plan", "only_plan", is_flag=True, help="Say what would be sent; the service is not asked.")
@plan_option("--replace", is_flag=True, help="SOURCE is another list: the audience may shrink by more.")
@plan_option("--rebuild", is_flag=True, help="Send all people again; for a lost snapshot.")
@judgement_option(
    "--allow-shrink", type=SHARE, default=DEFAULT_ALLOWED_SHRINK, show_default=True, metavar="SHARE",
    help="Refuse the list when the audience would shrink by more.",
)  # fmt: skip
@sync_options
@suppression_options
@rejections_option
@service_options
@pace_options
@dry_run_option
@json_option
def sync(
    source: tuple[str, ...],
    audience: str,
    only_plan: bool,
    as_json: bool,
    account_id: str | None,
    profile: str | None,
    concurrency: int | None,
    requests_per_minute: int | None,
    **given: Any,
) -> None:
    """Make an audience equal to a list.

    New people are put in, people who are gone are taken out, entries that expire soon are renewed. Only what changed
    since the last sync is sent. After one that was cut short, the same command goes on.
    """
    if given.pop("dry_run"):
        given |= {"as_json": as_json, "account_id": account_id, "profile": profile}
        foresee_sync(source, audience, given)
    if only_plan:
        leave_with_sync_plan(source, audience, as_json=as_json, given=given, account_id=account_id, profile=profile)

    async def work(settings: Settings, progress: Progress) -> Report:
        from audiencekit.audiences.sync.sync import sync_async

        keywords, audience_id = as_keywords(given), await audience_id_of(audience, settings)
        return await sync_async(source, audience_id=audience_id, settings=settings, progress=progress, **keywords)

    send(
        work, as_json=as_json, account_id=account_id, profile=profile, concurrency=concurrency,
        requests_per_minute=requests_per_minute,
    )  # fmt: skip
