"""`--html FILE` of `check` and `report`: the page beside what is printed; and `open`, the page of this machine."""

from __future__ import annotations

import stat
from collections.abc import Callable, Mapping
from pathlib import Path
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
_BEGINNING: Final = b"<!doctype html>"


class PagePath(OutputPath):
    """Where a page goes: a new file, or an earlier page. Raises UsageError for anything else, before a row is read."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path."""
        path = super().convert(value, param, ctx)
        _refuse_other_file(path)
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
    from audiencekit.audiences.match_rate import size_history
    from audiencekit.reporting.page.page import report_page
    from audiencekit.runs.reports import find_earlier_report

    audience_id = document.get("audience_id")
    history = [] if audience_id is None else size_history(audience_id, settings)
    page = report_page(
        {**spelled_document(dict(document)), "history": history},
        _view(is_floored=share),
        expiry=_expiry(audience_id, settings),
        last=find_earlier_report(settings.state_dir, document),
    )
    _write(path, page)


def write_machine_page(path: str, settings: Settings, *, is_floored: bool) -> None:
    """Write the page of all runs on this machine. Raises InputOutputFailed when the state cannot be read, or the file
    not written."""
    from audiencekit.audiences.machine import look_at_machine
    from audiencekit.reporting.page.machine_page import machine_page

    _write(path, machine_page(spelled_document(look_at_machine(settings)), _view(is_floored=is_floored)))


def _view(*, is_floored: bool) -> View:
    from audiencekit.reporting.page.page_parts import View

    return View(is_floored=is_floored, spelled=spelled)


def _expiry(audience_id: str | None, settings: Settings) -> dict[str, Any] | None:
    from audiencekit.audiences.sync.sync import expiry, is_under_sync
    from audiencekit.errors import SnapshotRefused

    if audience_id is None or not is_under_sync(audience_id, settings):
        return None
    try:
        return expiry(audience=audience_id, settings=settings).to_json()
    except SnapshotRefused as refusal:
        tell(f"note: the page says nothing of members: {refusal}")
        return None


def _refuse_other_file(path: str) -> None:
    """Raise UsageError when the page would replace a list, a device or a link."""
    place = Path(path)
    try:
        if stat.S_ISREG(place.lstat().st_mode):
            with place.open("rb") as file:
                if file.read(len(_BEGINNING)) in (b"", _BEGINNING):
                    return
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError:
        pass  # what cannot be read is not known to be a page
    raise UsageError(f"{path!r} is another file than a web page, and stays", hint="give the name of a new file")


def _write(path: str, page: str) -> None:
    from audiencekit.state.files import explained, replace_file
    from audiencekit.text import shown

    _refuse_other_file(path)  # the command itself may have written there, as with `--rejections`
    hint = "name a file in a directory in which you may write"
    with explained("the page cannot be written", Path(path), hint=hint):
        replace_file(Path(path), page.encode())
    tell(f"the page is in {shown(repr(path))}")
