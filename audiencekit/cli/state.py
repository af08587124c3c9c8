"""`state`: begin a state in a bucket, and show what it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from audiencekit.cli.command_help import CommandGroup
from audiencekit.cli.options import json_option
from audiencekit.cli.output import leave_with, print_json, say
from audiencekit.errors import AudiencekitError, UsageError
from audiencekit.process.programs import own_environment

if TYPE_CHECKING:
    from audiencekit.mirror.records import Head


@click.group("state", cls=CommandGroup)
def state() -> None:
    """Begin a state in a bucket, and show what it holds."""


@state.command("init", examples=("state init",))
@json_option
def begin(as_json: bool) -> None:
    """Begin an empty state at AUDIENCEKIT_STATE.

    Commands use no prefix without a state: a mistyped one must not look like an empty memory of erased people.
    """
    from audiencekit.mirror.opening import begin_state

    try:
        _print(begin_state(_address()), as_json)
    except AudiencekitError as error:
        leave_with(error, as_json=as_json)


@state.command("show", examples=("state show",))
@json_option
def show(as_json: bool) -> None:
    """Show the head of the state, and the files in it."""
    from audiencekit.mirror.opening import open_state

    try:
        with open_state(_address(), hold=False) as head:
            _print(head, as_json)
    except AudiencekitError as error:
        leave_with(error, as_json=as_json)


def _address() -> str:
    address = own_environment().get("AUDIENCEKIT_STATE", "").strip()
    if "://" not in address:
        raise UsageError("AUDIENCEKIT_STATE names no bucket", hint="set it to s3://BUCKET/PREFIX, gs://… or az://…")
    return address


def _print(head: Head, as_json: bool) -> None:
    document: dict[str, Any] = {"change": head.generation, "head": head.note}
    if as_json:
        print_json(document)
    else:
        say(f"change {head.generation}\nhead {head.note}")
