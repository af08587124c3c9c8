"""`runs` and `report`: what happened so far."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from audiencekit.cli.audiencenaming import audience_filter, known_audience_id
from audiencekit.cli.commandhelp import Command
from audiencekit.cli.commandsettings import command_settings
from audiencekit.cli.options import json_option, run_argument
from audiencekit.cli.output import leave_with, print_json, print_report, say, tell
from audiencekit.cli.webpages import html_option, write_report_page
from audiencekit.errors import InputOutputFailed, UsageError


@click.command(cls=Command, examples=("runs", "runs --since 7d --audience h1ab2 --json"))
@audience_filter
@click.option("--since", metavar="TIME|AGE", help="Only those that began since then: 2026-11-01, or 7d ago.")
@json_option
def runs(audience: str | None, since: str | None, as_json: bool) -> None:
    """List the runs and erasures of this machine.

    The newest comes first.
    """
    from audiencekit.audiences.match_rate import list_history
    from audiencekit.cli.timeorage import moment_of
    from audiencekit.reporting.text import render_runs, runs_to_json
    from audiencekit.runs.purge import kept_until
    from audiencekit.state.keys import known_state_key

    settings = command_settings()
    found = list_history(settings.state_dir, known_state_key(settings.state_dir, settings.key))
    if audience is not None:
        audience_id = known_audience_id(audience)
        found = [run for run in found if run.get("audience_id") == audience_id]
    if since is not None:
        begin = moment_of(since, "--since", datetime.now(UTC))
        found = [run for run in found if (run.get("started_at") or "") >= begin]
    if settings.retention is not None:
        found = [{**run, "kept_until": kept_until(settings.state_dir, run, settings.retention)} for run in found]
    if as_json:
        print_json(runs_to_json(found))
    elif not found:
        tell("no runs yet" if audience is None and since is None else "no run matches")
    else:
        say(render_runs(found))


@click.command(cls=Command, examples=("report", "report 20261122-21 --json"))
@run_argument
@html_option
@json_option
def report(run: str, html: str | None, as_json: bool) -> None:
    """Show the report of a run, or the receipt of an erasure.

    RUN is an id, the beginning of one, or `last`.
    """
    from audiencekit.audiences.match_rate import find_in_history
    from audiencekit.runs.reports import read_report
    from audiencekit.state.keys import known_state_key

    settings = command_settings()
    run_id, is_erasure = find_in_history(settings.state_dir, run)
    if is_erasure:
        if html is not None:
            raise UsageError("an erasure has a receipt, and no page")
        from audiencekit.cli.forget import show_receipt

        show_receipt(run_id, as_json=as_json)
        return
    try:
        document = read_report(settings.state_dir, run_id, known_state_key(settings.state_dir, settings.key))
    except InputOutputFailed as error:
        if error.document is None:
            raise
        leave_with(error, as_json=as_json)
    if html is not None:
        write_report_page(html, document, settings)
    print_report(document, as_json=as_json)
