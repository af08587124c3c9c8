"""The requests of a plan: the records that each of them has, and their bodies, made from the sealed spool."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from audiencekit.destinations.destination import RequestForm
from audiencekit.destinations.requests.packing import BatchesOfRecords, RequestRecords, UsersOf, pack_requests
from audiencekit.destinations.requests.requestplan import PlannedRequest
from audiencekit.packedrequest import PackedRequest
from audiencekit.personal import HashedRecords
from audiencekit.preparation.recordbits import Indices
from audiencekit.profile import Profile
from audiencekit.selection.selection import SelectionLayout


@dataclass(slots=True, kw_only=True)
class PlannedRequests:
    """The requests, and the sealed spool that their bodies are made from. Close it with the stack it came from."""

    layout: SelectionLayout
    requests: list[PlannedRequest]
    batches: BatchesOfRecords
    profile: Profile
    form: RequestForm

    def chosen_records(self, batch: int) -> tuple[HashedRecords, Indices]:
        """One batch of the layout, and the places of the records that are sent. May be called from any thread."""
        return self.batches.find(batch, np.flatnonzero(self.layout.sent(batch)))

    @property
    def users_of(self) -> UsersOf:
        """The encoded Updates and Deletes of each request. To be called from any thread."""
        return RequestRecords(self.layout, self.batches, self.profile).users_of

    def packed(self, is_wanted: Callable[[int], bool]) -> Iterator[PackedRequest]:
        """The requests whose number is wanted, in order, with their bodies."""
        wanted = (request for request in self.requests if is_wanted(request.number))
        return pack_requests(wanted, self.users_of, self.form)
