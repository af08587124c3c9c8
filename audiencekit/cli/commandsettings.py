"""The settings of a command, and the line that names those from a file in the working directory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from audiencekit.cli.output import tell
from audiencekit.shown import shown

if TYPE_CHECKING:
    from audiencekit.settings import Settings


def silent_settings(**given: Any) -> Settings:
    """The same for the answers to a shell, which tell nothing."""
    from audiencekit.settings import load_settings

    return load_settings(**given)


def command_settings(**given: Any) -> Settings:
    """The settings, `given` being flags. What the file of the working directory gives is told once a command."""
    from audiencekit.settings import load_settings

    settings = load_settings(**given)
    context = click.get_current_context(silent=True)
    told = set() if context is None else context.meta.setdefault(__name__, set())
    if settings.file_note and settings.file_note not in told:
        told.add(settings.file_note)
        tell(f"note: {shown(settings.file_note)}")
    return settings
