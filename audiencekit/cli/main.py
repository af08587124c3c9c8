"""Options of the whole tool: colour, verbosity, and the log file."""

from __future__ import annotations

import os
import sys
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import click

from audiencekit.errors import UsageError

if TYPE_CHECKING:
    from audiencekit.cli.log_file import LogFile


Colour: TypeAlias = Literal["auto", "always", "never"]


@dataclass(frozen=True, slots=True)
class Manner:
    """The output options of one command. Quiet: only errors and questions are printed; verbose: each request, too."""

    colour: Colour = "auto"
    is_quiet: bool = False
    is_verbose: bool = False
    log: LogFile | None = None
    has_said_json: bool = False

    def is_coloured(self, stream: Any) -> bool:
        """Whether what is written to `stream` is coloured: on a terminal, but for NO_COLOR and `--color`."""
        if self.colour != "auto":
            return self.colour == "always"
        is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        return not is_plain and stream is not None and stream.isatty()


_MANNER: Final[ContextVar[Manner]] = ContextVar("manner", default=Manner())  # noqa: B039 (it cannot be changed)


def manner() -> Manner:
    """Return the output options of the command that runs."""
    return _MANNER.get()


def begin_manner() -> None:
    """Reset the output options of an earlier command in this process."""
    if manner() != Manner():
        from audiencekit.cli.log_file import stop_listening

        stop_listening()
    _MANNER.set(Manner())


def note_json_said() -> None:
    """Note that the JSON document was printed to stdout."""
    _MANNER.set(replace(manner(), has_said_json=True))


def note_command(context: click.Context) -> None:
    """Write the name of the command into the log, without its arguments, which may be personal data."""
    if (log := manner().log) is not None:
        names, one = list[str](), context
        while one.parent is not None:
            names, one = [one.info_name or "", *names], one.parent
        log.begin(" ".join(names))


def end_manner(exit_code: int) -> None:
    """Write the exit code into the log, and close it."""
    if (log := manner().log) is not None:
        log.finish(exit_code)


def _take(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    """Store the value of the option, which may be given before or after the name of the command."""
    if value is None or value is False or parameter.name is None or context.resilient_parsing:
        return
    if parameter.name == "log":
        from audiencekit.cli.log_file import LogFile

        if manner().log is not None:
            raise UsageError("--log-file was given twice")
        value = LogFile(value)
    _MANNER.set(replace(manner(), **{parameter.name: value}))
    if manner().is_quiet and manner().is_verbose:
        raise UsageError("--quiet and --verbose exclude each other")
    if parameter.name == "is_verbose":
        from audiencekit.cli.log_file import log_to_stderr

        log_to_stderr()
    if manner().colour != "auto":
        context.color = manner().colour == "always"


@cache
def whole_tool_options() -> tuple[click.Option, ...]:
    """The options of every command."""
    return (
        _option(
            "--quiet", "-q", "is_quiet", is_flag=True,
            help="Print only errors, questions, and warnings about the environment.",
        ),
        _option("--verbose", "-v", "is_verbose", is_flag=True, help="Print each request, too."),
        _option(
            "--color", "colour", type=click.Choice(["auto", "always", "never"]),
            help="Colour; auto: on a terminal, unless NO_COLOR is set.",
        ),
        _option(
            "--log-file", "log", metavar="FILE", type=click.Path(dir_okay=False),
            help="Append messages and requests to FILE as JSON lines, without personal data.",
        ),
    )  # fmt: skip


def _option(*names: str, **more: Any) -> click.Option:
    return click.Option(names, expose_value=False, is_eager=True, callback=_take, **more)


def stderr_is_coloured() -> bool:
    """Whether messages are coloured."""
    return manner().is_coloured(sys.stderr)
