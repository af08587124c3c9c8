"""What earlier runs of this machine may still do to a target: an Update whose answer was lost can be applied late."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from audiencekit.delivery.journal.schema import JOURNAL
from audiencekit.delivery.runs import RUNS
from audiencekit.errors import InputOutputFailed, ResumeRefused
from audiencekit.limits import OUTAGE_PATIENCE_SECONDS, SETTLE_SECONDS
from audiencekit.preparation.target import Target
from audiencekit.runs.kept import opened_journal

_NOTHING_SENT: Final = frozenset({"no_journal", "not_begun"})

# Seconds until nothing that was sent to a target before can be applied any more.
Doubts = Callable[[Target], float]


def doubts_of_runs(state_dir: Path, account_id: str, now: Callable[[], float]) -> Doubts:
    """Looks into the journals of the runs that were at work lately, with every call anew.

    To be asked under the lock of the target, when no run can be at work on it. `now` is in epoch seconds.
    """

    def seconds_left(target: Target) -> float:
        return max((_left(path, account_id, target, now()) for path in _journals(state_dir)), default=0.0)

    return seconds_left


def _journals(state_dir: Path) -> list[Path]:
    try:
        return [Path(entry.path) / JOURNAL for entry in os.scandir(state_dir / RUNS)]
    except FileNotFoundError:
        return []


def _left(path: Path, account_id: str, target: Target, now: float) -> float:
    """Seconds that a run's last word is too young by, when it left something in doubt."""
    try:
        age = now - path.stat().st_mtime
    except OSError:
        return 0.0
    if age >= SETTLE_SECONDS + OUTAGE_PATIENCE_SECONDS:
        return 0.0
    return max(0.0, _doubted_seconds(path.parent, account_id, target) - age)


def _doubted_seconds(directory: Path, account_id: str, target: Target) -> float:
    """For how long after its last word something of the run may still be applied to the target."""
    try:
        with opened_journal(directory) as journal:
            facts, sums = journal.facts(), journal.sums()
    except ResumeRefused as refusal:
        return 0.0 if refusal.reason in _NOTHING_SENT else SETTLE_SECONDS
    except InputOutputFailed:
        return SETTLE_SECONDS
    if (facts.account_id, facts.target) != (account_id, target):
        return 0.0
    if sums.unknown:  # it may have tried again and again before it was killed, which no journal says
        return SETTLE_SECONDS + OUTAGE_PATIENCE_SECONDS
    return SETTLE_SECONDS if sums.attempts - sums.rate_limited > sums.confirmed else 0.0
