"""`runs` and `report`: what happened so far."""

from __future__ import annotations

import click

from audiencekit.cli.options import json_option
from audiencekit.cli.output import print_json, say


@click.command()
@json_option
def runs(as_json: bool) -> None:
    """List the runs of this machine, newest first."""
    from audiencekit.runs.kept import list_runs
    from audiencekit.settings import load_settings

    found = list_runs(load_settings().state_dir)
    if as_json:
        print_json(found)
    elif not found:
        click.echo("no runs yet", err=True)
    else:
        for run in found:
            started, audience = run.get("started_at") or "", run.get("audience_id") or ""
            remark = "running" if run["running"] else "resumable" if run["resumable"] else ""
            say(f"{run['run_id']}  {run['state']:<10}  {started:<20}  {audience}  {remark}".rstrip())


@click.command()
@click.argument("run", default="last")
@json_option
def report(run: str, as_json: bool) -> None:
    """Show the report of RUN (an id, the beginning of one, or `last`)."""
    from audiencekit.reporting.text import render_report
    from audiencekit.runs.kept import read_report
    from audiencekit.settings import load_settings

    document = read_report(load_settings().state_dir, run)
    if as_json:
        print_json(document)
    else:
        say(render_report(document))
