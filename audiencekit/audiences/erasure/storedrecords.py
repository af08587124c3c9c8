"""Every file of a state directory in which records of people can stand: snapshots, noted changes, kept spools."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from audiencekit.limits import SNAPSHOT_WHOLE_DAYS
from audiencekit.machine.keptspool import KeptSpool
from audiencekit.machine.keys import SPOOL, StateKey, SubKey
from audiencekit.personal import HashedRecords
from audiencekit.preparation.chunks import RecordChunk, from_chunk
from audiencekit.runs.purge.removal import leftovers, name_of
from audiencekit.runs.resumption import KEPT
from audiencekit.runs.store import RUNS, RunStore
from audiencekit.snapshots.changes import Changes
from audiencekit.snapshots.files import PARTS
from audiencekit.snapshots.store import SnapshotStore

_BY_SYNC: Final = f"the next sync takes them out of the audience, a sync {SNAPSHOT_WHOLE_DAYS} days later of the file"


@dataclass(frozen=True, slots=True)
class StoredRecords:
    """One file. `kind` is snapshot, changes or spool; `name` the audience or the run; `removal` how they leave it.

    `batches` reads its records, and raises InputOutputFailed or SnapshotRefused for a damaged file.
    """

    kind: str
    name: str
    batches: Callable[[], Iterator[HashedRecords]]
    removal: str


def stored_records(state_dir: Path, key: StateKey) -> Iterator[StoredRecords]:
    """All of them. The erasures' own sealed keys are no records: they go when the erasure is complete."""
    for name, store in SnapshotStore.all_of(state_dir, key):
        if store.exists():
            yield StoredRecords("snapshot", name, partial(_members, store), _BY_SYNC)
        if os.path.lexists(store.changes_path):
            yield StoredRecords("changes", name, partial(_changed, store), _BY_SYNC)
    runs = RunStore(state_dir)
    for run_id in runs.ids():
        path = runs.directory(run_id) / KEPT
        if os.path.lexists(path):
            batches = partial(_kept, path, key.derive(SPOOL, run_id))
            yield StoredRecords("spool", run_id, batches, "`audiencekit resume` refuses to send them")
    for aside in leftovers(state_dir / RUNS):
        if os.path.lexists(aside / KEPT):
            batches = partial(_kept, aside / KEPT, key.derive(SPOOL, name_of(aside)))
            yield StoredRecords("spool", name_of(aside), batches, "the next `audiencekit purge` removes it")


def _members(store: SnapshotStore) -> Iterator[HashedRecords]:
    with contextlib.closing(store.open()) as snapshot:
        for part in range(PARTS):
            yield from snapshot.stored(part)


def _changed(store: SnapshotStore) -> Iterator[HashedRecords]:
    changes = Changes.open(store.changes_path, store.spool_key())
    if changes is not None:
        with contextlib.closing(changes):
            for _, _, records in changes.chunks():
                yield records


def _kept(path: Path, key: SubKey) -> Iterator[HashedRecords]:
    """The records of a spool: of each batch the first of two chunks, and behind them all one on the source."""
    with KeptSpool.open(path, key) as spool:
        for number in range((len(spool) - 1) // 2):
            yield from_chunk(RecordChunk(spool.read(number)))
