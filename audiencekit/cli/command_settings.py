"""The settings of a command, and the notes on those from a file in the working directory, and on misspelled ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import click

from audiencekit.cli.output import tell
from audiencekit.process.programs import own_environment
from audiencekit.settings import PREFIX, SECRET_NAMES, VARIABLES, is_read, own_prefix
from audiencekit.shown import shown

if TYPE_CHECKING:
    from audiencekit.settings import Settings


def silent_settings(**given: Any) -> Settings:
    """The same for the answers to a shell, which tell nothing."""
    from audiencekit.settings import load_settings

    return load_settings(**given)


def command_settings(**given: Any) -> Settings:
    """The settings, `given` being flags. What the file of the working directory gives is told once a command.

    So is a variable that nothing reads, before the settings fail that it should have been.
    """
    from audiencekit.settings import PREFIX, is_read, load_settings

    environment = own_environment()
    if any(name.upper().startswith(PREFIX) and not is_read(name) for name in environment):
        for note in unread_variables(environment):
            _tell_once(note)
    settings = load_settings(**given)
    if settings.file_note:
        _tell_once(settings.file_note)
    return settings


def _tell_once(note: str) -> None:
    context = click.get_current_context(silent=True)
    told = set() if context is None else context.meta.setdefault(__name__, set())
    if note not in told:
        told.add(note)
        tell(f"note: {shown(note)}")


_NEAR: Final = 0.75  # of the letters are the same, in the same order
_OF_ACCOUNT: Final = own_prefix("")[:-1]


def unread_variables(environment: Mapping[str, str]) -> Iterator[str]:
    """A note on each, with the name that is nearest. Another program may have set it, so that it is no fault."""
    for variable in sorted(environment):
        if variable.upper().startswith(PREFIX) and not is_read(variable):
            near = _nearest(variable.upper())
            yield f"{variable} is not read: " + (f"perhaps {near} is meant" if near else "no setting has this name")


def _nearest(variable: str) -> str:
    name = variable.removeprefix(PREFIX)
    found = {PREFIX + known: _likeness(name, known) for known in VARIABLES}
    if variable.startswith(_OF_ACCOUNT):
        for secret in map(str.upper, SECRET_NAMES):  # behind the name of an account, which can be any
            parts = variable.rsplit("_", secret.count("_") + 1)
            tail = "_".join(parts[1:])
            found[f"{parts[0]}_{secret}"] = _likeness(tail, secret)
    best = max(found, key=found.__getitem__)
    return best if found[best] >= _NEAR else ""


def _likeness(one: str, other: str) -> float:
    from difflib import SequenceMatcher

    return SequenceMatcher(None, one, other).ratio()
