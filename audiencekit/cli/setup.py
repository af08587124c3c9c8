"""`run`: audiences that a file describes, by their names."""

from __future__ import annotations

import ast
import contextlib
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click
from click.shell_completion import CompletionItem

from audiencekit.cli.client import DRY_RUN_NOTE
from audiencekit.cli.command_help import Command, plan_option, service_option
from audiencekit.cli.command_settings import command_settings, silent_settings
from audiencekit.cli.dry_runs import refuse_offline_sending
from audiencekit.cli.notifying import Notifying, notify_options, reporting_status
from audiencekit.cli.options import dry_run_option, json_option, max_minutes_option, offline_option
from audiencekit.cli.output import insist, leave_with, print_json, say, say_document, suggest, tell
from audiencekit.cli.sending_commands import (
    events_option,
    leave_stdout_to,
    pace_options,
    purpose_options,
    sending_settings,
)
from audiencekit.errors import AudiencekitError, NotFinished, UsageError
from audiencekit.text import OPTION, shown

if TYPE_CHECKING:
    from audiencekit.audiences.setups.one_audience import SetupReport
    from audiencekit.audiences.setups.setup import AudienceSetup, Setup
    from audiencekit.settings import Settings


def setup_of(given: str | None, *, remember: bool, profile: str | None) -> Setup:
    """The setup in the file `given`, or in the file of this directory that was named before.

    Raises UsageError for a file that was not, which may be another person's, and what `read_setup` raises.
    """
    from audiencekit.audiences.setups.document import read_setup
    from audiencekit.audiences.setups.setup import TrustedSetups
    from audiencekit.settings import SETTINGS_FILE, load_settings

    trusted = TrustedSetups(load_settings(directory=None, profile=profile).state_dir)
    if given is None:
        return read_setup(trusted.check(Path(SETTINGS_FILE)))
    setup = read_setup(Path(given))
    if remember:
        trusted.remember(setup.path)
    return setup


def setup_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """For a shell: names of the audiences of the setup that is named, or was named before."""
    names: list[str] = []
    with contextlib.suppress(Exception):  # a shell shows no message while it completes
        setup = setup_of(context.params.get("setup"), remember=False, profile=context.params.get("profile"))
        names = [one.name for one in setup.audiences]
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


