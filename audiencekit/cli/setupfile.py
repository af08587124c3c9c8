"""The setup of a command: the file that was named, now or before."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from audiencekit.audiences.setups.setup import Setup


def setup_of(given: str | None, *, remember: bool, profile: str | None) -> Setup:
    """The setup in the file `given`, or in the file of this directory that was named before.

    Raises UsageError for a file that was not, which may be another person's, and what `read_setup` raises.
    """
    from audiencekit.audiences.setups.document import read_setup
    from audiencekit.audiences.setups.setup import TrustedSetups
    from audiencekit.settings import SETTINGS_FILE, load_settings

    trusted = TrustedSetups(load_settings(directory=None, profile=profile).state_dir)
    if given is None:
        return read_setup(trusted.check(Path(SETTINGS_FILE)))
    setup = read_setup(Path(given))
    if remember:
        trusted.remember(setup.path)
    return setup


def setup_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """For a shell: names of the audiences of the setup that is named, or was named before."""
    names: list[str] = []
    with contextlib.suppress(Exception):  # a shell shows no message while it completes
        setup = setup_of(context.params.get("setup"), remember=False, profile=context.params.get("profile"))
        names = [one.name for one in setup.audiences]
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]
