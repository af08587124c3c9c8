"""`forget`: delete people from every audience of the account, and keep them out."""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, NoReturn

import click

from audiencekit.cli.audited import audited
from audiencekit.cli.command_help import Command, CommandGroup
from audiencekit.cli.command_settings import command_settings
from audiencekit.cli.dry_runs import foresee_erasure
from audiencekit.cli.main import manner
from audiencekit.cli.notifying import Notifying, command_name, notify_options, reporting_status
from audiencekit.cli.options import as_keywords, dry_run_option, json_option, reading_options, shared_members_option
from audiencekit.cli.output import complain, insist, leave_with, print_json, print_told, say, say_document, tell
from audiencekit.cli.sending_commands import (
    events_option,
    leave_stdout_to,
    pace_options,
    sending_settings,
    service_options,
)
from audiencekit.cli.settings import confirm, require_terminal, typed_identifiers
from audiencekit.errors import AudiencekitError, MemoryRefused, Refused
from audiencekit.text import shown

if TYPE_CHECKING:
    from audiencekit.audiences.erasure.receipt import Receipt
    from audiencekit.reporting.progress import Progress
    from audiencekit.settings import Settings
    from audiencekit.state.key_command import GivenKey

    Work = Callable[[Settings, Progress], Coroutine[Any, Any, Receipt]]


@click.command(cls=Command, examples=("forget --from request.csv", "forget --from request.csv --do-not-reach"))
@click.option("--from", "source", metavar="SOURCE", multiple=True, help="A file that names the people; repeatable.")
@reading_options
@click.option("--do-not-reach", is_flag=True, help="Put them on the do-not-reach list of the account, too.")
@shared_members_option
@click.option("--skip-rejected", is_flag=True, help="Leave out the lines or rows that cannot be read.")
@service_options
@pace_options
@notify_options
@events_option
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
    notify: str | None,
    notify_on: tuple[str, ...],
    events: str | None,
    **given: Any,
) -> None:
    """Take people out of every audience, for good.

    They are left out of later uploads, too. They are named on stdin, one identifier a line: its kind is recognised,
    or written as KIND=VALUE. A terminal asks for them. Never as arguments, which others can see.
    """
    typed = None if source else typed_identifiers(given["country"])
    if given.pop("dry_run"):
        given |= {"source": source, "skip_rejected": skip_rejected}
        foresee_erasure(typed, given, as_json=as_json, account_id=account_id, profile=profile)

    def work(settings: Settings, progress: Progress) -> Coroutine[Any, Any, Receipt]:
        from audiencekit.audiences.erasure.forgetting import forget_async
        from audiencekit.audiences.erasure.people import standard_input_lines

        lines = None if source else (typed or standard_input_lines()).unwrap()
        return forget_async(
            lines, source=source or None, do_not_reach=do_not_reach, skip_rejected=skip_rejected, settings=settings,
            progress=progress, **as_keywords(given),
        )  # fmt: skip

    erase(
        work, as_json=as_json, account_id=account_id, profile=profile, concurrency=concurrency,
        requests_per_minute=requests_per_minute, notify=notify, notify_on=notify_on, events=events,
    )  # fmt: skip


def resume_erasure(erasure: str, *, as_json: bool, new_address: bool, **given: Any) -> NoReturn:
    """Finish an erasure that ended early, print its receipt, and leave."""

    def work(settings: Settings, progress: Progress) -> Coroutine[Any, Any, Receipt]:
        from audiencekit.audiences.erasure.forgetting import resume_erasure_async

        return resume_erasure_async(erasure, settings=settings, progress=progress, new_address=new_address)

    erase(work, as_json=as_json, **given)


def show_receipt(erasure: str, *, as_json: bool) -> None:
    """Print the current receipt of an erasure."""
    from audiencekit.audiences.erasure.receipt import ErasureStore

    store = ErasureStore(command_settings().state_dir)
    _print(store.receipt(store.find(erasure)), as_json=as_json, details=True)


