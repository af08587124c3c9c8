"""The confirmation that a person gives at a terminal, before something is destroyed."""

from __future__ import annotations

import sys

import click

from audiencekit.cli.output import tell
from audiencekit.errors import UsageError
from audiencekit.shown import shown


def confirm(question: str) -> None:
    """Ask a person; leaves when the answer is no. Raises UsageError without a terminal."""
    require_terminal()
    if not click.confirm(shown(question), err=True):
        tell("nothing was changed")
        sys.exit(0)


def require_terminal() -> None:
    """Raises UsageError without a terminal to ask at."""
    if not sys.stdin.isatty():
        raise UsageError("cannot ask for confirmation: stdin is not a terminal", hint="give --yes")
