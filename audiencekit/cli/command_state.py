"""The state of a command where it lies in a bucket: opened before the command, stored and left after it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Final, TypeVar

import click

from audiencekit.errors import AudiencekitError, UsageError
from audiencekit.process.programs import own_environment
from audiencekit.state.durability import STATE, is_bucket

T = TypeVar("T")

_WITHOUT: Final = frozenset({"state", "demo", "emulator", "hash", "verify", "vectors", "completion", "man"})
# These only look at the state: they never wait for another command, and what they would note is dropped. A `check` that
# seals rejections writes them into the state.
_LOOKING: Final = frozenset(
    {
        *("check", "prepare", "runs", "report", "expiry", "overlap", "doctor", "whoami", "api", "activity", "key show"),
        *("erasure show", "forgotten show", "rejections open", "audiences list", "audiences show", "audiences wait"),
        *("do-not-reach show", "flexible check", "flexible list", "flexible show"),
    }
)
_CREDENTIALS: Final = (
    "credentials are never kept in a bucket",
    "set them in the environment; without AUDIENCEKIT_STATE this command keeps them on this machine",
)
_KEY = (
    "the objects in the bucket are sealed under the state key, too",
    "`audiencekit state copy` it to a directory, do it there, and copy it to another prefix",
)
# Commands that would leave something on this machine only, or a state that cannot be opened: the reason, and the cure.
_REFUSED: Final = {
    "init": _CREDENTIALS,
    "login": _CREDENTIALS,
    "logout": _CREDENTIALS,
    "key move": _KEY,
    "key rotate": _KEY,
    "open": ("its page would be removed at once", "`audiencekit report --all --html FILE` writes it to a file"),
}


@contextlib.contextmanager
def state_of_command(context: click.Context) -> Iterator[None]:
    """Have the state of the command open meanwhile, if it is in a bucket."""
    address = own_environment().get(STATE, "").strip()
    names = context.command_path.split()[1:]
    if not is_bucket(address) or not names or names[0] in _WITHOUT or context.resilient_parsing:
        yield
        return
    from audiencekit.cli.output import leave_with, tell
    from audiencekit.mirror.opening import named_state, open_state

    as_json = bool(context.params.get("as_json"))
    try:
        if reason := _of(_REFUSED, names):
            raise UsageError(
                f"`{' '.join(names)}` has no use for a state in a bucket ({STATE}): {reason[0]}", hint=reason[1]
            )
        is_looking = _of(dict.fromkeys(_LOOKING, True), names) is not None and not context.params.get("seal_rejections")
        hold = not is_looking and not context.params.get("dry_run")
        opened = named_state(address) if names[0] == "schedule" else open_state(address, hold=hold, notify=tell)
        with opened:
            yield
    except AudiencekitError as error:
        leave_with(error, as_json=as_json)


def _of(table: Mapping[str, T], names: list[str]) -> T | None:
    """Return what the table has for a command, or for its group."""
    return table.get(" ".join(names), table.get(names[0]))
