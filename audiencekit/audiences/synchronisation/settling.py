"""The changes of a run -> a new snapshot: right after the run, or in the next one when a kill came between."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from audiencekit.errors import InputOutputFailed, ResumeRefused
from audiencekit.machine.keys import StateKey
from audiencekit.machine.spool import Spool
from audiencekit.personal import HashedRecords
from audiencekit.runs.journal.file import JournalFile
from audiencekit.runs.journal.schema import JOURNAL
from audiencekit.runs.store import RunStore
from audiencekit.snapshots.changes import Changes, Effects, Outcomes, Successor, is_old
from audiencekit.snapshots.facts import SnapshotFacts, untrusted
from audiencekit.snapshots.files import Snapshot
from audiencekit.snapshots.members import day_of
from audiencekit.snapshots.store import SnapshotStore


def settle_left(store: SnapshotStore, state_dir: Path, key: StateKey, now: datetime) -> bool:
    """Bring what an earlier run has changed into the snapshot; whether there was anything.

    Raises SnapshotRefused when the files are damaged or do not belong together.
    """
    store.prepare()
    try:
        changes = Changes.open(store.changes_path, store.spool_key())
    except InputOutputFailed:
        raise untrusted() from None
    if changes is None:
        return False
    with contextlib.closing(changes), contextlib.closing(store.open()) as snapshot:
        if changes.facts.serial > snapshot.facts.serial:
            raise untrusted()
        if changes.facts.serial == snapshot.facts.serial:
            _apply(store, snapshot, changes, _outcomes_of_run(changes, RunStore(state_dir), key), now)
    store.remove_changes()
    return True


def settle_run(store: SnapshotStore, journal: JournalFile, run_id: str, now: datetime) -> None:
    """The same, for a run whose `journal` is open; when it has changed nothing, what is due otherwise."""
    changes = Changes.open(store.changes_path, store.spool_key())
    if changes is None:
        write_whole_if_due(store, now)
        return
    with contextlib.closing(changes), contextlib.closing(store.open()) as snapshot:
        if changes.facts.run_id != run_id:
            return  # left by another, which this run did not come as far as to settle
        _apply(store, snapshot, changes, _outcomes_of(journal), now)
    store.remove_changes()


def _outcomes_of(journal: JournalFile) -> Outcomes:
    states = journal.states()
    return Outcomes(
        confirmed=frozenset(number for number, state in states.items() if state == "confirmed"),
        touched=frozenset(number for number, state in states.items() if state in ("intended", "unknown")),
        refused=frozenset(refused.row for refused in journal.sums().refused),
    )


def _outcomes_of_run(changes: Changes, runs: RunStore, key: StateKey) -> Outcomes:
    """The outcomes in the run's journal; where that cannot be trusted, everything may have been applied."""
    run_id = changes.facts.run_id
    try:
        with contextlib.closing(JournalFile.open(runs.directory(run_id) / JOURNAL)) as journal:
            journal.check_by(run_id, key)
            return _outcomes_of(journal)
    except (ResumeRefused, InputOutputFailed):
        return Outcomes(frozenset(), frozenset(map(int, changes.facts.requests)))


def _apply(store: SnapshotStore, snapshot: Snapshot, changes: Changes, outcomes: Outcomes, now: datetime) -> None:
    if outcomes.reached:
        facts = _facts_after(snapshot.facts, changes, outcomes, now.timestamp())
        _succeed(store, snapshot, changes.effects(outcomes), facts, now)


def write_whole_if_due(store: SnapshotStore, now: datetime) -> None:
    """Write all members anew when that was last done long ago, although nothing has changed.

    Who has gone since then leaves the files by it. Raises SnapshotRefused.
    """
    with contextlib.closing(store.open()) as snapshot:
        if snapshot.recent is not None and is_old(snapshot.facts, now.timestamp()):
            _succeed(store, snapshot, (), snapshot.facts, now)


def _succeed(
    store: SnapshotStore, snapshot: Snapshot, found: Iterable[HashedRecords], facts: SnapshotFacts, now: datetime
) -> None:
    with Spool(store.directory) as aside:
        effects = Effects(aside, store.tagger())
        for effect in found:
            effects.add(effect)
        effects.close()
        Successor(snapshot, effects, lapsed_before=day_of(now) - 1).write(store, facts, now.timestamp())


def _facts_after(facts: SnapshotFacts, changes: Changes, outcomes: Outcomes, now: float) -> SnapshotFacts:
    reached = changes.facts.verbs_of(outcomes.reached)
    return replace(
        facts,
        additions_at=now if False in reached else facts.additions_at,
        removals_at=now if True in reached else facts.removals_at,
    )
