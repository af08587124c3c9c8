"""`upload` and `resume`: check, then send; and finish what was begun."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

import click

from audiencekit.cli.command_help import Command, result_option
from audiencekit.cli.command_settings import command_settings
from audiencekit.cli.dry_runs import foresee_resumption, foresee_upload, refuse_named_dry_run, refuse_sealing_dry_run
from audiencekit.cli.erasure import resume_erasure, show_receipt
from audiencekit.cli.notifying import notify_options
from audiencekit.cli.options import (
    as_keywords,
    dry_run_option,
    json_option,
    keep_spool_option,
    max_minutes_option,
    plan_options,
    rejections_option,
    run_argument,
    run_id_option,
    seal_rejections_option,
    source_options,
    suppression_options,
)
from audiencekit.cli.output import tell
from audiencekit.cli.sending_commands import (
    account_option,
    events_option,
    pace_options,
    purpose_options,
    send,
    service_options,
)
from audiencekit.cli.settings import audience_id_of, audience_option

if TYPE_CHECKING:
    from audiencekit.reporting.progress import Progress
    from audiencekit.reporting.report import Report
    from audiencekit.settings import Settings


@click.command(
    cls=Command,
    examples=(
        "upload list.csv --audience h1ab2 --country DE",
        "upload leavers.csv --audience h1ab2 --operation delete",
    ),
)
@source_options
@audience_option()
@plan_options
@suppression_options
@rejections_option
@seal_rejections_option
@result_option(
    "--only-rejected",
    metavar="RUN",
    help="Send only rows that RUN rejected and that are valid now, from the repaired list or the opened file.",
)
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
def upload(
    source: tuple[str, ...],
    audience: str,
    as_json: bool,
    rejections: str | None,
    seal_rejections: str | None,
    only_rejected: str | None,
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
    """Put the people of a list into an audience, or take them out.

    People are put in; --operation delete takes them out.
    """
    if given.pop("dry_run"):
        refuse_named_dry_run(run_id)
        refuse_sealing_dry_run(seal_rejections)
        given |= {
            "rejections": rejections, "as_json": as_json, "account_id": account_id, "profile": profile,
            "concurrency": concurrency, "requests_per_minute": requests_per_minute, "notify": notify,
            "notify_on": notify_on, "events": events, "purpose": purpose, "basis": basis,
        }  # fmt: skip
        given["only_rejected"] = only_rejected
        foresee_upload(source, audience, given)

    async def work(settings: Settings, progress: Progress) -> Report:
        from audiencekit.pipeline import upload_async

        keywords = as_keywords(given)
        audience_id = await audience_id_of(audience, settings)
        if not _tell_of_sync(settings, audience_id) and run_id is None and only_rejected is None:
            is_delete = keywords.get("operation") == "delete"
            _tell_of_earlier(settings, audience_id, source, is_delete=is_delete)
        return await upload_async(
            source, audience=audience_id, settings=settings, rejections=rejections, progress=progress,
            keep_spool=keep_spool, run_id=run_id, seal_rejections=seal_rejections, only_rejected=only_rejected,
            **keywords,
        )  # fmt: skip

    send(
        work, as_json=as_json, account_id=account_id, profile=profile, concurrency=concurrency,
        requests_per_minute=requests_per_minute, max_minutes=max_minutes, notify=notify, notify_on=notify_on,
        events=events, audience=audience, purpose=purpose, basis=basis,
    )  # fmt: skip


def _tell_of_sync(settings: Settings, audience_id: str) -> bool:
    """Note that the changes of an upload are not in the snapshot of an audience under sync; return whether it is."""
    from audiencekit.audiences.sync.sync import is_under_sync

    is_synced = is_under_sync(audience_id, settings)
    if is_synced:
        told = "the sync does not know of people who are put in or taken out by an upload"
        tell(f"note: audience {audience_id} is under sync: {told}")
    return is_synced


def _tell_of_earlier(settings: Settings, audience_id: str, source: Any, *, is_delete: bool) -> None:
    """Note that the last run of the audience had a list of this name: it is not finished, or people stay in."""
    from audiencekit.destinations.ads import AUDIENCE
    from audiencekit.runs.reports import find_newest_run
    from audiencekit.sources.files import names_of
    from audiencekit.state.keys import known_state_key

    key = known_state_key(settings.state_dir, settings.key)
    run = find_newest_run(settings.state_dir, AUDIENCE.name, audience_id, key)
    if run is None or not isinstance(source, tuple) or run.get("source_names") != list(names_of(source)):
        return
    if run["resumable"]:
        rest = f"`audiencekit resume {run['run_id']}` sends its rest, and this one begins again"
        tell(f"note: run {run['run_id']} of a list of this name is not finished: {rest}")
    elif run["state"] == "complete" and run.get("operation") == "update" and not is_delete:
        tell(
            "note: a list of this name was put in before, and an upload only adds: people who have left it since stay"
            " in. `audiencekit sync` takes out those who leave after its first time"
        )


@click.command(cls=Command, examples=("resume", "resume 20261122-21"))
@run_argument
@account_option
@click.option("--new-address", is_flag=True, help="The service has moved: go on at the address of the settings.")
@pace_options
@notify_options
@events_option
@max_minutes_option
@dry_run_option
@json_option
def resume(
    run: str,
    account_id: str | None,
    new_address: bool,
    dry_run: bool,
    as_json: bool,
    concurrency: int | None,
    requests_per_minute: int | None,
    max_minutes: float | None,
    notify: str | None,
    notify_on: tuple[str, ...],
    events: str | None,
) -> None:
    """Finish a run: send what is not confirmed.

    RUN is an id, the beginning of one, or `last`, the only run that can be resumed. The same bytes are sent as before.
    """
    from audiencekit.audiences.match_rate import find_resumable
    from audiencekit.state.keys import known_state_key

    found = command_settings()
    run_id, is_erasure = find_resumable(found.state_dir, run, known_state_key(found.state_dir, found.key))
    if dry_run and not is_erasure:
        foresee_resumption(run_id, as_json=as_json, account_id=account_id, new_address=new_address)
    if dry_run:
        tell("dry run: nothing was changed; audiences that are not confirmed would be asked again")
        show_receipt(run_id, as_json=as_json)
        return
    if is_erasure:
        resume_erasure(
            run_id, as_json=as_json, concurrency=concurrency, requests_per_minute=requests_per_minute,
            max_minutes=max_minutes, account_id=account_id, new_address=new_address, notify=notify,
            notify_on=notify_on, events=events,
        )  # fmt: skip

    def work(settings: Settings, progress: Progress) -> Coroutine[Any, Any, Report]:
        from audiencekit.pipeline import resume_async

        return resume_async(run_id, settings=settings, progress=progress, new_address=new_address)

    send(
        work, as_json=as_json, account_id=account_id, concurrency=concurrency, requests_per_minute=requests_per_minute,
        max_minutes=max_minutes, notify=notify, notify_on=notify_on, events=events,
    )  # fmt: skip
