"""`man`: the manual page, made of the help texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import click

from audiencekit import __version__
from audiencekit.cli.command_help import Command
from audiencekit.cli.output import say

EXIT_CODES: Final = {
    0: "complete; or nothing to do; or you answered no to a question",
    1: "a bug",
    2: "an invalid option or argument",
    3: "refused before anything was sent",
    69: "the service cannot be reached",
    74: "a file cannot be read or written",
    75: "not finished: `audiencekit resume` sends the rest; or another run is at work",
    77: "credentials or permissions",
    130: "interrupted before anything was begun",
}


@click.command("man", cls=Command, examples=("man > audiencekit.1", "man > ~/.local/share/man/man1/audiencekit.1"))
def print_manual() -> None:
    """Print the manual page.

    It is roff, for man and groff.
    """
    from audiencekit.cli import cli

    say("\n".join(_page(cli)))


def _page(root: click.Group) -> Iterator[str]:
    context = root.make_context("audiencekit", [], resilient_parsing=True)
    yield f'.TH AUDIENCEKIT 1 "" "audiencekit {__version__}" "User commands"'
    yield from (".SH NAME", f"audiencekit \\- {_text(_summary(root)).rstrip('.')}")
    yield from (".SH SYNOPSIS", ".B audiencekit", r"[\fIOPTIONS\fR] \fICOMMAND\fR [\fIARGUMENTS\fR]")
    yield from (".SH DESCRIPTION", *_paragraphs(root.help or ""))
    yield from (".SH OPTIONS", *_options(root, context))
    yield ".SH COMMANDS"
    yield from _commands(root, context)
    yield ".SH EXIT STATUS"
    for code, meaning in EXIT_CODES.items():
        yield from (".TP", f".B {code}", _text(meaning))


def _commands(group: click.Group, context: click.Context) -> Iterator[str]:
    """Every command, those of groups below them."""
    for name in group.list_commands(context):
        if (command := group.get_command(context, name)) is None:
            continue
        own = command.context_class(command, info_name=name, parent=context)
        yield f".SS {_text(own.command_path)}"
        yield from _paragraphs(command.help or "")
        if isinstance(command, click.Group):
            yield from _commands(command, own)
            continue
        yield from (".PP", f"Usage: {_text(' '.join([own.command_path, *command.collect_usage_pieces(own)]))}")
        yield from _options(command, own)
        for example in getattr(command, "examples", ()):
            yield from (".PP", f".RS 4\n.nf\n{_text(f'audiencekit {example}')}\n.fi\n.RE")


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    for parameter in command.params:
        if isinstance(parameter, click.Option) and (record := parameter.get_help_record(context)):
            yield from (".TP", f".B {_text(record[0])}", _text(record[1]))


def _paragraphs(text: str) -> Iterator[str]:
    for number, paragraph in enumerate(text.strip().split("\n\n")):
        if number:
            yield ".PP"
        yield _text(" ".join(paragraph.split()))


def _summary(command: click.Command) -> str:
    return (command.help or "").strip().split("\n\n")[0]


def _text(text: str) -> str:
    """`text` that roff takes for itself: no escape, no request, and dashes that can be copied."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-").replace("`", r"\(ga").replace("'", r"\(aq")
    escaped = escaped.replace('"', r"\(dq").replace("~", r"\(ti").replace("^", r"\(ha").replace("…", "...")
    return r"\&" + escaped if escaped.startswith(".") else escaped
