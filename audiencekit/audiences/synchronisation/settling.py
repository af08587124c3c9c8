"""What a run has changed -> a new snapshot: right after the run, or in the next one when a kill came between."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from typing import Final

import numpy as np

from audiencekit.audiences.synchronisation.changes import Changes, Outcomes
from audiencekit.audiences.synchronisation.members import (
    NO_MEMBERS,
    MemberChunk,
    count_members,
    day_of,
    from_bytes,
    joined,
    merged,
    to_bytes,
)
from audiencekit.audiences.synchronisation.snapshot import PARTS, Snapshot, SnapshotFacts, SnapshotStore, untrusted
from audiencekit.delivery.journal.file import JournalFile
from audiencekit.delivery.journal.schema import JOURNAL
from audiencekit.delivery.runs import RunStore
from audiencekit.delivery.spool import Spool
from audiencekit.errors import InputOutputFailed, ResumeRefused
from audiencekit.machine.keys import DIGESTS, StateKey
from audiencekit.personal import HashedRecords, guarded
from audiencekit.preparation.partitions import part_of
from audiencekit.preparation.tags import Tagger, tags_of_sets

_GATHERED: Final = 32_768  # changes that are put in order at a time
_PUT_ASIDE: Final = 1_024  # of one part


def settle_left(store: SnapshotStore, runs: RunStore, key: StateKey, now: datetime) -> bool:
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
            _apply(store, snapshot, changes, _outcomes_of_run(changes, runs, key), now)
    store.remove_changes()
    return True


def settle_run(store: SnapshotStore, journal: JournalFile, run_id: str, now: datetime) -> None:
    """The same, for a run whose `journal` is open; nothing when it has not come as far as to change anything."""
    changes = Changes.open(store.changes_path, store.spool_key())
    if changes is None:
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
    """What the run's journal says; where that cannot be trusted, everything may have been applied."""
    run_id = changes.facts.run_id
    try:
        with contextlib.closing(JournalFile.open(runs.directory(run_id) / JOURNAL)) as journal:
            journal.check(run_id, key.derive(DIGESTS, run_id))
            return _outcomes_of(journal)
    except (ResumeRefused, InputOutputFailed):
        return Outcomes(frozenset(), frozenset(map(int, changes.facts.requests)))


def _apply(store: SnapshotStore, snapshot: Snapshot, changes: Changes, outcomes: Outcomes, now: datetime) -> None:
    if not outcomes.reached:
        return
    tagger, lapsed_before = store.tagger(), day_of(now) - 1
    with Spool(store.directory) as aside:
        effects = _Effects(aside, tagger)
        for effect in changes.effects(outcomes):
            effects.add(effect)
        effects.close()
        store.write(
            lambda part: merged(snapshot.members(part), effects.members(part), tagger, lapsed_before=lapsed_before),
            _facts_after(snapshot.facts, changes, outcomes, now.timestamp()),
        )


def _facts_after(facts: SnapshotFacts, changes: Changes, outcomes: Outcomes, now: float) -> SnapshotFacts:
    reached, touched = (changes.facts.verbs_of(those) for those in (outcomes.reached, outcomes.touched))
    return replace(
        facts,
        additions_at=now if False in reached else facts.additions_at,
        removals_at=now if True in reached else facts.removals_at,
        updates_doubted_at=now if False in touched else facts.updates_doubted_at,
        deletes_doubted_at=now if True in touched else facts.deletes_doubted_at,
    )


class _Effects:
    """Members, as they come, by the part that their tag belongs to. What does not fit a fixed memory goes aside."""

    def __init__(self, aside: Spool, tagger: Tagger) -> None:
        self._aside, self._tagger = aside, tagger
        self._gathered: list[HashedRecords] = []
        self._waiting: list[list[HashedRecords]] = [[] for _ in range(PARTS)]
        self._chunks: list[list[int]] = [[] for _ in range(PARTS)]

    def add(self, members: HashedRecords) -> None:
        """Take in some."""
        self._gathered.append(members)
        if sum(count_members(each) for each in self._gathered) >= _GATHERED:
            self.close()

    def close(self) -> None:
        """All have come that come."""
        if not self._gathered:
            return
        members, self._gathered = joined(self._gathered), []
        for part, own in _split(members, self._tagger):
            waiting = self._waiting[part]
            waiting.append(own)
            if sum(count_members(each) for each in waiting) >= _PUT_ASIDE:
                self._chunks[part].append(_put_aside(self._aside, to_bytes(joined(waiting))))
                self._waiting[part] = []

    def members(self, part: int) -> HashedRecords:
        """Those of one part. May be called from any thread."""
        chunks = [from_bytes(MemberChunk(self._aside.read(number))) for number in self._chunks[part]]
        return joined([NO_MEMBERS, *chunks, *self._waiting[part]])


@guarded
def _split(members: HashedRecords, tagger: Tagger) -> list[tuple[int, HashedRecords]]:
    batch = members.unwrap()
    parts = part_of(tags_of_sets(members, tagger))
    order = np.argsort(parts, kind="stable")
    ends = np.cumsum(np.bincount(parts, minlength=PARTS)).tolist()
    batch = batch.take(order)
    found = [(part, start, end) for part, (start, end) in enumerate(pairwise([0, *ends])) if end > start]
    return [(part, HashedRecords(batch.slice(start, end - start))) for part, start, end in found]


@guarded
def _put_aside(aside: Spool, chunk: MemberChunk) -> int:
    return aside.append(chunk.unwrap())
