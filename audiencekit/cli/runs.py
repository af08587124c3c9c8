"""`runs` and `report`: what happened so far."""

from __future__ import annotations

from typing import Any

import click

from audiencekit.cli.commandsettings import command_settings
from audiencekit.cli.forget import show_receipt
from audiencekit.cli.options import json_option
from audiencekit.cli.output import print_json, say, tell


@click.command()
@json_option
def runs(as_json: bool) -> None:
    """List the runs and erasures of this machine, newest first."""
    from audiencekit.audiences.history import list_history

    found = list_history(command_settings().state_dir)
    if as_json:
        print_json(found)
    elif not found:
        tell("no runs yet")
    else:
        width = max(len(run["run_id"]) for run in found)
        for run in found:
            started, target = run.get("started_at") or "", _target(run)
            remark = "running" if run["running"] else "resumable" if run["resumable"] else ""
            say(f"{run['run_id']:<{width}}  {run['state']:<10}  {started:<20}  {target}  {remark}".rstrip())


def _target(run: dict[str, Any]) -> str:
    """What the run is about, as far as anybody knows: one that was killed early does not say."""
    from audiencekit.preparation.target import Target

    if "audiences" in run:
        return f"{run['audiences']['settled']:,} of {run['audiences']['known']:,} audiences"
    return str(Target.from_json(run["target"])) if "target" in run else ""


@click.command()
@click.argument("run", default="last")
@json_option
def report(run: str, as_json: bool) -> None:
    """Show the report of RUN (an id, the beginning of one, or `last`); of an erasure, its receipt."""
    from audiencekit.audiences.history import find_in_history
    from audiencekit.reporting.text import render_report
    from audiencekit.runs.kept import read_report

    state_dir = command_settings().state_dir
    run_id, is_erasure = find_in_history(state_dir, run)
    if is_erasure:
        show_receipt(run_id, as_json=as_json)
        return
    document = read_report(state_dir, run_id)
    if as_json:
        print_json(document)
    else:
        say(render_report(document))
