"""`do-not-reach`: the list of people that no campaign of the account reaches."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

import click

from audiencekit.cli.audited import audited
from audiencekit.cli.client import with_client
from audiencekit.cli.command_help import CommandGroup
from audiencekit.cli.dry_runs import foresee_do_not_reach, refuse_named_dry_run
from audiencekit.cli.notifying import notify_options
from audiencekit.cli.options import (
    as_keywords,
    dry_run_option,
    json_option,
    keep_spool_option,
    list_options,
    max_minutes_option,
    rejections_option,
    run_id_option,
    source_options,
)
from audiencekit.cli.output import print_json, say, tell
from audiencekit.cli.sending_commands import events_option, pace_options, purpose_options, send, service_options
from audiencekit.cli.settings import confirm, require_terminal
from audiencekit.text import shown

if TYPE_CHECKING:
    from audiencekit.audiences.do_not_reach import DoNotReachList
    from audiencekit.reporting.progress import Progress
    from audiencekit.reporting.report import Report
    from audiencekit.settings import Settings


@click.group("do-not-reach", cls=CommandGroup)
def do_not_reach() -> None:
    """Keep people from being targeted at all.

    An account has one list of these people. The list takes no one out of an audience.
    """


@do_not_reach.command("show", examples=("do-not-reach show", "do-not-reach show --json"))
@json_option
def show_list(as_json: bool) -> None:
    """Show the list of the account."""
    found = _find(as_json=as_json)
    if found is None:
        tell("the account has no do-not-reach list; `do-not-reach create` or `upload` makes one")
    if as_json:
        print_json(None if found is None else found.shown)
    elif found is not None:
        say(_line(found))


@do_not_reach.command("create", examples=("do-not-reach create", 'do-not-reach create --description "Objections"'))
@click.option("--description")
@dry_run_option
@json_option
def create_list(description: str | None, dry_run: bool, as_json: bool) -> None:
    """Create the list.

    If the account has a list, that one is shown.
    """
    from audiencekit.audiences.do_not_reach import ensure_list
    from audiencekit.delivery.retry import SystemClock

    async def ask(client: Any) -> DoNotReachList:
        return await ensure_list(client, clock=SystemClock(), description=description)

    there: DoNotReachList = with_client(ask, as_json=as_json, dry_run=dry_run)
    if there.state == "found":
        tell("the account has this list already: nothing was created or changed")
    if as_json:
        print_json(there.shown)
    else:
        say(_line(there))


@do_not_reach.command("delete", examples=("do-not-reach delete", "do-not-reach delete --yes"))
@click.option("--yes", is_flag=True, help="Do not ask.")
@dry_run_option
@json_option
def delete_list(yes: bool, dry_run: bool, as_json: bool) -> None:
    """Delete the list of the account.

    The people on it can be targeted again.
    """
    from audiencekit.audiences.do_not_reach import delete_list as delete

    is_sure = yes or dry_run
    if not is_sure:
        require_terminal()
    found = _find(as_json=as_json)
    if found is not None:
        if not is_sure:
            question = f"Delete do-not-reach list {found.id}? Its people can be targeted again then."
            confirm(question)
        with audited("do-not-reach delete", dry_run=dry_run, target=found.target.to_json()):
            with_client(lambda client: delete(client, found.id), as_json=as_json, dry_run=dry_run)
    else:
        tell("the account has no do-not-reach list: nothing was deleted")
    if as_json:
        print_json({"deleted": None if found is None else found.id})
    elif found is not None:
        say(f"{shown(found.id)}  deleted")


@do_not_reach.command(
    "upload", examples=("do-not-reach upload objections.csv", "do-not-reach upload back.csv --operation delete")
)
@source_options
@list_options
@rejections_option
@keep_spool_option
@run_id_option
@service_options
@pace_options
@notify_options
@events_option
@purpose_options
@max_minutes_option
@dry_run_option
@json_option
def upload_list(
    source: tuple[str, ...],
    as_json: bool,
    rejections: str | None,
    keep_spool: bool,
    run_id: str | None,
    account_id: str | None,
    profile: str | None,
    concurrency: int | None,
    requests_per_minute: int | None,
    max_minutes: float | None,
    notify: str | None,
    notify_on: tuple[str, ...],
    events: str | None,
    purpose: str | None,
    basis: str | None,
    **given: Any,
) -> None:
    """Put people on the list, or take them off it.

    The list is created when it is missing. Emails and phone numbers only. The list keeps people from being targeted
    and takes no one out of an audience.
    """
    if given.pop("dry_run"):
        refuse_named_dry_run(run_id)
        given |= {
            "rejections": rejections, "as_json": as_json, "account_id": account_id, "profile": profile,
            "concurrency": concurrency, "requests_per_minute": requests_per_minute, "notify": notify,
            "notify_on": notify_on, "events": events, "purpose": purpose, "basis": basis,
        }  # fmt: skip
        foresee_do_not_reach(source, given)

    def work(settings: Settings, progress: Progress) -> Coroutine[Any, Any, Report]:
        from audiencekit.audiences.do_not_reach import do_not_reach_upload_async

        return do_not_reach_upload_async(
            source, settings=settings, rejections=rejections, progress=progress, keep_spool=keep_spool,
            run_id=run_id, **as_keywords(given),
        )  # fmt: skip

    send(
        work, as_json=as_json, account_id=account_id, profile=profile, concurrency=concurrency,
        requests_per_minute=requests_per_minute, max_minutes=max_minutes, notify=notify, notify_on=notify_on,
        events=events, purpose=purpose, basis=basis,
    )  # fmt: skip


def _find(*, as_json: bool) -> DoNotReachList | None:
    from audiencekit.audiences.do_not_reach import find_list

    found: DoNotReachList | None = with_client(find_list, as_json=as_json)
    return found


def _line(there: DoNotReachList) -> str:
    size = there.shown.get("list_size")
    described = f"  {there.shown['description']!r}" if there.shown.get("description") else ""
    told = "unknown" if size is None else shown(size)
    return f"{shown(there.id)}  size {told}{described}"
