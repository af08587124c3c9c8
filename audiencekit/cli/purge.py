"""`purge`: destroy the files of old runs."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from audiencekit.cli.commandhelp import Command
from audiencekit.cli.commandsettings import command_settings
from audiencekit.cli.confirmation import confirm, require_terminal
from audiencekit.cli.options import json_option
from audiencekit.cli.output import insist, leave_with, print_told, say
from audiencekit.errors import InputOutputFailed


@click.command(cls=Command, examples=("purge --older-than 30d --dry-run", "purge --older-than 30d --yes"))
@click.option("--older-than", required=True, metavar="AGE", help="Age since the last change: 30d, 4w, 12h.")
@click.option("--unfinished", is_flag=True, help="Unfinished runs, too; they cannot be resumed afterwards.")
@click.option("--receipts", is_flag=True, help="Receipts of finished erasures, too, except the last.")
@click.option("--dry-run", is_flag=True, help="Show what would be destroyed, and change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def purge(older_than: str, unfinished: bool, receipts: bool, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Destroy the files of old runs for good.

    The keys go first, and a receipt with counts stays. Runs at work, erasures that are not finished, snapshots of
    syncs and the memory of erased people are never purged.
    """
    from audiencekit.audiences.runs import PurgeOrder, plan_purge, purge as carry_out
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
        print_told(receipt.to_json())
    else:
        say(receipt.to_text())
