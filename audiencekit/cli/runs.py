"""`runs` and `report`: what happened so far."""

from __future__ import annotations

import click

from audiencekit.cli.options import json_option
from audiencekit.cli.output import print_json, say


@click.command()
@json_option
def runs(as_json: bool) -> None:
    """List the runs of this machine, newest first."""
    from audiencekit.delivery.runs import RunStore
    from audiencekit.settings import load_settings

    found = RunStore(load_settings().state_dir).list_runs()
    if as_json:
        print_json(found)
    elif not found:
        click.echo("no runs yet", err=True)
    else:
        for run in found:
            started, audience = run.get("started_at") or "", run.get("audience_id") or ""
            say(f"{run['run_id']}  {run['state']:<10}  {started:<20}  {audience}".rstrip())


@click.command()
@click.argument("run", default="last")
@json_option
def report(run: str, as_json: bool) -> None:
    """Show the report of RUN (an id, the beginning of one, or `last`)."""
    from audiencekit.delivery.runs import RunStore
    from audiencekit.reporting.text import render_report
    from audiencekit.settings import load_settings

    document = RunStore(load_settings().state_dir).read_report(run)
    if as_json:
        print_json(document)
    else:
        say(render_report(document))
