"""Invented people as members and as records: each is the name of an email, the name of a handle, or both."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from audiencekit.audiences.sync.removals import as_records
from audiencekit.personal import HashedRecords
from audiencekit.selection.partitions import part_of
from audiencekit.selection.tags import Tagger, tags_of_sets
from audiencekit.snapshots.facts import SnapshotFacts
from audiencekit.snapshots.files import PARTS, Index, Snapshot
from audiencekit.snapshots.marks import Marks
from audiencekit.snapshots.members import MEMBER_SCHEMA, chosen, days_of
from audiencekit.snapshots.store import SnapshotStore
from audiencekit.state.keys import find_state_key
from tests.audiences.sync.service import ACCOUNT, AUDIENCE, Person

TAGGER = Tagger()


def members(days: Mapping[Person, int]) -> HashedRecords:
    """MEMBER_SCHEMA, each with its day."""
    rows = [{"day": day, "email": _hashes(mail), "handle": _hashes(name)} for (mail, name), day in days.items()]
    return HashedRecords(pa.RecordBatch.from_pylist(rows, schema=MEMBER_SCHEMA))


def records(people: Iterable[Person], *, deletes: bool = False) -> HashedRecords:
    """RECORD_SCHEMA, from row 1 on."""
    return as_records(members(dict.fromkeys(people, 0)), first_row=1, deletes=deletes)


def names(batch: HashedRecords, among: Sequence[Person]) -> list[Person]:
    """Return the people in a batch of either schema, of those in `among`."""
    known = {digest: text for person in among for text in person if text for digest in _hashes(text) or ()}
    columns = [batch.unwrap().column(kind).to_pylist() for kind in ("email", "handle")]
    found = [["".join(known[value] for value in cell or ()) for cell in column] for column in columns]
    return list(zip(*found, strict=True))


def days(batch: HashedRecords, among: Sequence[Person]) -> dict[Person, int]:
    """The day of each member."""
    return dict(zip(names(batch, among), days_of(batch).tolist(), strict=True))


class Known(Snapshot):
    """A snapshot that is in no file."""

    def __init__(self, days: Mapping[Person, int], tagger: Tagger = TAGGER) -> None:
        counts = {str(day): list(days.values()).count(day) for day in set(days.values())}
        super().__init__(SnapshotFacts(account_id=ACCOUNT, audience_id=AUDIENCE, serial=1, days=counts))
        self._members = members(days)
        tags = tags_of_sets(self._members, tagger)
        self._marks, self._parts = Marks.of(tags), part_of(tags)

    def index(self, part: int) -> Index:
        """Those of one part."""
        assert part in range(PARTS)
        own = np.flatnonzero(self._parts == part)
        own = own[self._marks.take(own).order()]
        return Index(self._marks.take(own), days_of(self._members)[own], own, len(self._parts))

    def chosen(self, part: int, index: Index) -> HashedRecords:
        """Some of them."""
        return chosen(self._members, index.rows)


def store(directory: Path) -> SnapshotStore:
    """Where the snapshot of the audience lives, ready to be written."""
    found = SnapshotStore(directory, ACCOUNT, AUDIENCE, find_state_key(directory, None))
    found.prepare()
    return found


def _hashes(text: str) -> list[bytes] | None:
    return [hashlib.sha256(text.encode()).digest()] if text else None
