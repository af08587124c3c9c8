"""`runs` and `report`: what happened so far."""

from __future__ import annotations

from typing import Any, Final

import click

from audiencekit.cli.commandsettings import command_settings
from audiencekit.cli.forget import show_receipt
from audiencekit.cli.options import json_option
from audiencekit.cli.output import leave_with, print_json, say, say_document, tell
from audiencekit.errors import InputOutputFailed

_JOURNALS: Final = {
    "no_journal": "never begun",
    "not_begun": "never begun",
    "damaged": "the journal is damaged: what was confirmed is not known",
    "key": "the journal is of another state key, or was changed: what was confirmed is not known",
    "unreadable": "the journal cannot be read: what was confirmed is not known",
}


@click.command()
@json_option
def runs(as_json: bool) -> None:
    """List the runs and erasures of this machine, newest first."""
    from audiencekit.audiences.history import list_history
    from audiencekit.machine.keys import known_state_key

    settings = command_settings()
    found = list_history(settings.state_dir, known_state_key(settings.state_dir, settings.key))
    if as_json:
        print_json(found)
    elif not found:
        tell("no runs yet")
    else:
        width = max(len(run["run_id"]) for run in found)
        for run in found:
            started, target = run.get("started_at") or "", _target(run)
            say(f"{run['run_id']:<{width}}  {run['state']:<10}  {started:<20}  {target}  {_remark(run)}".rstrip())


def _remark(run: dict[str, Any]) -> str:
    """Whether it goes on, or can, and why it cannot when its journal is the reason."""
    if "journal" in run:
        return _JOURNALS.get(run["journal"], "the journal cannot be trusted: see `audiencekit report`")
    return "running" if run["running"] else "resumable" if run["resumable"] else ""


def _target(run: dict[str, Any]) -> str:
    """The target of the run, where it is known: a run that was killed early does not say it."""
    from audiencekit.destinations.target import Target

    if "audiences" in run:
        return f"{run['audiences']['settled']:,} of {run['audiences']['known']:,} audiences"
    return str(Target.from_json(run["target"])) if "target" in run else ""


@click.command()
@click.argument("run", default="last")
@json_option
def report(run: str, as_json: bool) -> None:
    """Show the report of RUN (an id, the beginning of one, or `last`); of an erasure, its receipt."""
    from audiencekit.audiences.history import find_in_history
    from audiencekit.machine.keys import known_state_key
    from audiencekit.reporting.text import render_report
    from audiencekit.runs.storedreports import read_report

    settings = command_settings()
    run_id, is_erasure = find_in_history(settings.state_dir, run)
    if is_erasure:
        show_receipt(run_id, as_json=as_json)
        return
    try:
        document = read_report(settings.state_dir, run_id, known_state_key(settings.state_dir, settings.key))
    except InputOutputFailed as error:
        if error.document is None:
            raise
        leave_with(error, as_json=as_json)
    if as_json:
        print_json(document)
    else:
        say_document(render_report(document))
