"""The requests of an erasure: the same for every audience, made anew for each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import numpy as np

from audiencekit.audiences.erasure.keys import as_updates
from audiencekit.audiences.erasure.receipt import Receipt
from audiencekit.destinations.ads import AUDIENCE, DO_NOT_REACH_LIST
from audiencekit.destinations.destination import RequestForm
from audiencekit.destinations.requests.packing import EncodedUsers, encode_users, pack_request
from audiencekit.destinations.requests.request_plan import PlannedRequest, Sizes
from audiencekit.packedrequest import PackedRequest
from audiencekit.personal import HashedRecords, guarded
from audiencekit.preparation.batches import IS_DELETE
from audiencekit.preparation.plantimes import parse_time, pin_times
from audiencekit.profile import Profile

_WAVE: Final = 0  # nothing waits for anything: the requests of an erasure commute


@dataclass(frozen=True, slots=True)
class Bodies:
    """The requests that carry `records` (RECORD_SCHEMA, all of one verb), as planned."""

    records: HashedRecords
    planned: tuple[PlannedRequest, ...]
    form: RequestForm
    profile: Profile

    @classmethod
    def plan(cls, records: HashedRecords, form: RequestForm, profile: Profile) -> Bodies:
        """As few requests as hold them."""
        sizes, deletes = form.measure(records), _are_deletes(records)

        def sizes_of(wave: int, of_deletes: bool) -> Iterator[Sizes]:
            if len(sizes) and of_deletes is deletes:
                yield sizes

        planned = form.plan([_WAVE], sizes_of)
        return cls(records, tuple(planned), form, profile)

    def __len__(self) -> int:
        """How many requests there are."""
        return len(self.planned)

    def packed(self, first_number: int) -> Iterator[PackedRequest]:
        """The requests, one made when it is asked for, numbered from `first_number` on."""
        for number, planned in enumerate(self.planned, start=first_number):
            yield replace(pack_request(planned, self._users_of, self.form), number=number)

    def _users_of(self, planned: PlannedRequest) -> tuple[EncodedUsers, EncodedUsers]:
        return self._users(planned.first_update, planned.updates), self._users(planned.first_delete, planned.deletes)

    def _users(self, first: int, count: int) -> EncodedUsers:
        if not count:
            return EncodedUsers.joined([])
        return encode_users(self.records, np.arange(first, first + count), self.profile)


def plan_deletes(records: HashedRecords, receipt: Receipt, profile: Profile) -> Bodies:
    """The requests that take the people out of one audience."""
    return Bodies.plan(records, AUDIENCE.form(pin_times(_started_at(receipt)), profile), profile)


def plan_updates(records: HashedRecords, receipt: Receipt, profile: Profile) -> Bodies:
    """The requests that put the people on the do-not-reach list."""
    times = pin_times(_started_at(receipt), expires_at=receipt.do_not_reach_until)
    return Bodies.plan(as_updates(records, DO_NOT_REACH_LIST.kinds), DO_NOT_REACH_LIST.form(times, profile), profile)


def _started_at(receipt: Receipt) -> datetime:
    return parse_time(receipt.started_at, "the start of the erasure")


@guarded
def _are_deletes(records: HashedRecords) -> bool:
    deletes = records.unwrap().column(IS_DELETE)
    return bool(len(deletes)) and bool(deletes[0].as_py())