def erase(
    work: Work,
    *,
    as_json: bool,
    notify: str | None,
    notify_on: tuple[str, ...],
    events: str | None,
    max_minutes: float | None = None,
    **given: Any,
) -> NoReturn:
    """Print the receipt that `work` returns, and leave; `given` are settings.

    Signals end it in good order, and so do `max_minutes`. The receiver `notify` is told how it ended.
    """
    from audiencekit.cli.command_progress import command_progress
    from audiencekit.cli.interruption import run_until_interrupted

    leave_stdout_to(events, as_json=as_json)
    try:
        settings = sending_settings(events=events, **given)
        notifying = Notifying.of(settings, command_name(), notify, notify_on)
        with (
            notifying.telling_failure(),
            command_progress() as shown,
            reporting_status(settings, shown, command_name()) as progress,
        ):
            receipt = run_until_interrupted(work(notifying.settings, progress), max_minutes=max_minutes)
    except AudiencekitError as error:
        _leave_unfinished(error, as_json=as_json)
    notifying.tell_end(receipt.to_json())
    _print(receipt, as_json=as_json)
    sys.exit(0)


def _leave_unfinished(error: AudiencekitError, *, as_json: bool) -> NoReturn:
    """Leave as other commands do, with the receipt in place of a report."""
    from audiencekit.audiences.erasure.receipt import Receipt

    if as_json or error.document is None:
        leave_with(error, as_json=as_json)
    try:
        say_document(Receipt.from_json(error.document).to_text(details=manner().is_verbose))
    finally:
        complain(error)
    sys.exit(error.exit_code)


def _print(receipt: Receipt, *, as_json: bool, details: bool = False) -> None:
    if as_json:
        print_told(receipt.to_json())
    else:
        say_document(receipt.to_text(details=details or manner().is_verbose), is_asked_for=details)


@click.group(cls=CommandGroup)
def forgotten() -> None:
    """Show, share and correct the memory of erased people.

    `forget` erases people; the memory keeps them out of later uploads.
    """


@forgotten.command("show", examples=("forgotten show", "forgotten show --json"))
@json_option
def show_memory(as_json: bool) -> None:
    """Show the state of the memory.

    It says whether the memory is the last that was written, and how many keys it has. It shows no identifier.
    """
    from audiencekit.selection.erased_people import describe_memory

    found = describe_memory(*_state())
    if as_json:
        print_told(found)
    else:
        say(_text(found))
    sys.exit(MemoryRefused.exit_code if found["state"] == "refused" else 0)


