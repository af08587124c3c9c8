"""`rejections`: open what `--seal-rejections` has sealed."""

from __future__ import annotations

from pathlib import Path

import click

from audiencekit.cli.command_help import Command, CommandGroup
from audiencekit.cli.command_settings import command_settings
from audiencekit.cli.options import OutputPath
from audiencekit.cli.output import say, tell


@click.group(cls=CommandGroup)
def rejections() -> None:
    """Open the rejected rows that were sealed."""


@rejections.command(
    "open",
    cls=Command,
    examples=("rejections open last --out repair.jsonl", "rejections open 20261122-130000-1f2e3d4c"),
)
@click.argument("file")
@click.option(
    "--identity-file", metavar="FILE", help="The file of your identity; by default AUDIENCEKIT_AGE_IDENTITY names it."
)
@click.option(
    "--out", metavar="FILE", type=OutputPath(dir_okay=False), help="Write to FILE, for you alone, and not to stdout."
)
def open_rejections(file: str, identity_file: str | None, out: str | None) -> None:
    """Show the rejected rows, with their cells, to the owner of the key.

    FILE is the id of a run or of a check, `last`, or the path of a sealed file. Each row is a line of JSON.
    """
    from audiencekit.reporting.sealed_rejections import find_sealed, identities_of_state, open_sealed, write_opened

    settings = command_settings()
    rows = open_sealed(find_sealed(settings.state_dir, file), identity_file, identities_of_state(settings))
    if out is None:
        for row in rows:
            say(row.unwrap())
        return
    number = write_opened(rows, Path(out))
    rows_written = "1 row is" if number == 1 else f"{number:,} rows are"
    tell(f"{rows_written} in {out!r}, in the clear: only this user may read it; delete it after the repair")
