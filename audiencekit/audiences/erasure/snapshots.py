"""The snapshot of an audience under sync: erased people leave it as well, so that no renewal brings them back."""

from __future__ import annotations

import contextlib
from datetime import datetime
from pathlib import Path

import numpy as np

from audiencekit.audiences.synchronisation.members import chosen
from audiencekit.audiences.synchronisation.settling import settle_left
from audiencekit.audiences.synchronisation.snapshot import PARTS, Snapshot, SnapshotStore
from audiencekit.delivery.runs import RunStore
from audiencekit.errors import SnapshotRefused
from audiencekit.machine.keys import StateKey
from audiencekit.personal import HashedRecords
from audiencekit.planning.forgotten import Forgotten


def leave_snapshot(
    state_dir: Path, account_id: str, audience_id: str, *, key: StateKey, forgotten: Forgotten, now: datetime
) -> None:
    """Take everybody whom `forgotten` holds out of the snapshot, if there is one. Called under the audience's lock.

    What an earlier run has left is brought into it first. One that cannot be trusted stays as it is: nothing is sent
    from it before it is built anew, which heeds the memory. Raises InputOutputFailed.
    """
    store = SnapshotStore(state_dir, account_id, audience_id, key)
    if not store.exists():
        return
    with contextlib.suppress(SnapshotRefused):
        settle_left(store, RunStore(state_dir), key, now)
        with contextlib.closing(store.open()) as snapshot:
            if any(forgotten.holds_any(snapshot.members(part)).any() for part in range(PARTS)):
                store.write(lambda part: _others(snapshot, part, forgotten), snapshot.facts)


def _others(snapshot: Snapshot, part: int, forgotten: Forgotten) -> HashedRecords:
    members = snapshot.members(part)
    return chosen(members, np.flatnonzero(~forgotten.holds_any(members)))
