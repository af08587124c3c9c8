"""`renew` and `expiry`: extend entries of an audience under sync that expire, and count them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from audiencekit.cli.command_help import Command, judgement_option, plan_option
from audiencekit.cli.command_settings import command_settings
from audiencekit.cli.dry_runs import foresee_renewal, foresee_sync, refuse_offline_sending, refuse_sealing_dry_run
from audiencekit.cli.notifying import notify_options
from audiencekit.cli.options import (
    SHARE,
    as_keywords,
    dry_run_option,
    json_option,
    offline_option,
    rejections_option,
    seal_rejections_option,
    source_options,
    suppression_options,
    sync_options,
)
from audiencekit.cli.output import leave_with, print_told, say, tell
from audiencekit.cli.sending_commands import events_option, pace_options, purpose_options, send, service_options
from audiencekit.cli.settings import audience_option
from audiencekit.errors import AudiencekitError
from audiencekit.limits import DEFAULT_ALLOWED_SHRINK

if TYPE_CHECKING:
    from audiencekit.audiences.sync.sync import Expiry
    from audiencekit.reporting.progress import Progress
    from audiencekit.reporting.report import Report
    from audiencekit.settings import Settings


@click.command(cls=Command, examples=("renew --audience h1ab2", "renew --audience h1ab2 --before 60d"))
@audience_option("The custom audience, which is under sync.")
@click.option(
    "--before",
    default="30d",
    show_default=True,
    metavar="SPAN",
    help="Renew entries that expire within SPAN, such as 30d.",
)
@click.option("--expires-at", metavar="TIME", help="When the renewed entries expire; 13 months from now by default.")
@click.option("--ttl-days", type=click.IntRange(1), metavar="N", help="The renewed entries expire N days from now.")
@service_options
@pace_options
@notify_options
@events_option
@purpose_options
@dry_run_option
@json_option
def renew(
    audience: str,
    before: str,
    expires_at: str | None,
    ttl_days: int | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Renew members whose entries expire soon.

    The snapshot of the last sync says who they are: no source is needed.
    """
    times: dict[str, Any] = {"before": before, "expires_at": expires_at, "ttl_days": ttl_days}
    if given.pop("dry_run"):
        foresee_renewal(audience, times, as_json=as_json, **given)

    async def work(settings: Settings, progress: Progress) -> Report:
        from audiencekit.audiences.sync.sync import renew_async

        return await renew_async(audience=audience, settings=settings, progress=progress, **times)

    send(work, as_json=as_json, audience=audience, **given)


@click.command(cls=Command, examples=("expiry --audience h1ab2", "expiry --audience h1ab2 --json"))
@audience_option("The custom audience, which is under sync.")
@click.option("--account", "account_id", metavar="ID", help="The ads account; AUDIENCEKIT_ACCOUNT_ID by default.")
@json_option
def expiry(audience: str, account_id: str | None, as_json: bool) -> None:
    """Show when members of an audience expire.

    The numbers are of the snapshot of the last sync. Nothing is sent.
    """
    from audiencekit.audiences.sync.sync import expiry as look_up

    try:
        found = look_up(audience=audience, settings=command_settings(account_id=account_id))
    except AudiencekitError as error:
        leave_with(error, as_json=as_json)
    if found.unsettled:
        tell("note: a run is at work, or was interrupted: its changes are not counted yet")
    if as_json:
        print_told(found.to_json())
    else:
        say(_text(found))


def _text(found: Expiry) -> str:
    lines = [f"Audience {found.audience_id}: {found.members:,} members", ""]
    lines += [f"  within {days:>2} days  {count:>12,}" for days, count in found.within.items()]
    lines += [f"  {name:<16}{count:>12,}" for name, count in (("expired", found.lapsed), ("in doubt", found.doubtful))]
    lines += ["", *(f"  {day}      {count:>12,}" for day, count in found.days.items())]
    return "\n".join(lines).rstrip()


@click.command(
    cls=Command,
    examples=("sync list.csv --audience h1ab2 --dry-run", "sync list.csv --audience h1ab2 --suppress unsubscribed.csv"),
)
@source_options
@audience_option()
@plan_option("--replace", is_flag=True, help="SOURCE is another list: the audience may shrink by more.")
@plan_option("--rebuild", is_flag=True, help="Send all people again; for a lost snapshot.")
@judgement_option(
    "--allow-shrink", type=SHARE, default=DEFAULT_ALLOWED_SHRINK, show_default=True, metavar="SHARE",
    help="Refuse the list when the audience would shrink by more.",
)  # fmt: skip
@sync_options
@suppression_options
@rejections_option
@seal_rejections_option
@service_options
@pace_options
@notify_options
@events_option
@purpose_options
@dry_run_option
@offline_option
@json_option
def sync(
    source: tuple[str, ...],
    audience: str,
    offline: bool,
    as_json: bool,
    account_id: str | None,
    profile: str | None,
    concurrency: int | None,
    requests_per_minute: int | None,
    notify: str | None,
    notify_on: tuple[str, ...],
    events: str | None,
    purpose: str | None,
    basis: str | None,
    **given: Any,
) -> None:
    """Make an audience equal to a list.

    New people are put in, people who are gone are taken out, entries that expire soon are renewed. Only what changed
    since the last sync is sent. After one that was cut short, the same command goes on.
    """
    refuse_offline_sending(offline=offline, dry_run=given["dry_run"])
    if given.pop("dry_run"):
        refuse_sealing_dry_run(given.pop("seal_rejections"))
        given |= {
            "as_json": as_json, "account_id": account_id, "profile": profile, "concurrency": concurrency,
            "requests_per_minute": requests_per_minute, "notify": notify, "notify_on": notify_on, "events": events,
            "purpose": purpose, "basis": basis,
        }  # fmt: skip
        foresee_sync(source, audience, given, offline=offline)

    async def work(settings: Settings, progress: Progress) -> Report:
        from audiencekit.audiences.sync.sync import sync_async

        return await sync_async(source, audience=audience, settings=settings, progress=progress, **as_keywords(given))

    send(
        work, as_json=as_json, account_id=account_id, profile=profile, concurrency=concurrency,
        requests_per_minute=requests_per_minute, notify=notify, notify_on=notify_on, events=events,
        audience=audience, purpose=purpose, basis=basis,
    )  # fmt: skip
