"""`state`: begin a state in a bucket, show what it holds, and copy a state."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from audiencekit.cli.command_help import CommandGroup
from audiencekit.cli.options import json_option
from audiencekit.cli.output import leave_with, print_json, say
from audiencekit.errors import AudiencekitError, UsageError
from audiencekit.process.programs import own_environment

if TYPE_CHECKING:
    from audiencekit.mirror.opening import StateSummary


@click.group("state", cls=CommandGroup)
def state() -> None:
    """Begin a state in a bucket, and show what it holds."""


@state.command("init", examples=("state init", "state init --json"))
@json_option
def begin(as_json: bool) -> None:
    """Begin an empty state at AUDIENCEKIT_STATE.

    Commands use no prefix without a state: a mistyped one must not look like an empty memory of erased people.
    """
    from audiencekit.mirror.opening import begin_state

    address = _address()
    with _failures(as_json):
        head = begin_state(address)
    if as_json:
        print_json({"change": head.generation, "head": head.note})
    else:
        say(f"an empty state is at {address}")
        say(f"head: {head.note}")


@state.command("show", examples=("state show", "state show --json"))
@json_option
def show(as_json: bool) -> None:
    """Show what the state in the bucket holds.

    For each kind of file: how many there are, how large they are, and when the last one was changed.
    """
    from audiencekit.mirror.opening import look_at_state

    address = _address()
    with _failures(as_json):
        found = look_at_state(address)
    if as_json:
        print_json(found.to_json())
    else:
        for line in _lines(address, found):
            say(line)


@contextlib.contextmanager
def _failures(as_json: bool) -> Iterator[None]:
    try:
        yield
    except AudiencekitError as error:
        leave_with(error, as_json=as_json)


def _address() -> str:
    address = own_environment().get("AUDIENCEKIT_STATE", "").strip()
    if "://" not in address:
        raise UsageError("AUDIENCEKIT_STATE names no bucket", hint="set it to s3://BUCKET/PREFIX, gs://… or az://…")
    return address


def _lines(address: str, found: StateSummary) -> Iterator[str]:
    holder = found.head.holder
    yield f"state: {address}"
    yield f"head: {found.head.note}"
    yield "held by no command" if holder is None else f"held by a command on {holder.host}"
    for kind in found.kinds:
        files = "file" if kind.files == 1 else "files"
        yield f"{kind.name}: {kind.files:,} {files}, {kind.size_bytes:,} bytes, changed {kind.changed_at}"
