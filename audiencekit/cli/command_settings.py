"""The settings of a command, and the notes on those from a file in the working directory, and on misspelled ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import click

from audiencekit.cli.output import insist, tell
from audiencekit.process.programs import own_environment
from audiencekit.text import shown

if TYPE_CHECKING:
    from audiencekit.settings import Settings

READABLE_FILE: Final = "other users may read the file that {} names, which holds a secret"
MAKE_PRIVATE: Final = "`chmod 600` it"
_NEAR: Final = 0.75  # of the letters are the same, in the same order


def silent_settings(**given: Any) -> Settings:
    """Return the settings for completions, without notes."""
    from audiencekit.settings import load_settings

    return load_settings(**given)


def command_settings(**given: Any) -> Settings:
    """The settings, `given` being flags. What the file of the working directory gives is told once a command.

    So is a variable that nothing reads, before the settings fail that it should have been. What is wrong in the
    environment, a quiet command tells, too: the line of a schedule is quiet.
    """
    from audiencekit.settings import PREFIX, is_read, load_settings, open_secret_files

    environment = own_environment()
    if any(name.upper().startswith(PREFIX) and not is_read(name) for name in environment):
        for message in unread_variables(environment):
            _tell_once(message)
    for variable in open_secret_files(environment):
        _tell_once(f"warning: {READABLE_FILE.format(variable)}; {MAKE_PRIVATE}")
    settings = load_settings(**given)
    if settings.file_note:
        _tell_once(f"note: {settings.file_note}")
    return settings


def _tell_once(message: str) -> None:
    context = click.get_current_context(silent=True)
    told = set() if context is None else context.meta.setdefault(__name__, set())
    if message not in told:
        told.add(message)
        if message.startswith("warning:"):
            insist(shown(message), level="warning")
        else:
            tell(shown(message))


def unread_variables(environment: Mapping[str, str]) -> Iterator[str]:
    """Return a message on each variable with our prefix that is not read; no value is shown.

    Where a known name is near, it is a warning with that name; else a note, since another program may have set it.
    """
    from audiencekit.settings import PREFIX, is_read

    for variable in sorted(environment):
        if variable.upper().startswith(PREFIX) and not is_read(variable):
            near = _nearest(variable.upper())
            told = f"warning: {variable} is not read: perhaps {near} is meant"
            yield told if near else f"note: {variable} is not read: no setting has this name"


def _nearest(variable: str) -> str:
    from audiencekit.settings import PREFIX, SECRET_NAMES, VARIABLES, own_prefix

    name = variable.removeprefix(PREFIX)
    found = {PREFIX + known: _likeness(name, known) for known in VARIABLES}
    if variable.startswith(own_prefix("")[:-1]):
        for secret in map(str.upper, SECRET_NAMES):  # behind the name of an account, which can be any
            parts = variable.rsplit("_", secret.count("_") + 1)
            tail = "_".join(parts[1:])
            found[f"{parts[0]}_{secret}"] = _likeness(tail, secret)
    best = max(found, key=found.__getitem__)
    return best if found[best] >= _NEAR else ""


def _likeness(one: str, other: str) -> float:
    from difflib import SequenceMatcher

    return SequenceMatcher(None, one, other).ratio()
