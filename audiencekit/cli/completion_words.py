"""The words that a shell completes: runs, audiences, columns of the list. Nothing is sent, and errors are not shown.

They come from names in the state directory and the first bytes of the list.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final, TypeAlias

import click
from click.shell_completion import CompletionItem, split_arg_string

from audiencekit.cli.command_settings import silent_settings

Items: TypeAlias = list[CompletionItem[str]]
_OTHER_FILES: Final = frozenset({"--suppress", "--rejections", "--sql", "--log-file", "--out"})
Candidates: TypeAlias = Callable[[click.Context, click.Parameter, str], Items]


def runs(context: click.Context, parameter: click.Parameter, incomplete: str) -> Items:
    """Ids of runs and erasures, the newest first, and `last`."""
    found: list[str] = []
    with contextlib.suppress(Exception):  # a shell shows no message while it completes
        state_dir = silent_settings().state_dir
        for directory in ("runs", "erasures"):
            with contextlib.suppress(OSError):
                found += [entry.name for entry in os.scandir(state_dir / directory) if entry.is_dir()]
    newest_first = sorted(found, key=lambda one: one.removeprefix("forget-"), reverse=True)
    return [CompletionItem(one) for one in ("last", *newest_first) if one.startswith(incomplete)]


def audiences(context: click.Context, parameter: click.Parameter, incomplete: str) -> Items:
    """Return known ids of audiences with their names, where the id or the name begins with the incomplete word."""
    names: dict[str, str] = {}
    with contextlib.suppress(Exception):
        from audiencekit.destinations.known_audiences import KnownAudiences
        from audiencekit.text import shown

        settings = silent_settings(account_id=context.params.get("account_id"))
        names = {
            one: shown(name) for one, name in KnownAudiences(settings.state_dir, settings.account_id).names().items()
        }
    start = incomplete.casefold()
    found = [one for one in names if one.startswith(incomplete)]
    found = found or [one for one, name in names.items() if name.casefold().startswith(start)]
    return [CompletionItem(one, help=names[one], is_named=True) for one in sorted(found)]


def columns(context: click.Context, parameter: click.Parameter, incomplete: str) -> Items:
    """Names of the columns of the list."""
    return [CompletionItem(name) for name in _names(None) if name.startswith(incomplete)]


def columns_then(mark: str) -> Candidates:
    """Return the names of the columns with `mark` appended, since a value follows."""
    return lambda context, parameter, incomplete: [
        CompletionItem(f"{item.value}{mark}") for item in columns(context, parameter, incomplete)
    ]


def kinds_of_columns(option: str | None = None) -> Candidates:
    """Complete KIND=COLUMN: first kinds, then columns of the list, or of the files given by `option`."""

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> Items:
        from audiencekit.identifiers.kinds import Kind

        kind, separator, column = incomplete.partition("=")
        if not separator:
            return [CompletionItem(f"{one.value}=") for one in Kind if one.value.startswith(kind)]
        return [CompletionItem(f"{kind}={name}") for name in _names(option) if name.startswith(column)]

    return complete


def _names(option: str | None) -> Iterator[str]:
    """Return the columns of the first readable file, among the values of `option` or the arguments."""
    for path in _files(option):
        with contextlib.suppress(Exception):
            from audiencekit.sources.csv.records import first_rows

            yield from first_rows(path).names or ()
            return


def _files(option: str | None) -> Iterator[str]:
    """Yield the files on the line. click has not read it to its end where an option lacks its value."""
    words = split_arg_string(os.environ.get("COMP_LINE") or os.environ.get("COMP_WORDS", ""))
    for before, word in pairwise(words):
        if (before == option) if option else (before not in _OTHER_FILES and os.path.isfile(word)):
            yield word
