"""What earlier runs of this machine may still do to a target: an Update whose answer was lost can be applied late."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from audiencekit.delivery.journal.moments import seconds_in_the_past, this_moment
from audiencekit.delivery.journal.schema import JOURNAL
from audiencekit.delivery.runs import RUNS
from audiencekit.errors import InputOutputFailed, ResumeRefused
from audiencekit.limits import EXCHANGE_TIMEOUT_SECONDS, SETTLE_SECONDS
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
    """Seconds until nothing that a run left in doubt can be applied to the target any more."""
    try:
        age = now - path.stat().st_mtime
    except OSError:
        return 0.0
    try:
        with opened_journal(path.parent) as journal:
            facts, departures = journal.facts(), journal.departures()
    except ResumeRefused as refusal:
        return 0.0 if refusal.reason in _NOTHING_SENT else max(0.0, SETTLE_SECONDS - age)
    except InputOutputFailed:
        return max(0.0, SETTLE_SECONDS - age)
    if (facts.account_id, facts.target) != (account_id, target):
        return 0.0
    # Of another start of the machine a departure tells nothing; but it stands in the journal before bytes leave, so
    # that none left later than the file was written.
    elapsed = seconds_in_the_past(departures, this_moment()) or age - EXCHANGE_TIMEOUT_SECONDS
    return max(0.0, SETTLE_SECONDS - max(0.0, elapsed))
