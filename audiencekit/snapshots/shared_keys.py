"""Identifiers that many members of an audience under sync share: a Delete by one takes out all of these members."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import numpy as np

from audiencekit.errors import PlanRefused, SnapshotRefused
from audiencekit.personal import HashedRecords, guarded
from audiencekit.selection.shared_values import PeopleOfValues, pairs_of
from audiencekit.selection.tag_arrays import TAG, Tags
from audiencekit.selection.tags import Tagger
from audiencekit.snapshots.files import PARTS
from audiencekit.snapshots.store import SnapshotStore
from audiencekit.state.spool import Spool

_MOST_ASKED: Final = 1_000_000  # tags at a time: 16 MB, and one reading of the snapshot


def refuse_shared(records: Iterable[HashedRecords], most: int, store: SnapshotStore, *, hint: str) -> None:
    """Check that no key of `records`, batches of people to be taken out, belongs to more than `most` members.

    Raises PlanRefused, with `hint`, and InputOutputFailed for a snapshot that cannot be read. A snapshot that cannot be
    trusted is not used.
    """
    identifiers = people = 0
    with contextlib.suppress(SnapshotRefused):
        for asked, tagger in _tags_of(records):
            found, members = _count(store, asked, tagger, most)
            identifiers, people = identifiers + found, max(people, members)
    if identifiers:
        stand = "1 identifier stands" if identifiers == 1 else f"{identifiers:,} identifiers stand"
        members_of = f"more than {most} members of audience {store.audience_id}, the most for {people:,}"
        raise PlanRefused(f"{stand} for {members_of}: all of them would be taken out; nothing was sent", hint=hint)


def _count(store: SnapshotStore, asked: Tags, tagger: Tagger, most: int) -> tuple[int, int]:
    """Return how many of `asked` more than `most` members share, and the most members that share one."""
    with Spool(Path(tempfile.gettempdir())) as scratch:
        people = PeopleOfValues(scratch, most)
        with contextlib.closing(store.open()) as snapshot:
            for part in range(PARTS):
                people.add(pairs_of(snapshot.members(part), asked, tagger))
        shared = people.find()
    return len(shared), shared.people


def _tags_of(records: Iterable[HashedRecords]) -> Iterator[tuple[Tags, Tagger]]:
    """Yield the distinct tags of all keys, ascending, some at a time, and the tagger that made them."""
    tagger, waiting = Tagger(), np.zeros(0, dtype=TAG)
    for batch in records:
        waiting = np.unique(np.concatenate([waiting, _tagged(batch, tagger)]))
        if len(waiting) > _MOST_ASKED:
            yield waiting, tagger
            waiting = waiting[:0]
    if len(waiting):
        yield waiting, tagger


@guarded
def _tagged(records: HashedRecords, tagger: Tagger) -> Tags:
    return tagger.tag(records.unwrap()).tags
