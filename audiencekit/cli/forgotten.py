"""`forgotten`: exchange the memory of erased people with other hosts, and accept one that is not the latest known."""

from __future__ import annotations

import pathlib
import sys
from typing import TYPE_CHECKING, Any

import click

from audiencekit.cli.commandhelp import CommandGroup
from audiencekit.cli.commandsettings import command_settings
from audiencekit.cli.confirmation import confirm, require_terminal
from audiencekit.cli.options import json_option
from audiencekit.cli.output import insist, print_json, print_told, say
from audiencekit.errors import MemoryRefused

if TYPE_CHECKING:
    from audiencekit.state.key_command import GivenKey


@click.group(cls=CommandGroup)
def forgotten() -> None:
    """Show and share the memory of erased people.

    `forget` erases people; the memory keeps them out of later uploads.
    """


@forgotten.command("show", examples=("forgotten show", "forgotten show --json"))
@json_option
def show_memory(as_json: bool) -> None:
    """Show the state of the memory.

    It says whether the memory is the last that was written, and how many keys it has. It shows no identifier.
    """
    from audiencekit.selection.forgotten.memoryacceptance import describe_memory

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
    from audiencekit.selection.forgotten.memoryacceptance import accept_memory as accept, describe_memory

    state = _state()
    if not yes:
        require_terminal()
        insist(_text(describe_memory(*state)))
        confirm("People missing from the memory can be sent again. Go on?")
    line = accept(*state, empty=empty)
    if as_json:
        print_json(line)
    else:
        say(f"accepted: a memory of {line['keys']:,} keys, serial {line['serial']}; it is in forgotten.log")


@forgotten.command("recipient", examples=("forgotten recipient", "forgotten recipient > recipient.txt"))
def show_recipient() -> None:
    """Show the recipient for exports to this host.

    It is public: give it to the host that exports.
    """
    from audiencekit.selection.forgotten.exports import recipient_of

    say(recipient_of(*_state()))


@forgotten.command("sender", examples=("forgotten sender", "forgotten sender > sender.txt"))
def show_sender() -> None:
    """Show the sender of exports from this host.

    It is public: give it to the hosts that import. Exports are signed by it.
    """
    from audiencekit.selection.forgotten.exports import sender_of

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
    from audiencekit.selection.forgotten.exports import export_memory as export

    keys = export(*_state(), recipient, path)
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
    from audiencekit.selection.forgotten.exports import import_memory as import_from

    line = import_from(*_state(), path, sender)
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
    from audiencekit.selection.forgotten.exports import list_imports

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
    from audiencekit.selection.forgotten.exports import withdraw_import as withdraw

    if not yes:
        require_terminal()
        confirm("The people of this import can be sent again. Go on?")
    line = withdraw(*_state(), import_id)
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
