"""`purge`: runs, and files of erasures, that this machine has kept for long enough."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from audiencekit.audiences.erasure.erasurestore import ErasureStore
from audiencekit.audiences.erasure.expired import find_erasures
from audiencekit.errors import AudienceBusy, InputOutputFailed
from audiencekit.machine.keys import known_state_key
from audiencekit.runs.purge.expired import RUNNING, PurgeCandidates, find_runs
from audiencekit.runs.purge.purging import only_purge, receipted, remove_all
from audiencekit.runs.purge.receipt import PurgeReceipt
from audiencekit.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeOrder:
    """Everything that last changed longer ago than `older_than`; unfinished runs and receipts only when asked for.

    A run at work, an erasure that is not finished, snapshots and the memory of erased people never do.
    """

    older_than: timedelta
    unfinished: bool = False
    receipts: bool = False


def plan_purge(order: PurgeOrder, settings: Settings, now: datetime) -> PurgeReceipt:
    """The receipt of a purge that is only planned: nothing is changed. Raises InputOutputFailed."""
    receipt = PurgeReceipt.of(order.older_than, now, "command")
    for found in _find(order, settings, receipt):
        receipt.count(found)
    return receipt


def purge(order: PurgeOrder, settings: Settings, now: datetime) -> PurgeReceipt:
    """The receipt of what went. Raises AudienceBusy while another purge is at work.

    Raises InputOutputFailed when something could not go, with the receipt's JSON as its document: the rest is gone.
    """
    receipt, state_dir = PurgeReceipt.of(order.older_than, now, "command"), settings.state_dir
    with only_purge(state_dir):
        runs, erasures = _find(order, settings, receipt)
        receipt.count(runs)
        receipt.count(erasures)
        with receipted(state_dir, receipt) as failures:
            failures += remove_all(state_dir, receipt, runs.expired)
            failures += _remove_erasures(state_dir, receipt, erasures)
    return receipt


def _find(order: PurgeOrder, settings: Settings, receipt: PurgeReceipt) -> tuple[PurgeCandidates, PurgeCandidates]:
    state_dir, key = settings.state_dir, known_state_key(settings.state_dir, settings.key)
    runs = find_runs(state_dir, receipt.before, key, unfinished=order.unfinished)
    return runs, find_erasures(state_dir, receipt.before, receipts=order.receipts)


def _remove_erasures(state_dir: Path, receipt: PurgeReceipt, found: PurgeCandidates) -> list[InputOutputFailed]:
    """The failures. While an erasure is at work all of them stay: it may be making what looks left."""
    if not found.expired:
        return []
    try:
        with ErasureStore(state_dir).locked():
            return remove_all(state_dir, receipt, found.expired)
    except AudienceBusy:
        receipt.kept[RUNNING] += len(found.expired)
        return []
