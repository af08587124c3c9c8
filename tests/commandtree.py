"""The commands of a group of commands, which are imported as they are asked for."""

from __future__ import annotations

from collections.abc import Iterator

import click


def commands_of(group: click.Group) -> Iterator[tuple[str, click.Command]]:
    """Each with its name."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield name, command
