"""Data to stdout, everything else to stderr; failures leave with their report."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, NoReturn

import click

from audiencekit.errors import AudiencekitError


def print_json(document: Mapping[str, Any] | list[Any]) -> None:
    """One JSON document, indented, to stdout."""
    import orjson

    click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())


def complain(error: AudiencekitError) -> None:
    """The message and what to do, to stderr."""
    click.echo(f"error: {error}", err=True)
    if error.hint:
        click.echo(f"  what to do: {error.hint}", err=True)


def leave_with(error: AudiencekitError, *, as_json: bool) -> NoReturn:
    """Print what is known of the failed run, complain, and exit with the error's code."""
    document = error.document
    if as_json:
        failure = {"type": type(error).__name__, "message": str(error), "hint": error.hint}
        print_json({**(document or {"state": "refused"}), "error": failure})
    elif document is not None and "run_id" in document:
        from audiencekit.reporting.text import render_report

        click.echo(render_report(document))
    complain(error)
    sys.exit(error.exit_code)
