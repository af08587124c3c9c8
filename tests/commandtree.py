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


def all_commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """The commands at every depth that are no groups, each with its words."""
    for name, command in commands_of(group):
        if isinstance(command, click.Group):
            yield from all_commands(command, (*path, name))
        else:
            yield (*path, name), command
