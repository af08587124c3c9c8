"""The state of a command where it lies in a bucket: opened before the command, stored and left after it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Final

import click

from audiencekit.process.programs import own_environment

_VARIABLE: Final = "AUDIENCEKIT_STATE"
# Commands without state, and those that only look at it: they never wait for another command.
_WITHOUT: Final = frozenset({"state", "demo", "emulator", "hash", "completion", "man", "init", "login", "logout"})
_LOOKING: Final = frozenset(
    {"check", "prepare", "runs", "report", "open", "expiry", "doctor", "whoami", "api", "activity", "erasure show"}
)


@contextlib.contextmanager
def state_of_command(context: click.Context) -> Iterator[None]:
    """Have the state of the command open meanwhile, if it is in a bucket."""
    address = own_environment().get(_VARIABLE, "").strip()
    names = context.command_path.split()[1:]
    if "://" not in address or not names or names[0] in _WITHOUT or context.resilient_parsing:
        yield
        return
    from audiencekit.cli.output import leave_with, tell
    from audiencekit.errors import AudiencekitError
    from audiencekit.mirror.opening import open_state

    hold = names[0] not in _LOOKING and " ".join(names[:2]) not in _LOOKING
    as_json = bool(context.params.get("as_json"))
    try:
        with open_state(address, hold=hold, notify=tell):
            yield
    except AudiencekitError as error:
        leave_with(error, as_json=as_json)
