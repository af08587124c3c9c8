"""`--version`: which version this is, and whether its kernels are in use."""

from __future__ import annotations

from typing import Final

import click

from audiencekit import __version__
from audiencekit.cli.output import say

NOT_IN_USE: Final = "not in use: lists are read several times slower"
COMPILE: Final = "install a Rust compiler, then `pip install --force-reinstall --no-cache-dir --no-deps audiencekit`"


def say_version(context: click.Context, _option: click.Parameter, is_wanted: bool) -> None:
    """Print the version and leave, when it is asked for."""
    if not is_wanted or context.resilient_parsing:
        return
    with_kernels = "without kernels: the same results, more slowly" if kernels_warning() else "with kernels"
    say(f"audiencekit, version {__version__}, {with_kernels}")
    context.exit()


def kernels_warning() -> str | None:
    """A sentence that there are no kernels, or only those of another version; None when they are in use."""
    from audiencekit.kernels.library import find_library

    return None if find_library() else f"the kernels are {NOT_IN_USE}; {COMPILE}"
