"""Which runs last changed before a time, and of what kind each is: by it a purge takes or leaves them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from audiencekit.machine.keys import StateKey
from audiencekit.preparation.plantimes import format_time
from audiencekit.runs.journal.refusals import NOTHING_SENT
from audiencekit.runs.locks import at_work
from audiencekit.runs.purge.removal import leftovers
from audiencekit.runs.store import RUNS, RunStore
from audiencekit.runs.storedreports import summary_of

COMPLETE, REFUSED, NOT_BEGUN, NOT_RESUMABLE = "complete", "refused", "not_begun", "not_resumable"
RESUMABLE, DAMAGED, RUNNING, LEFT = "resumable", "damaged", "running", "leftovers"
# Nothing can go on with these; with those a resumption could, once a damaged journal was restored.
ENDED: Final = (COMPLETE, REFUSED, NOT_BEGUN, NOT_RESUMABLE)
UNFINISHED: Final = (RESUMABLE, DAMAGED)


@dataclass(frozen=True, slots=True)
class Expired:
    """A directory or file that is to go, its kind, and when it last changed, in epoch seconds (0 where unknown)."""

    path: Path
    kind: str
    changed_at: float


@dataclass(frozen=True, slots=True)
class PurgeCandidates:
    """The things that are to go, oldest first, and how many as old are kept, by kind."""

    expired: list[Expired] = field(default_factory=list)
    kept: Counter[str] = field(default_factory=Counter)


def find_runs(
    state_dir: Path,
    before: float,
    key: StateKey | None = None,
    *,
    unfinished: bool = False,
    is_over: Callable[[], bool] = lambda: False,
) -> PurgeCandidates:
    """The runs that last changed before `before` (epoch seconds), and what a killed purge has left.

    With `key` the journals of unfinished ones are checked. The search ends early when `is_over`. Raises
    InputOutputFailed when the runs cannot be listed.
    """
    runs = state_dir / RUNS
    found = PurgeCandidates([Expired(path, LEFT, 0.0) for path in leftovers(runs)])
    changes = RunStore(state_dir).last_changes()
    aged = sorted((changed_at, run_id) for run_id, changed_at in changes.items() if changed_at < before)
    busy = at_work(state_dir, {run_id for _, run_id in aged})
    for changed_at, run_id in aged:
        if is_over():
            break
        kind = RUNNING if run_id in busy else kind_of(summary_of(state_dir, run_id, key))
        if kind in ENDED or (unfinished and kind in UNFINISHED):
            found.expired.append(Expired(runs / run_id, kind, changed_at))
        else:
            found.kept[kind] += 1
    return found


def kind_of(run: Mapping[str, Any]) -> str:
    """The kind of a run, from its entry in the list of runs."""
    if run["running"]:
        return RUNNING
    if run["state"] in (COMPLETE, REFUSED):
        return str(run["state"])
    if "journal" in run:
        return NOT_BEGUN if run["journal"] in NOTHING_SENT else DAMAGED
    return RESUMABLE if run["resumable"] or "unknown_destination" in run else NOT_RESUMABLE


def kept_until(state_dir: Path, run: Mapping[str, Any], retention: timedelta) -> str | None:
    """When `run`, an entry in the list of runs, is past the retention; None for one that does not go by itself."""
    directory = state_dir / RUNS / str(run["run_id"])
    if run.get("operation") == "forget" or kind_of(run) not in ENDED:
        return None
    try:
        changed_at = datetime.fromtimestamp(directory.stat().st_mtime, UTC)
        return format_time(changed_at + retention)
    except (OSError, OverflowError):  # it was purged meanwhile; or never
        return None
