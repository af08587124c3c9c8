"""`purge`: destroy the files of old runs."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Any

import click

from audiencekit.cli.command_help import Command
from audiencekit.cli.command_settings import command_settings
from audiencekit.cli.options import json_option, run_argument
from audiencekit.cli.output import insist, leave_with, print_json, print_report, print_told, say, tell, terminal_width
from audiencekit.cli.settings import audience_filter, confirm, known_audience_id, require_terminal
from audiencekit.cli.web_pages import html_option, own_option, require_page, write_machine_page, write_report_page
from audiencekit.errors import InputOutputFailed, Refused, UsageError
from audiencekit.text import shown

LAST = "last"
PAGE = "audiences.html"  # in the state directory


@click.command(cls=Command, examples=("purge --older-than 30d --dry-run", "purge --older-than 30d --yes"))
@click.option("--older-than", required=True, metavar="AGE", help="Age since the last change: 30d, 4w, 12h.")
@click.option("--unfinished", is_flag=True, help="Unfinished runs, too; they cannot be resumed afterwards.")
@click.option("--receipts", is_flag=True, help="Receipts of finished erasures, too, except the last.")
@click.option("--audit-entries", is_flag=True, help="Entries of the audit log, too; its new first line signs the cut.")
@click.option("--dry-run", is_flag=True, help="Show what would be destroyed, and change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def purge(
    older_than: str,
    unfinished: bool,
    receipts: bool,
    audit_entries: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Destroy the files of old runs for good.

    The keys go first, and a receipt with counts stays. Runs at work, erasures that are not finished, snapshots of
    syncs and the memory of erased people are never purged.
    """
    from audiencekit.audiences.runs import PurgeOrder, plan_purge, purge as carry_out
    from audiencekit.durations import parse_age

    settings, now = command_settings(), datetime.now(UTC)
    order = PurgeOrder(
        older_than=parse_age(older_than, "--older-than"), unfinished=unfinished, receipts=receipts,
        audit_entries=audit_entries,
    )  # fmt: skip
    if not dry_run and not yes:
        require_terminal()
        insist(plan_purge(order, settings, now).to_text())
        confirm("Destroy this for good?")
    try:
        receipt = (plan_purge if dry_run else carry_out)(order, settings, now)
    except InputOutputFailed as error:
        leave_with(error, as_json=as_json)
    if as_json:
        print_told(receipt.to_json())
    else:
        say(receipt.to_text())


@click.command(cls=Command, examples=("runs --since 7d --audience h1ab2", "runs --since 24h --failed"))
@audience_filter
@click.option("--since", metavar="TIME|AGE", help="Only those that began since then: 2026-11-01, or 7d ago.")
@click.option(
    "--failed", is_flag=True, help="Only those that failed; the exit code is 3 for one, and for no run at all."
)
@json_option
def runs(audience: str | None, since: str | None, failed: bool, as_json: bool) -> None:
    """List the runs and erasures of this machine.

    The newest comes first. With --since and --failed it is the watch over nights: the exit code is 0 when there was a
    run in that time, and none failed.
    """
    from audiencekit.audiences.machine import FORGET
    from audiencekit.audiences.match_rate import failed_runs, list_history
    from audiencekit.audiences.setups.not_begun import audiences_not_begun
    from audiencekit.cli.options import moment_of
    from audiencekit.reporting.text import render_runs, runs_to_json
    from audiencekit.runs.purge import kept_until
    from audiencekit.state.keys import known_state_key

    if failed and since is None:
        raise UsageError("--failed needs a time", hint="give `since=24h`, or another one")
    settings = command_settings()
    found = list_history(settings.state_dir, known_state_key(settings.state_dir, settings.key))
    begin = None if since is None else moment_of(since, "--since", datetime.now(UTC))
    found = _selected(found, audience, begin)
    is_missing = not any(run.get("operation") != FORGET for run in found)
    if failed:
        found = [*_selected(audiences_not_begun(settings.state_dir), audience, begin), *failed_runs(found)]
    if settings.retention is not None:
        found = [{**run, "kept_until": kept_until(settings.state_dir, run, settings.retention)} for run in found]
    if as_json:
        print_json(runs_to_json(found))
    elif not found and not failed:
        tell("no runs yet" if audience is None and since is None else "no run matches")
    elif found:
        say(render_runs(found, width=terminal_width()))
    if failed:
        if is_missing:
            insist(f"no run was begun since {shown(since)}")
        sys.exit(Refused.exit_code if found or is_missing else 0)


def _selected(found: list[dict[str, Any]], audience: str | None, begin: str | None) -> list[dict[str, Any]]:
    """Those of an audience, begun since a moment; each where it is given."""
    if audience is not None:
        audience_id = known_audience_id(audience)
        found = [run for run in found if run.get("audience_id") == audience_id]
    return found if begin is None else [run for run in found if (run.get("started_at") or "") >= begin]


@click.command(cls=Command, examples=("report 20261122-21 --json", "report --all --html audiences.html"))
@run_argument
@click.option("--all", "whole", is_flag=True, help="All audiences and runs of this machine, as one page.")
@html_option
@own_option
@json_option
def report(run: str, whole: bool, html: str | None, share: bool, own: bool, as_json: bool) -> None:
    """Show the report of a run, or the receipt of an erasure.

    RUN is an id, the beginning of one, or `last`.
    """
    from audiencekit.audiences.match_rate import find_in_history
    from audiencekit.runs.reports import read_report, with_repairs
    from audiencekit.state.keys import known_state_key

    require_page(html, share=share, own=own, all=whole)
    if own and (share or not whole):
        raise UsageError("--own is for a page of all runs that is not shared", hint="give --all, without --share")
    settings = command_settings()
    if whole:
        if run != LAST or as_json:
            raise UsageError("--all is for a page, of all runs", hint="give neither RUN nor --json")
        write_machine_page(str(html), settings, is_floored=not own)
        return
    run_id, is_erasure = find_in_history(settings.state_dir, run)
    if is_erasure:
        if html is not None:
            raise UsageError("an erasure has a receipt, and no page")
        from audiencekit.cli.erasure import show_receipt

        show_receipt(run_id, as_json=as_json)
        return
    try:
        document = read_report(settings.state_dir, run_id, known_state_key(settings.state_dir, settings.key))
        document = with_repairs(settings.state_dir, document)
    except InputOutputFailed as error:
        if error.document is None:
            raise
        leave_with(error, as_json=as_json)
    if html is not None:
        write_report_page(html, document, settings, share=share)
    print_report(document, as_json=as_json, details=True)


@click.command("open", cls=Command, examples=("open", "open --no-browser --own"))
@click.option("--no-browser", is_flag=True, help="Write the page, and open no browser.")
@own_option
def open_page(no_browser: bool, own: bool) -> None:
    """Open a page of all audiences and runs of this machine.

    It says what to do next. It is kept in the state directory, and asks no network.
    """
    from audiencekit.cli.browser import open_address
    from audiencekit.state.directory import make_directory

    settings = command_settings()
    path = make_directory(settings.state_dir) / PAGE
    write_machine_page(str(path), settings, is_floored=not own)
    if not no_browser and not open_address(path.as_uri()):
        tell("no browser could be opened here: open the file with one")
