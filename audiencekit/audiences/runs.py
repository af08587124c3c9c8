"""Runs of the account: named, resumed, purged."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from audiencekit.audiences.erasure.forgetting import resume_erasure_async
from audiencekit.audiences.erasure.receipt import ErasureStore, Receipt, find_erasures
from audiencekit.audiences.match_rate import find_resumable
from audiencekit.audit.log import AuditLog
from audiencekit.delivery.limiter import RateLimiter
from audiencekit.errors import AudienceBusy, InputOutputFailed
from audiencekit.pipeline import resume_async as resume_run_async
from audiencekit.process.cancellation import cancellable
from audiencekit.process.event_loop import blocking
from audiencekit.reporting.progress import Progress
from audiencekit.reporting.report import Report
from audiencekit.runs.purge import (
    ENTRIES,
    RUNNING,
    PurgeCandidates,
    PurgeReceipt,
    find_runs,
    find_sealed_rejections,
    only_purge,
    receipted,
    remove_all,
)
from audiencekit.settings import Settings, load_settings
from audiencekit.state.keys import known_state_key

# --- `purge`: old runs, and old files of erasures, of this machine ---


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeOrder:
    """The things to purge: all that last changed longer ago than `older_than`, and sealed rejections after 30 days.

    Unfinished runs, receipts and entries of the audit log are purged only if requested. A run at work, an unfinished
    erasure, snapshots and the memory of erased people are never purged.
    """

    older_than: timedelta
    unfinished: bool = False
    receipts: bool = False
    audit_entries: bool = False


def plan_purge(order: PurgeOrder, settings: Settings, now: datetime) -> PurgeReceipt:
    """Return the receipt of a planned purge: nothing is changed. Raises InputOutputFailed."""
    receipt = PurgeReceipt.of(order.older_than, now, "command")
    for found in _find(order, settings, receipt):
        receipt.count(found)
    _count_entries(_log_to_cut(order, settings), receipt)
    return receipt


def purge(order: PurgeOrder, settings: Settings, now: datetime) -> PurgeReceipt:
    """Purge, and return the receipt. Raises AudienceBusy while another purge is at work.

    Raises InputOutputFailed when something could not be removed, with the receipt's JSON as its document: the rest is
    gone.
    """
    receipt, state_dir = PurgeReceipt.of(order.older_than, now, "command"), settings.state_dir
    with only_purge(state_dir):
        runs, erasures, sealed = _find(order, settings, receipt)
        for found in (runs, erasures, sealed):
            receipt.count(found)
        log = _log_to_cut(order, settings)
        _count_entries(log, receipt)
        with receipted(state_dir, receipt) as failures:
            failures += remove_all(state_dir, receipt, runs.expired)
            failures += _remove_erasures(state_dir, receipt, erasures)
            failures += remove_all(state_dir, receipt, sealed.expired)
            if log is not None:
                receipt.removed[ENTRIES] += log.cut(receipt.before_text)
    return receipt


def _log_to_cut(order: PurgeOrder, settings: Settings) -> AuditLog | None:
    return AuditLog.existing(settings) if order.audit_entries else None


def _count_entries(log: AuditLog | None, receipt: PurgeReceipt) -> None:
    if log is not None:
        receipt.expired[ENTRIES] += log.count_before(receipt.before_text)


def _find(
    order: PurgeOrder, settings: Settings, receipt: PurgeReceipt
) -> tuple[PurgeCandidates, PurgeCandidates, PurgeCandidates]:
    state_dir, key = settings.state_dir, known_state_key(settings.state_dir, settings.key)
    runs = find_runs(state_dir, receipt.before, key, unfinished=order.unfinished)
    erasures = find_erasures(state_dir, receipt.before, receipts=order.receipts)
    return runs, erasures, find_sealed_rejections(state_dir, receipt)


def _remove_erasures(state_dir: Path, receipt: PurgeReceipt, found: PurgeCandidates) -> list[InputOutputFailed]:
    """Return the failures. During an erasure all of them stay: it may be making the files that look left over."""
    if not found.expired:
        return []
    try:
        with ErasureStore(state_dir).locked():
            return remove_all(state_dir, receipt, found.expired)
    except AudienceBusy:
        receipt.kept[RUNNING] += len(found.expired)
        return []


# --- `resume` from a program: one function finishes every run and erasure of this machine ---


@cancellable
async def resume_async(
    run: str,
    *,
    settings: Settings | None = None,
    progress: Progress | None = None,
    limiter: RateLimiter | None = None,
    new_address: bool = False,
) -> Report | Receipt:
    """Finish a run or an erasure that ended early; return its report, or its receipt.

    `run` is an id, the unique beginning of one, or `last`, the only run or erasure that can be resumed. A complete one
    whose id is given is not changed. It continues at the account and the address of its beginning; with `new_address`
    the service has moved. Raises UsageError when `run` fits none or several, and the errors of
    `audiencekit.pipeline.resume_async` and `resume_erasure_async`.
    """
    settings = settings or load_settings()
    run_id, is_erasure = find_resumable(settings.state_dir, run, known_state_key(settings.state_dir, settings.key))
    given: dict[str, Any] = {"settings": settings, "progress": progress, "limiter": limiter, "new_address": new_address}
    if is_erasure:
        return await resume_erasure_async(run_id, **given)
    return await resume_run_async(run_id, **given)


resume = blocking(resume_async)
