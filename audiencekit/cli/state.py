"""`state`: begin a state in a bucket, show what it holds, and copy a state."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from audiencekit.cli.command_help import CommandGroup
from audiencekit.cli.options import json_option
from audiencekit.cli.output import leave_with, print_json, say, tell
from audiencekit.errors import AudiencekitError, Refused, UsageError
from audiencekit.process.programs import own_environment
from audiencekit.state.durability import STATE, is_bucket

if TYPE_CHECKING:
    from audiencekit.mirror.opening import StateSummary


@click.group("state", cls=CommandGroup)
def state() -> None:
    """Begin, show and copy a state in a bucket."""


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


@state.command("accept", examples=("state accept", "state accept --json"))
@json_option
def accept(as_json: bool) -> None:
    """Have the witness note the present head of the state.

    The witness is at AUDIENCEKIT_STATE_WITNESS. Do it once for a state that gets a witness, and after you have restored
    an earlier state on purpose.
    """
    from audiencekit.mirror.opening import accept_state

    _address()
    with _failures(as_json):
        head = accept_state()
    if as_json:
        print_json({"change": head.generation, "head": head.note})
    else:
        say(f"the witness noted the head: {head.note}")


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


@state.command(
    "copy", examples=("state copy ~/state s3://bucket/audiencekit", "state copy s3://bucket/audiencekit new")
)
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@json_option
def copy(source: str, target: str, as_json: bool) -> None:
    """Copy a state to a bucket or a directory without one.

    What was written is read again and compared. Use only one of the two afterwards: the other one does not learn of
    people who are erased later. The state key stays where it is.
    """
    from audiencekit.mirror.copying import copy_state

    with _failures(as_json):
        _check_key(source)
        count = copy_state(source, target)
    if as_json:
        print_json({"files": count})
    else:
        files = "file was" if count == 1 else "files were"
        say(f"{count:,} {files} copied, read again and compared")
        tell("use only the copy from now on, and keep the state key")


def _check_key(source: str) -> None:
    """Raise Refused for a directory whose files the state key of the environment does not open."""
    from audiencekit.audiences.key_rotation import count_sealed
    from audiencekit.mirror.opening import given_key

    if is_bucket(source) or not Path(source).is_dir():
        return
    sealed = count_sealed(Path(source).absolute(), given_key(own_environment()))
    if refused := sum(counts["refused"] for counts in sealed.values()):
        raise Refused(
            f"{refused} files of the state directory are of another state key: nothing was copied",
            hint="give the key of the directory: `audiencekit key move --to environment` says how",
        )


@contextlib.contextmanager
def _failures(as_json: bool) -> Iterator[None]:
    try:
        yield
    except AudiencekitError as error:
        leave_with(error, as_json=as_json)


def _address() -> str:
    address = own_environment().get(STATE, "").strip()
    if not is_bucket(address):
        raise UsageError(f"{STATE} names no bucket", hint="set it to s3://BUCKET/PREFIX, gs://… or az://…")
    return address


def _lines(address: str, found: StateSummary) -> Iterator[str]:
    holder = found.head.holder
    yield f"state: {address}"
    yield f"head: {found.head.note}"
    yield "held by no command" if holder is None else f"held by a command on {holder.host}"
    for kind in found.kinds:
        files = "file" if kind.files == 1 else "files"
        yield f"{kind.name}: {kind.files:,} {files}, {kind.size_bytes:,} bytes, changed {kind.changed_at}"
