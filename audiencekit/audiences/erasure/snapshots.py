"""The snapshot of an audience under sync: erased people leave it as well, so that no renewal brings them back."""

from __future__ import annotations

import contextlib
from datetime import datetime
from functools import partial
from pathlib import Path

from audiencekit.audiences.synchronisation.settling import settle_left
from audiencekit.errors import SnapshotRefused
from audiencekit.machine.keys import StateKey
from audiencekit.selection.forgotten.people import Forgotten
from audiencekit.snapshots.changes import whole_part
from audiencekit.snapshots.files import PARTS, NewParts, Snapshot
from audiencekit.snapshots.store import SnapshotStore


def leave_snapshot(
    state_dir: Path, account_id: str, audience_id: str, *, key: StateKey, forgotten: Forgotten, now: datetime
) -> None:
    """Take all people that `forgotten` holds out of the snapshot, if there is one. Called under the audience's lock.

    It is written anew at once, so that nothing of them stays on the disk. What an earlier run has left is brought into
    it first. One that cannot be trusted stays as it is: nothing is sent
    from it before it is built anew, which heeds the memory. Raises InputOutputFailed.
    """
    store = SnapshotStore(state_dir, account_id, audience_id, key)
    if not store.exists():
        return
    with contextlib.suppress(SnapshotRefused):
        settle_left(store, state_dir, key, now)
        with contextlib.closing(store.open()) as snapshot:
            if any(_holds_any(snapshot, part, forgotten) for part in range(PARTS)):
                parts = partial(_others, snapshot, forgotten)
                store.write_whole(parts, snapshot.facts, now.timestamp())


def _holds_any(snapshot: Snapshot, part: int, forgotten: Forgotten) -> bool:
    """Whether anyone of one part is to leave: of those who have gone, but still stand in the file, too."""
    return any(forgotten.holds_any(members).any() for members in snapshot.stored(part))


def _others(snapshot: Snapshot, forgotten: Forgotten, part: int) -> NewParts:
    index = snapshot.index(part)
    others = index.take(~forgotten.holds_any(snapshot.chosen(part, index)))
    return whole_part(others.marks, snapshot.chosen(part, others))
