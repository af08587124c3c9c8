"""`--html FILE`: the page beside the text that a command prints; and `open`, the page of this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from audiencekit.cli.command_help import result_option
from audiencekit.cli.options import OutputPath
from audiencekit.cli.output import spelled, spelled_document, tell
from audiencekit.errors import UsageError

if TYPE_CHECKING:
    from audiencekit.reporting.page.page_parts import View
    from audiencekit.settings import Settings


F = TypeVar("F", bound=Callable[..., Any])


class PagePath(OutputPath):
    """Where a page goes: a new file, or an earlier page. Raises UsageError for anything else, before a row is read."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path."""
        from audiencekit.reporting.page.page_file import refuse_other_file

        path = super().convert(value, param, ctx)
        refuse_other_file(path)
        return path


def html_option(function: F) -> F:
    """Where the page goes, and whether it hides small counts: `html` and `share` of a command."""
    text = "Write a page for a browser to FILE: counts and pictures, no values."
    share = result_option("--share", is_flag=True, help="Hide counts below ten on the page, so that it can be shared.")
    return result_option("--html", metavar="FILE", type=PagePath(dir_okay=False), help=text)(share(function))


own_option: Final = click.option("--own", is_flag=True, help="Show counts below ten on the page of all runs, too.")


def require_page(html: str | None, **options: bool) -> None:
    """Raises UsageError for an option of the page, by its name, where there is no page."""
    for name, is_given in options.items():
        if is_given and html is None:
            raise UsageError(f"--{name} is about the page", hint="give --html FILE")


def write_plan_page(path: str, document: Mapping[str, Any], *, share: bool) -> None:
    """The page of a plan. Raises InputOutputFailed when it cannot be written."""
    from audiencekit.reporting.page.page import plan_page

    _write(path, plan_page(spelled_document(dict(document)), _view(is_floored=share)))


def write_report_page(path: str, document: Mapping[str, Any], settings: Settings, *, share: bool) -> None:
    """Write the page of a run: with the sizes of its audience and, under sync, the months in which members expire.

    Raises as `write_plan_page` does.
    """
    from audiencekit.audiences.run_page import run_page

    _write(path, run_page(spelled_document(dict(document)), settings, _view(is_floored=share), tell))


def write_machine_page(path: str, settings: Settings, *, is_floored: bool) -> None:
    """Write the page of all runs on this machine. Raises InputOutputFailed when the state cannot be read, or the file
    not written."""
    from audiencekit.audiences.machine import look_at_machine
    from audiencekit.reporting.page.machine_page import machine_page

    _write(path, machine_page(spelled_document(look_at_machine(settings)), _view(is_floored=is_floored)))


def write_verification_page(path: str, document: Mapping[str, Any], *, share: bool) -> None:
    """Write the page of a verification. Raises as `write_plan_page` does."""
    from audiencekit.reporting.page.verification_page import verification_page

    _write(path, verification_page(spelled_document(dict(document)), _view(is_floored=share)))


def _view(*, is_floored: bool) -> View:
    from audiencekit.reporting.page.page_parts import View

    return View(is_floored=is_floored, spelled=spelled)


def _write(path: str, page: str) -> None:
    from audiencekit.reporting.page.page_file import write_page
    from audiencekit.text import shown

    write_page(path, page)
    tell(f"the page is in {shown(repr(path))}")
