"""`erasure`: proof that people who were erased stand in no file any more."""

from __future__ import annotations

import sys
from typing import Any

import click

from audiencekit.cli.commandhelp import CommandGroup
from audiencekit.cli.commandsettings import command_settings
from audiencekit.cli.options import json_option
from audiencekit.cli.output import print_json, say
from audiencekit.errors import Refused
from audiencekit.shown import shown


@click.group(cls=CommandGroup)
def erasure() -> None:
    """Prove erasures."""


@erasure.command(examples=("erasure verify", "erasure verify list.csv"))
@click.argument("sources", metavar="[SOURCE]...", nargs=-1)
@json_option
def verify(sources: tuple[str, ...], as_json: bool) -> None:
    """Prove that no erased person is left in any file.

    It looks in all files of the state directory, and in each SOURCE. These are snapshots of audiences under sync and
    kept spools; a SOURCE is a prepared directory, or any list. The exit code is 3 when anyone is found, a file cannot
    be read, an erasure is not finished, or the memory is not the last.
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
        *map(_line, found["files"]),
    ]
    if found["verified"]:
        return [*lines, "verified: people who were erased stand in none of these files"]
    return [*lines, "not verified"]


def _line(file: dict[str, Any]) -> str:
    begin = f"{file['kind']} {shown(file['name'])}"
    if file["erased"] is None:
        return f"{begin}: not read: {file['why']}"
    found = f"{begin}: {file['records']:,} records, {file['erased']:,} of erased people"
    return f"{found}: {file['why']}" if file["why"] else found
