"""Data to stdout, everything else to stderr; failures leave with their report."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any, Final, NoReturn

import click

from audiencekit.errors import AudiencekitError, InputOutputFailed
from audiencekit.shown import shown, shown_json, shown_lines


def say(text: str) -> None:
    """A line of data to stdout, or several of ours. Raises InputOutputFailed when it cannot be written."""
    _write(shown_lines(text))


def tell(text: str) -> None:
    """A line for people to stderr, or several of ours."""
    click.echo(shown_lines(text), err=True)


def say_document(text: str) -> None:
    """A plan or a report as text; on a terminal its problems and warnings are seen at once. Raises as `say` does."""
    if sys.stdout is not None and sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        _write("\n".join(map(_coloured, shown_lines(text).split("\n"))))
    else:
        say(text)


def _coloured(line: str) -> str:
    colour = next((colour for start, colour in _COLOURS.items() if line.startswith(start)), None)
    return click.style(line, fg=colour) if colour else line


_COLOURS: Final = {
    "problem:": "red",
    "warning:": "yellow",
    "verdict: refused": "red",
    "verdict: ready with warnings": "yellow",
    "verdict: ready": "green",
    "state: complete": "green",
    "state: refused": "red",
    "state: incomplete": "yellow",
}


def say_json(document: str) -> None:
    """A JSON document to stdout. Raises as `say` does."""
    _write(shown_json(document))


def _write(text: str) -> None:
    if sys.stdout is None:
        raise InputOutputFailed("stdout cannot be written: it is closed", hint="direct it to a file, or to /dev/null")
    try:
        click.echo(text)
        sys.stdout.flush()
        return
    except OSError as error:
        failure = unwritten(error)
    raise failure


def unwritten(error: OSError) -> InputOutputFailed:
    """The failure of an attempt to write to stdout. Nothing is written to it from now on.

    A reader that has left the pipe, as `| head` does, wants no more: leaves at once and in silence.
    """
    # Text that is still buffered must not fail once more when the interpreter ends.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        sys.exit(InputOutputFailed.exit_code)
    return InputOutputFailed(f"stdout cannot be written: {error.strerror or 'unknown reason'}")


def print_json(document: Mapping[str, Any] | list[Any] | None) -> None:
    """One JSON document, indented, to stdout."""
    import orjson

    say_json(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())


def complain(error: AudiencekitError) -> None:
    """The message and what to do, to stderr."""
    tell(f"error: {error}")
    if error.hint:
        tell(f"  what to do: {shown(error.hint)}")


def leave_with(error: AudiencekitError, *, as_json: bool) -> NoReturn:
    """Complain, print what is known of the failed run, whose state is the last line, and exit with the error's code."""
    document = error.document
    complain(error)
    if as_json:
        failure = {"type": type(error).__name__, "message": str(error), "hint": error.hint}
        print_json({**(document or {"state": "refused"}), "error": failure})
    elif document is not None and "run_id" in document:
        from audiencekit.reporting.text import render_report

        say_document(render_report(document))
    sys.exit(error.exit_code)
