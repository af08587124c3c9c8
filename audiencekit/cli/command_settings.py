"""The settings of a command, and the notes on those from a file in the working directory, and on misspelled ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from audiencekit.cli.output import tell
from audiencekit.process.programs import own_environment
from audiencekit.text import shown

if TYPE_CHECKING:
    from audiencekit.settings import Settings


def silent_settings(**given: Any) -> Settings:
    """Return the settings for completions, without notes."""
    from audiencekit.settings import load_settings

    return load_settings(**given)


def command_settings(**given: Any) -> Settings:
    """The settings, `given` being flags. What the file of the working directory gives is told once a command.

    So is a variable that nothing reads, before the settings fail that it should have been.
    """
    from audiencekit.settings import PREFIX, is_read, load_settings

    environment = own_environment()
    if any(name.upper().startswith(PREFIX) and not is_read(name) for name in environment):
        from audiencekit.cli.unread_variables import unread_variables

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
