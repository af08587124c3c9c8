"""`--version`: which version this is, and whether its kernels are in use."""

from __future__ import annotations

import click

from audiencekit import __version__
from audiencekit.cli.output import say


def say_version(context: click.Context, _option: click.Parameter, is_wanted: bool) -> None:
    """Print the version and leave, when it is asked for."""
    if not is_wanted or context.resilient_parsing:
        return
    from audiencekit.preparation.columnar.kernels.library import kernels

    with_kernels = "with kernels" if kernels() else "without kernels: the same results, more slowly"
    say(f"audiencekit, version {__version__}, {with_kernels}")
    context.exit()
