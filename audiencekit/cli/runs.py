"""`runs` and `report`: what happened so far; `purge`: what is kept of it goes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

import click

from audiencekit.cli.commandhelp import Command
from audiencekit.cli.commandsettings import command_settings
from audiencekit.cli.connection import confirm, require_terminal
from audiencekit.cli.forget import show_receipt
from audiencekit.cli.options import json_option
from audiencekit.cli.output import insist, leave_with, print_json, say, say_document, tell
from audiencekit.errors import InputOutputFailed

_JOURNALS: Final = {
    "no_journal": "never begun",
    "not_begun": "never begun",
    "damaged": "the journal is damaged: what was confirmed is not known",
    "key": "the journal is of another state key, or was changed: what was confirmed is not known",
    "unreadable": "the journal cannot be read: what was confirmed is not known",
}


@click.command(cls=Command, examples=("runs", "runs --json"))
@json_option
def runs(as_json: bool) -> None:
    """List the runs and erasures of this machine.

    The newest comes first.
    """
    from audiencekit.audiences.history import list_history
    from audiencekit.machine.keys import known_state_key
    from audiencekit.runs.purge.expired import kept_until

    settings = command_settings()
    found = list_history(settings.state_dir, known_state_key(settings.state_dir, settings.key))
    if settings.retention is not None:
        found = [{**run, "kept_until": kept_until(settings.state_dir, run, settings.retention)} for run in found]
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
    """Whether it goes on, or can, and why it cannot when its journal is the reason; until when it is kept."""
    until = f"kept until {run['kept_until']}" if run.get("kept_until") else ""
    if "journal" in run:
        why = _JOURNALS.get(run["journal"], "the journal cannot be trusted: see `audiencekit report`")
        return ", ".join(filter(None, (why, until)))
    return "running" if run["running"] else "resumable" if run["resumable"] else until


def _target(run: dict[str, Any]) -> str:
    """The target of the run, where it is known: a run that was killed early does not say it."""
    from audiencekit.destinations.target import Target

    if "audiences" in run:
        return f"{run['audiences']['settled']:,} of {run['audiences']['known']:,} audiences"
    return str(Target.from_json(run["target"])) if "target" in run else ""


@click.command(cls=Command, examples=("report", "report 20261122-21 --json"))
@click.argument("run", default="last")
@json_option
def report(run: str, as_json: bool) -> None:
    """Show the report of a run, or the receipt of an erasure.

    RUN is an id, the beginning of one, or `last`.
    """
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


@click.command(cls=Command, examples=("purge --older-than 30d --dry-run", "purge --older-than 30d --yes"))
@click.option("--older-than", required=True, metavar="AGE", help="The age from the last change on: 30d, 4w, 12h.")
@click.option("--unfinished", is_flag=True, help="Unfinished runs, too: they can be resumed no more.")
@click.option("--receipts", is_flag=True, help="Receipts of finished erasures, too, apart from the last.")
@click.option("--dry-run", is_flag=True, help="Show what would go, and change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def purge(older_than: str, unfinished: bool, receipts: bool, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Destroy the files of old runs for good.

    The keys go first, and a receipt with counts stays. Runs at work, erasures that are not finished, snapshots of
    syncs and the memory of erased people are never purged.
    """
    from audiencekit.audiences.purging import PurgeOrder, plan_purge, purge as carry_out
    from audiencekit.durations import parse_age

    settings, now = command_settings(), datetime.now(UTC)
    order = PurgeOrder(older_than=parse_age(older_than, "--older-than"), unfinished=unfinished, receipts=receipts)
    if not dry_run and not yes:
        require_terminal()
        insist(plan_purge(order, settings, now).to_text())
        confirm("Destroy this for good?")
    try:
        receipt = (plan_purge if dry_run else carry_out)(order, settings, now)
    except InputOutputFailed as error:
        leave_with(error, as_json=as_json)
    if as_json:
        print_json(receipt.to_json())
    else:
        say(receipt.to_text())
