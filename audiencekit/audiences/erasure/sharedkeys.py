"""Identifiers of people to be erased that many members share: a Delete by one of them takes out all who have it.

Snapshots of audiences under sync know their members. Of other audiences nothing is known here.
"""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

import numpy as np

from audiencekit.errors import PlanRefused, SnapshotRefused
from audiencekit.machine.keys import StateKey
from audiencekit.machine.spool import Spool
from audiencekit.personal import HashedRecords, guarded
from audiencekit.selection.candidates import SharedValues
from audiencekit.selection.sharedvalues import PeopleOfValues, pairs_of
from audiencekit.selection.tags import Tagger, Tags
from audiencekit.snapshots.partsfile import PARTS
from audiencekit.snapshots.store import SnapshotStore

_HINT = (
    "leave them out of the input, or say `shared_values='keep'` to take out all who have one; other identifiers of the"
    " same people take out them alone"
)


def refuse_shared(records: HashedRecords, most: int | None, *, state_dir: Path, account_id: str, key: StateKey) -> None:
    """Return when no key of `records` stands for more than `most` members of an audience under sync.

    With None every key may. Raises PlanRefused, and InputOutputFailed for a snapshot that cannot be read. One that
    cannot be trusted is not asked.
    """
    if most is None:
        return
    for audience_id in SnapshotStore.audiences(state_dir, account_id):
        shared = _shared_among(SnapshotStore(state_dir, account_id, audience_id, key), records, most)
        if len(shared):
            identifiers = "1 identifier stands" if len(shared) == 1 else f"{len(shared):,} identifiers stand"
            members = f"more than {most} members of audience {audience_id}, the most for {shared.people:,}"
            what = f"{identifiers} for {members}: all of them would be taken out; nothing was sent"
            raise PlanRefused(what, hint=_HINT)


def _shared_among(store: SnapshotStore, records: HashedRecords, most: int) -> SharedValues:
    tagger = Tagger()
    asked = _tags_of(records, tagger)
    with Spool(Path(tempfile.gettempdir())) as aside:
        people = PeopleOfValues(aside, most)
        with contextlib.suppress(SnapshotRefused), contextlib.closing(store.open()) as snapshot:
            for part in range(PARTS):
                people.add(pairs_of(snapshot.members(part), asked, tagger))
        return people.find()


@guarded
def _tags_of(records: HashedRecords, tagger: Tagger) -> Tags:
    return np.unique(tagger.tag(records.unwrap()).tags)