@click.command(cls=Command, examples=("run spring-customers", "run --all --dry-run --setup audiences/audiencekit.toml"))
@click.argument("names", metavar="[NAME]...", nargs=-1, shell_complete=setup_names)
@plan_option("--all", "everything", is_flag=True, help="Carry out all audiences of the setup.")
@plan_option("--setup", metavar="FILE", help="The setup; audiencekit.toml here, when it was named before.")
@plan_option("--remember", is_flag=True, help="From now on the setup needs no --setup in its directory.")
@service_option("--profile", help="Which service: spec or x.")
@pace_options
@notify_options
@events_option
@purpose_options
@max_minutes_option
@dry_run_option
@offline_option
@json_option
def run(
    names: tuple[str, ...],
    everything: bool,
    offline: bool,
    setup: str | None,
    remember: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Carry out audiences of a setup file.

    The file names lists, audiences and accounts. All keep one pace; when one fails, the others go on. Without a NAME
    the audiences of the file are listed.
    """
    max_minutes, dry_run = given.pop("max_minutes"), given.pop("dry_run")
    refuse_offline_sending(offline=offline, dry_run=dry_run)
    told = (given.pop("notify"), given.pop("notify_on"))
    leave_stdout_to(given["events"], as_json=as_json)
    try:
        if names and everything:
            raise UsageError("names and --all were both given", hint="give one of them")
        found = setup_of(setup, remember=remember, profile=given["profile"])
        settings, chosen = command_settings(file=found.path, **given), found.chosen(names or None)
        if not names and not everything:
            _list(chosen, settings, as_json=as_json)
        if offline or len(chosen) > 1:  # a single one is named before it is looked at
            _introduce(chosen, settings)
        if offline:
            _notifying_of_all(found, names, settings, told)
            report = _plans(found.path, names, settings)
        else:
            report = _reports(found, names, max_minutes, told, dry_run=dry_run, **given)
    except AudiencekitError as error:
        if not dry_run and (names or everything):
            _tell_refusal(error, told[0], given["profile"])
        leave_with(error, as_json=as_json)
    _leave(report, as_json=as_json)


def _list(chosen: tuple[AudienceSetup, ...], settings: Settings, *, as_json: bool) -> NoReturn:
    from audiencekit.audiences.setups.running import describe_setup

    if as_json:
        print_json(describe_setup(chosen, settings))
    else:
        say("\n".join(_lines(chosen, settings)))
    sys.exit(0)


def _introduce(chosen: tuple[AudienceSetup, ...], settings: Settings) -> None:
    """Print the account and the target of each audience, before anything is sent."""
    for line in _lines(chosen, settings):
        tell(line)


def _lines(chosen: tuple[AudienceSetup, ...], settings: Settings) -> list[str]:
    from audiencekit.audiences.setups.running import describe_setup

    width = max(len(one.name) for one in chosen)
    return [f"{each['name']:<{width}}  {_line(each)}" for each in describe_setup(chosen, settings)]


def _line(each: dict[str, Any]) -> str:
    called = f" ({each['account']})" if each["account"] else ""
    account = f"account {shown(each['account_id'])}{called}" if each["account_id"] else "no account"
    sources = ", ".join(shown(Path(source).name) for source in each["sources"])
    schedule = f"; {shown(each['schedule'])}" if each["schedule"] else ""
    target = f"audience {shown(each['audience'])}" if each["audience"] else "the do-not-reach list"
    return f"{each['operation']} of {target} in {account}, from {sources}{schedule}"


def _plans(path: Path, names: tuple[str, ...], settings: Settings) -> SetupReport:
    from audiencekit.audiences.setups.running import plan_setup
    from audiencekit.cli.command_progress import command_progress

    with command_progress() as progress:
        report = plan_setup(path, names or None, settings=settings, progress=progress)
    tell(DRY_RUN_NOTE)
    return report


def _reports(
    setup: Setup,
    names: tuple[str, ...],
    max_minutes: float | None,
    told: tuple[str | None, tuple[str, ...]],
    *,
    dry_run: bool,
    **given: Any,
) -> SetupReport:
    """Return all results. `told`: receiver and rules of the command line, which take precedence over the setup."""
    from audiencekit.audiences.setups.running import carry_out
    from audiencekit.cli.command_progress import command_progress
    from audiencekit.cli.interruption import run_until_interrupted

    if dry_run:
        settings = command_settings(file=setup.path, **given)
        _notifying_of_all(setup, names, settings, told)
        with command_progress() as progress:
            work = carry_out(setup, names or None, settings, progress, dry_run=True)
            report = run_until_interrupted(work, max_minutes=max_minutes)
        tell(DRY_RUN_NOTE)
        return report
    settings = sending_settings(file=setup.path, **given)
    notifying, by_name = _notifying_of_all(setup, names, settings, told)
    watched = tuple(
        replace(one, watch=by_name[one.name].settings.watch) if one.name in by_name else one for one in setup.audiences
    )
    with command_progress() as shown_progress, reporting_status(settings, shown_progress, "run") as progress:
        work = carry_out(replace(setup, audiences=watched), names or None, settings, progress)
        report = run_until_interrupted(work, max_minutes=max_minutes)
    worst = report.worst
    failure = None if worst is None else worst.error or NotFinished(f"{worst.setup.name} was not begun")
    notifying.tell_results([(by_name[each.setup.name], each) for each in report.results], failure)
    return report


def _notifying_of_all(
    setup: Setup, names: tuple[str, ...], settings: Settings, told: tuple[str | None, tuple[str, ...]]
) -> tuple[Notifying, dict[str, Notifying]]:
    """Return the receiver of the command, and the receiver and the rules of each audience by its name."""
    notifying = Notifying.of(settings, "run", told[0])
    return notifying, {
        one.name: Notifying.of(one.settings(settings), one.command, told[0] or one.notify, told[1] or one.notify_on)
        for one in setup.chosen(names or None)
    }


def _tell_refusal(error: AudiencekitError, notify: str | None, profile: str | None) -> None:
    """Notify the receiver of the command line or of the environment that no audience was begun."""
    with contextlib.suppress(AudiencekitError):  # of settings that cannot be read, or an unknown receiver: that is said
        settings = silent_settings(directory=None, profile=profile)
        Notifying.of(settings, "run", notify).tell_end(error=error)


def _leave(report: SetupReport, *, as_json: bool) -> NoReturn:
    """Print the result of each audience, and exit with the most severe code."""
    from audiencekit.runs.journal.facts import SYNC, repeat_command

    if as_json:
        print_json(report.to_json())
    else:
        say_document(_in_setup(str(report)))
    for each in report.results:  # also of a quiet command: cron mails what is printed
        if each.exit_code:
            insist(f"error: {each.setup.name}: {_in_setup(shown(each.problem or each.state))}", level="error")
            if each.error is not None and each.error.hint:
                again = repeat_command(SYNC, each.audience_id)
                hint = each.error.hint.replace(again, f"`audiencekit run {each.setup.name}`")
                insist(f"  what to do: {_in_setup(shown(hint))}")
    if report.state == "complete" and not as_json:
        suggest("open")
    sys.exit(report.exit_code)


def _in_setup(hint: str) -> str:
    """`hint` with options as a setup file spells them: this command does not take them as flags."""
    return OPTION.sub(_line_of_setup, hint)


def _line_of_setup(found: re.Match[str]) -> str:
    name, literal = found.groups()
    if name == "replace":  # for once, by hand
        return "`--replace` to `audiencekit sync`"
    try:
        value = ast.literal_eval(literal)
    except (SyntaxError, ValueError):
        return f"`{name} = …` in the setup"
    if isinstance(value, dict):
        literal = f"{{{', '.join(f'{key} = {each!r}' for key, each in value.items())}}}"
    elif isinstance(value, bool):
        literal = str(value).lower()
    return f"`{name} = {literal}` in the setup"
