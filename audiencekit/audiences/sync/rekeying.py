"""Write the snapshot of one state directory into another one under another state key, in another order."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from audiencekit.audiences.sync.stamp import KnownStamps
from audiencekit.snapshots.changes import Effects, NextSnapshot
from audiencekit.snapshots.files import PARTS
from audiencekit.snapshots.members import DOUBTFUL
from audiencekit.snapshots.store import SnapshotStore
from audiencekit.state.keys import StateKey
from audiencekit.state.spool import Spool

Home: TypeAlias = tuple[Path, StateKey]


def write_under(before: Home, after: Home, account_id: str, audience_id: str, now: datetime) -> None:
    """Write all members of the snapshot of `before` into `after`, with the next serial. Raises SnapshotRefused."""
    old = SnapshotStore(before[0], account_id, audience_id, before[1])
    new = SnapshotStore(after[0], account_id, audience_id, after[1])
    if not old.exists():
        return
    new.prepare()
    with contextlib.closing(old.open()) as snapshot, Spool(new.directory) as scratch:
        effects = Effects(scratch, new.tagger())
        for part in range(PARTS):
            effects.add(snapshot.members(part))
        effects.close()
        facts = snapshot.facts
        NextSnapshot(new.unknown(), effects, lapsed_before=DOUBTFUL).write(new, facts, now.timestamp())
    stamps = KnownStamps.read(old.directory, old.spool_key())
    if stamps is not None:
        replace(stamps, serial=stamps.serial + 1).write(new.directory, new.spool_key())
