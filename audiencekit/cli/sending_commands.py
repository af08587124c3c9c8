"""The common parts of commands that send people: target, pace, signals, and the report at the end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar

import click

from audiencekit.cli.command_help import result_option, service_option
from audiencekit.cli.command_settings import command_settings
from audiencekit.cli.notifying import Notifying, command_name, reporting_status
from audiencekit.cli.options import stacked
from audiencekit.cli.output import leave_with, print_report, suggest, tell
from audiencekit.errors import AudiencekitError, UsageError

if TYPE_CHECKING:
    from audiencekit.reporting.progress import Progress
    from audiencekit.reporting.report import Report
    from audiencekit.settings import Settings


F = TypeVar("F", bound=Callable[..., Any])


account_option = service_option(
    "--account", "account_id", metavar="ID", help="The ads account; AUDIENCEKIT_ACCOUNT_ID by default."
)


def service_options(function: F) -> F:
    """Add the options for service and account."""
    return stacked(
        account_option,
        service_option("--profile", help="Which service: spec or x."),
    )(function)


# Those of the General Data Protection Regulation, article 6 (1), as the settings have them.
_BASES: Final = ("consent", "contract", "legal_obligation", "vital_interests", "public_task", "legitimate_interests")


def purpose_options(function: F) -> F:
    """The purpose of a run, for the audit log and the record of processing."""
    return stacked(
        result_option(
            "--purpose", metavar="TEXT", help="What the people are sent for; it goes into the record of processing."
        ),
        result_option("--basis", type=click.Choice(_BASES), help="The legal basis, for the record of processing."),
    )(function)


def pace_options(function: F) -> F:
    """Add the options for pace and concurrency."""
    return stacked(
        service_option("--concurrency", type=int, help="Requests at the same time; 16 by default."),
        service_option("--requests-per-minute", type=int, help="Pace; 1,470 by default, 1,500 at most."),
    )(function)


def sending_settings(**given: Any) -> Settings:
    """Return the settings of a command that seals files. A new state key beside these files is reported once."""
    from audiencekit.state.directory import make_directory
    from audiencekit.state.key_places import place_of_key
    from audiencekit.state.keys import refuse_lost_key

    settings = command_settings(**given)
    if place_of_key(settings.state_dir, settings.key) is None:
        refuse_lost_key(settings.state_dir, settings.key)
        make_directory(settings.state_dir)  # which may fail: then there is nothing to tell
        beside = "a new state key is kept in the state directory, beside the files that it opens"
        tell(f"note: {beside}: `audiencekit key move` moves it")
    return settings


def events_option(function: F) -> F:
    """Add the option for the file to which events are appended."""
    return result_option(
        "--events", metavar="FILE|-", help="Append a line of JSON for each step; - is stdout, without the report."
    )(function)


def refuse_events_with_json(events: str | None, *, as_json: bool) -> None:
    """Raise UsageError for events on stdout and a report as JSON, which needs stdout, too."""
    if events == "-" and as_json:
        raise UsageError("`events=-` and `json=True` both write to stdout", hint="the last event has the report")


def leave_stdout_to(events: str | None, *, as_json: bool) -> None:
    """When events go to stdout, send the report to stderr until the command ends.

    Raises UsageError for a report as JSON.
    """
    refuse_events_with_json(events, as_json=as_json)
    if events == "-":
        click.get_current_context().with_resource(redirect_stdout(sys.stderr))


# How people who should not have been put in are taken out again, by the operation that has put them in.
_TAKES_OUT: Final = {
    "update": "The same command with --operation delete takes out all people of this list; then run it once more with"
    " --consent-column.",
    "sync": "The same command with --consent-column takes them out.",
}


def send(
    work: Callable[[Settings, Progress], Coroutine[Any, Any, Report]],
    *,
    as_json: bool,
    notify: str | None,
    notify_on: tuple[str, ...],
    events: str | None,
    audience: str = "",
    max_minutes: float | None = None,
    **given: Any,
) -> NoReturn:
    """Print the report that `work` returns, and leave; `given` are settings.

    Signals end it in good order, and so do `max_minutes`. The receiver `notify` is told how it ended; `audience` is
    the id or name that was given.
    """
    from audiencekit.cli.command_progress import command_progress
    from audiencekit.cli.interruption import run_until_interrupted

    leave_stdout_to(events, as_json=as_json)
    try:
        settings = sending_settings(events=events, **given)
        notifying = Notifying.of(settings, command_name(), notify, notify_on)
        with (
            notifying.telling_failure(audience),
            command_progress() as shown,
            reporting_status(settings, shown, command_name()) as progress,
        ):
            report = run_until_interrupted(work(notifying.settings, progress), max_minutes=max_minutes)
    except AudiencekitError as error:
        leave_with(error, as_json=as_json)
    notifying.tell_end(report.to_json())
    print_report(report.to_json(), as_json=as_json)
    if any(warning["code"] == "consent" for warning in report.warnings) and report.operation in _TAKES_OUT:
        tell(f"The people who refuse are in the audience now. {_TAKES_OUT[report.operation]}")
    suggest(f"report {report.run_id} --html report.html")
    sys.exit(0)