@forgotten.command("accept", examples=("forgotten accept", "forgotten accept --empty"))
@click.option("--empty", is_flag=True, help="Begin an empty memory: people who were erased before can be sent again.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def accept_memory(empty: bool, yes: bool, as_json: bool) -> None:
    """Accept the memory as it is.

    For a memory that is older than the state directory says. The decision is logged.
    """
    from audiencekit.selection.erased_people import accept_memory as accept, describe_memory

    state = _state()
    if not yes:
        require_terminal()
        insist(_text(describe_memory(*state)))
        confirm("People missing from the memory can be sent again. Go on?")
    with audited("forgotten accept", empty=empty) as ended:
        line = accept(*state, empty=empty)
        ended |= {"keys": line["keys"]}
    if as_json:
        print_json(line)
    else:
        say(f"accepted: a memory of {line['keys']:,} keys, serial {line['serial']}; it is in forgotten.log")


@forgotten.command("remove", examples=("forgotten remove", "forgotten remove --country DE --yes < person.txt"))
@click.option("--country", help="Country of phone numbers without a country code.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def remove_person(country: str | None, yes: bool, as_json: bool) -> None:
    """Let one erased person be sent again.

    For a person who rightfully comes back. The identifiers come from stdin, one a line, as for `forget`; a terminal
    asks for them and does not show them. Only people who were erased here are removed. The removal is logged.
    """
    from audiencekit.audiences.erasure.forms import to_records
    from audiencekit.audiences.erasure.people import read_person, standard_input_lines
    from audiencekit.selection.erased_people import remove_person as remove

    if not yes:
        require_terminal()
    state = _state()
    try:
        lines = typed_identifiers(country) or standard_input_lines()
        asked = read_person(lines, country=country)
        if not yes:
            confirm("One person can be sent again, by these identifiers. Go on?")
        with audited("forgotten remove") as ended:
            line = remove(*state, to_records(asked.keys))
            ended |= {"removed": line["removed"], "keys": line["keys"]}
    except AudiencekitError as error:
        leave_with(error, as_json=as_json)
    if as_json:
        print_json(line)
        return
    say(f"removed: {line['removed']:,} keys; {line['keys']:,} are remembered now; it is in forgotten.log")
    if line["imported"]:
        tell("note: an import holds some of the keys, too, and still keeps the person out: `forgotten imports`")


@forgotten.command("recipient", examples=("forgotten recipient", "forgotten recipient > recipient.txt"))
def show_recipient() -> None:
    """Show the recipient for exports to this host.

    It is public: give it to the host that exports.
    """
    from audiencekit.selection.exports import recipient_of

    say(recipient_of(*_state()))


@forgotten.command("sender", examples=("forgotten sender", "forgotten sender > sender.txt"))
def show_sender() -> None:
    """Show the sender of exports from this host.

    It is public: give it to the hosts that import. Exports are signed by it.
    """
    from audiencekit.selection.exports import sender_of

    say(sender_of(*_state()))


@forgotten.command(
    "export",
    examples=(
        'forgotten export erased.sealed --to "$(cat recipient.txt)"',
        'forgotten export erased.sealed --to "$(cat recipient.txt)" --json',
    ),
)
@click.argument("path", metavar="FILE", type=click.Path(dir_okay=False, path_type=pathlib.Path))
@click.option("--to", "recipient", required=True, help="What `forgotten recipient` shows on the host that imports it.")
@json_option
def export_memory(path: pathlib.Path, recipient: str, as_json: bool) -> None:
    """Export the memory to another host.

    FILE is new, and sealed: only the host of the recipient can open it.
    """
    from audiencekit.selection.exports import export_memory as export

    with audited("forgotten export", recipient=recipient.strip()) as ended:
        keys = export(*_state(), recipient, path)
        ended |= {"keys": keys}
    if as_json:
        print_json({"exported": keys})
    else:
        say(f"exported: {keys:,} keys")


@forgotten.command(
    "import",
    examples=(
        'forgotten import erased.sealed --from "$(cat sender.txt)"',
        'forgotten import erased.sealed --from "$(cat sender.txt)" --json',
    ),
)
@click.argument("path", metavar="FILE", type=click.Path(dir_okay=False, path_type=pathlib.Path))
@click.option("--from", "sender", required=True, help="What `forgotten sender` shows on the host that exported it.")
@json_option
def import_memory(path: pathlib.Path, sender: str, as_json: bool) -> None:
    """Remember the people that another host has erased.

    FILE was exported to this host by the sender. The people remembered here stay remembered.
    """
    from audiencekit.reporting.sealed_rejections import remove_sealed
    from audiencekit.selection.exports import import_memory as import_from

    with audited("forgotten import", sender=sender.strip()) as ended:
        line = import_from(*_state(), path, sender)
        remove_sealed(command_settings().state_dir)  # these people may be in them
        ended |= {"import": line["import"], "imported": line["imported"], "keys": line["keys"]}
    if as_json:
        print_json(line)
    else:
        say(f"imported: {line['imported']:,} keys, as {line['import']}; {line['keys']:,} are remembered now")


@forgotten.command("imports", examples=("forgotten imports", "forgotten imports --json"))
@json_option
def show_imports(as_json: bool) -> None:
    """List the imports that are remembered.

    Each with its id, time, number of keys and sender. An import that holds all people of an earlier one of the same
    sender has taken its place.
    """
    from audiencekit.selection.exports import list_imports

    found = list_imports(*_state())
    if as_json:
        print_json(found)
    else:
        for each in found:
            say(f"{each['id']}  {each['at']}  {each['keys']:,} keys  {each['sender']}")
        if not found:
            say("no import is remembered")


@forgotten.command("withdraw", examples=("forgotten withdraw 3f9c20d1", "forgotten withdraw 3f9c20d1 --yes"))
@click.argument("import_id", metavar="ID")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def withdraw_import(import_id: str, yes: bool, as_json: bool) -> None:
    """Take an import back.

    Its people can be sent again, except those erased here or in another import. The withdrawal is logged.
    """
    from audiencekit.selection.exports import withdraw_import as withdraw

    if not yes:
        require_terminal()
        confirm("The people of this import can be sent again. Go on?")
    with audited("forgotten withdraw", withdrawn=import_id) as ended:
        line = withdraw(*_state(), import_id)
        ended |= {"keys": line["keys"]}
    if as_json:
        print_json(line)
    else:
        say(f"withdrawn: {line['withdrawn']}; {line['keys']:,} keys are remembered now")


def _state() -> tuple[pathlib.Path, GivenKey]:
    settings = command_settings()
    return settings.state_dir, settings.key


def _text(found: dict[str, Any]) -> str:
    if found["state"] == "none":
        return "no one was erased from this state directory"
    if found["state"] == "sound":
        return f"sound: {found['keys']:,} keys, serial {found['serial']}"
    return f"refused: {found['why']}\n  what to do: {found['hint']}"


@click.group(cls=CommandGroup)
def erasure() -> None:
    """Prove erasures."""


@erasure.command(examples=("erasure verify", "erasure verify list.csv"))
@click.argument("sources", metavar="[SOURCE]...", nargs=-1)
@json_option
def verify(sources: tuple[str, ...], as_json: bool) -> None:
    """Prove that no erased person is left in any file.

    It looks in all files of the state directory, and in each SOURCE. These are snapshots of audiences under sync and
    kept spools; a SOURCE is a prepared directory, or any list. The exit code is 3 when anyone is found, a file or a
    value cannot be read, an erasure is not finished, the memory is not the last, or no one was erased here.
    """
    from audiencekit.audiences.erasure.verification import verify_erasures

    found = verify_erasures(command_settings(), sources)
    if as_json:
        print_json(found)
    else:
        for line in _lines(found):
            say(line)
    sys.exit(0 if found["verified"] else Refused.exit_code)


def _lines(found: dict[str, Any]) -> list[str]:
    memory, erasures = found["memory"], found["erasures"]
    count = f"{memory['keys'] or 0:,} keys" if memory["state"] != "refused" else memory["why"]
    lines = [
        f"memory of erased people: {memory['state']}, {count}",
        f"erasures: {erasures['complete']:,} complete, {len(erasures['unfinished']):,} unfinished",
        *(f"  {erasure_id}: finish it with `audiencekit resume`" for erasure_id in erasures["unfinished"]),
        *(f"  {erasure_id}: its receipt is not as it was signed" for erasure_id in erasures["changed"]),
        *map(_line, found["files"]),
    ]
    if memory["state"] == "none":
        lines.append("no one was erased in this state directory, so there is no one to look for")
    if found["verified"]:
        return [*lines, "verified: people who were erased stand in none of these files"]
    return [*lines, "not verified"]


def _line(file: dict[str, Any]) -> str:
    begin = f"{file['kind']} {shown(file['name'])}"
    if file["erased"] is None:
        return f"{begin}: not read: {file['why']}"
    found = f"{begin}: {file['records']:,} records, {file['erased']:,} of erased people"
    return f"{found}: {file['why']}" if file["why"] else found
