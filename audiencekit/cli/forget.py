"""`forget`: people out of every audience of the account, and kept out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, NoReturn

import click

from audiencekit.cli.commandhelp import Command
from audiencekit.cli.commandsettings import command_settings
from audiencekit.cli.dryruns import foresee_erasure
from audiencekit.cli.options import as_keywords, dry_run_option, json_option, reading_options, shared_members_option
from audiencekit.cli.output import complain, leave_with, print_told, say
from audiencekit.cli.sendingcommands import pace_options, sending_settings, service_options
from audiencekit.errors import AudiencekitError

if TYPE_CHECKING:
    from audiencekit.audiences.erasure.receipt import Receipt
    from audiencekit.reporting.progress import Progress
    from audiencekit.settings import Settings

    Work = Callable[[Settings, Progress], Coroutine[Any, Any, Receipt]]


@click.command(cls=Command, examples=("forget --from request.csv", "forget --from request.csv --do-not-reach"))
@click.option("--from", "source", metavar="SOURCE", multiple=True, help="A file that names the people; repeatable.")
@reading_options
@click.option("--do-not-reach", is_flag=True, help="Put them on the do-not-reach list of the account, too.")
@shared_members_option
@click.option("--skip-rejected", is_flag=True, help="Leave out the lines or rows that cannot be read.")
@service_options
@pace_options
@dry_run_option
@json_option
def forget(
    source: tuple[str, ...],
    do_not_reach: bool,
    skip_rejected: bool,
    as_json: bool,
    account_id: str | None,
    profile: str | None,
    concurrency: int | None,
    requests_per_minute: int | None,
    **given: Any,
) -> None:
    """Take people out of every audience, for good.

    They are left out of later uploads, too. They are named on stdin, one identifier a line: its kind is recognised,
    or written as KIND=VALUE. Never as arguments, which others can see.
    """
    if given.pop("dry_run"):
        given |= {"source": source, "skip_rejected": skip_rejected}
        foresee_erasure(given, as_json=as_json, account_id=account_id, profile=profile)

    def work(settings: Settings, progress: Progress) -> Coroutine[Any, Any, Receipt]:
        from audiencekit.audiences.erasure.forgetting import forget_async
        from audiencekit.audiences.erasure.people import standard_input_lines

        lines = None if source else standard_input_lines().unwrap()
        return forget_async(
            lines, source=source or None, do_not_reach=do_not_reach, skip_rejected=skip_rejected, settings=settings,
            progress=progress, **as_keywords(given),
        )  # fmt: skip

    erase(
        work, as_json=as_json, account_id=account_id, profile=profile, concurrency=concurrency,
        requests_per_minute=requests_per_minute,
    )  # fmt: skip


def resume_erasure(erasure: str, *, as_json: bool, new_address: bool, **given: Any) -> NoReturn:
    """Finish an erasure that ended early, print its receipt, and leave."""

    def work(settings: Settings, progress: Progress) -> Coroutine[Any, Any, Receipt]:
        from audiencekit.audiences.erasure.forgetting import resume_erasure_async

        return resume_erasure_async(erasure, settings=settings, progress=progress, new_address=new_address)

    erase(work, as_json=as_json, **given)


def show_receipt(erasure: str, *, as_json: bool) -> None:
    """Print the receipt of an erasure as it stands."""
    from audiencekit.audiences.erasure.receipt import ErasureStore

    store = ErasureStore(command_settings().state_dir)
    _print(store.receipt(store.find(erasure)), as_json=as_json)


def erase(work: Work, *, as_json: bool, max_minutes: float | None = None, **given: Any) -> NoReturn:
    """Print the receipt that `work` returns, and leave; `given` are settings.

    Signals end it in good order, and so do `max_minutes`.
    """
    from audiencekit.cli.commandprogress import command_progress
    from audiencekit.cli.interruption import run_until_interrupted

    try:
        settings = sending_settings(**given)
        with command_progress() as progress:
            receipt = run_until_interrupted(work(settings, progress), max_minutes=max_minutes)
    except AudiencekitError as error:
        _leave_unfinished(error, as_json=as_json)
    _print(receipt, as_json=as_json)
    sys.exit(0)


def _leave_unfinished(error: AudiencekitError, *, as_json: bool) -> NoReturn:
    """As other commands do, with the receipt in place of a report."""
    from audiencekit.audiences.erasure.receipt import Receipt

    if as_json or error.document is None:
        leave_with(error, as_json=as_json)
    try:
        say(Receipt.from_json(error.document).to_text())
    finally:
        complain(error)
    sys.exit(error.exit_code)


def _print(receipt: Receipt, *, as_json: bool) -> None:
    if as_json:
        print_told(receipt.to_json())
    else:
        say(receipt.to_text())
