"""The records that a sync sends of all that it has read: additions and renewals, removals, then people put back."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from audiencekit.audiences.synchronisation.plan.difference import Difference, Horizon, find_difference
from audiencekit.audiences.synchronisation.plan.removals import (
    Reduced,
    RemovalKeys,
    Rounds,
    Staying,
    as_records,
    count_holders,
    plan_rounds,
    reduce_members,
)
from audiencekit.audiences.synchronisation.plan.sentrecords import SentRecords, records_at
from audiencekit.machine.spool import Spool
from audiencekit.machine.workers import cores, in_order
from audiencekit.personal import HashedRecords
from audiencekit.planning.reading import BatchResults
from audiencekit.preparation.recordbits import Bits, Indices
from audiencekit.selection.selection import Selection
from audiencekit.selection.tags import Tagger
from audiencekit.snapshots.files import Snapshot
from audiencekit.snapshots.members import MemberChunk, from_bytes


@dataclass(slots=True)
class Revision:
    """The batches from `first` on hold the members that go, with the keys they go by; the source has those before.

    `lost` counts those of them none of whose keys is held by a member who stays.
    """

    difference: Difference
    gathered: BatchResults
    first: int
    sent: SentRecords
    later: dict[int, Indices] = field(default_factory=dict, repr=False)
    returned: int = 0
    lost: int = 0

    @classmethod
    def of(
        cls,
        gathered: BatchResults,
        wanted: Bits,
        snapshot: Snapshot,
        horizon: Horizon,
        tagger: Tagger,
        *,
        copies: Spool,
    ) -> Self:
        """The changes that make the audience equal to the `wanted` records of what was `gathered`, to which
        those that go are added. Raises SnapshotRefused."""
        difference = find_difference(gathered.keysets, wanted, snapshot, horizon, aside=gathered.aside)
        sent = SentRecords(gathered.spool.unseal, copies)
        revision = cls(difference, gathered, len(gathered.batch_records), sent)
        if difference.removed:
            revision._take_out(tagger)
        return revision

    def select(self, selection: Selection) -> Selection:
        """The records that are sent, in which wave."""
        gone = np.ones(self.difference.removals, dtype=bool)
        chosen, deletes = self.difference.sent, selection.deletes.copy()
        chosen.append(gone)
        deletes.append(gone)
        return replace(selection, chosen=chosen, deletes=deletes, later=self.later)

    def whole_records(self, batch: int, places: Indices) -> HashedRecords:
        """The records of one batch at `places`, ascending, with all their keys, RECORD_SCHEMA."""
        part = batch - self.first
        if part < 0:
            return self.sent.at(batch, places)
        records = as_records(self._leaving(part), first_row=self._first_row + self._before(part), deletes=True)
        return records_at(records, places)

    @property
    def _first_row(self) -> int:
        """The first row after the source: members who go are in none."""
        return self.gathered.tally.rows_read + 1

    def _before(self, part: int) -> int:
        """How many go before those of `part`."""
        return sum(count for _, count in self.difference.removed[:part])

    def _leaving(self, part: int) -> HashedRecords:
        number, _ = self.difference.removed[part]
        return from_bytes(MemberChunk(self.gathered.aside.read(number)))

    def _take_out(self, tagger: Tagger) -> None:
        firsts = np.cumsum([0, *self.gathered.batch_records])[:-1].tolist()
        keep = functools.partial(self._keep, firsts)
        staying = Staying(self.difference.wanted, firsts, self.gathered.spool.unseal, tagger, keep)
        parts = range(len(self.difference.removed))
        keys = count_holders((self._leaving(part) for part in parts), staying)
        places, struck = [], []
        reduce = functools.partial(self._reduce, keys, tagger)
        for part, reduced in enumerate(in_order(reduce, parts, workers=cores())):
            self.gathered.append(reduced.records)
            self.lost += reduced.lost
            places.append(reduced.places + self._before(part))
            struck.append(reduced.keys)
        numbers = np.concatenate(struck)
        rounds = plan_rounds(numbers, keys, staying.wanted.count())
        of_removal = np.zeros(self.difference.removals, dtype=np.int64)
        of_removal[np.concatenate(places)] = rounds.of_key[numbers]
        self._put_in_waves(of_removal, rounds)

    def _reduce(self, keys: RemovalKeys, tagger: Tagger, part: int) -> Reduced:
        first_row = self._first_row + self._before(part)
        return reduce_members(self._leaving(part), keys, tagger, first_row=first_row)

    def _keep(self, firsts: list[int], batch: int, records: HashedRecords, holders: Indices) -> None:
        """Copy out those who are sent and those who may have to be put back."""
        first = firsts[batch]
        sent = self.difference.sent.slice(first, first + self.gathered.batch_records[batch])
        sent[holders] = True
        self.sent.keep(batch, records, np.flatnonzero(sent))

    def _put_in_waves(self, of_removal: Indices, rounds: Rounds) -> None:
        sent = self.difference.sent
        for number, returned in enumerate(rounds.returned):
            self.returned += int((~sent.at(returned)).sum())
            sent.set(returned, True)
            gone = np.flatnonzero(of_removal == number) + len(self.difference.wanted)
            for wave, records in ((1 + 2 * number, gone), (2 + 2 * number, returned)):
                if len(records):
                    self.later[wave] = records
