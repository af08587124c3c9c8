"""Planned requests and their records -> bodies, byte for byte as they are sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from audiencekit.destinations.requests.entries import Chosen, Octets
from audiencekit.destinations.requests.entry_kernels import EntryKernels
from audiencekit.destinations.requests.plain_entries import PlainEntries
from audiencekit.destinations.requests.request_plan import PlannedRequest
from audiencekit.kernels.library import choose
from audiencekit.packed_request import PackedRequest, RequestBody
from audiencekit.personal import HashedRecords, Personal, guarded
from audiencekit.process.workers import cores, in_order
from audiencekit.profile import Profile
from audiencekit.records.batches import ROW
from audiencekit.records.chunks import Counts
from audiencekit.records.columns.arrays import arrow_array

ENTRY_LOOPS: Final = choose(EntryKernels, PlainEntries)
# Fewer than one in so many records of a batch are taken out of it.
_FEW: Final = 8


class Entries(Personal[list[Chosen]]):
    """Records of some batches, with their entries one after the other."""


@dataclass(frozen=True, slots=True)
class EncodedUsers:
    """Some records as users of a body, in order, and their `rows` in the source."""

    rows: npt.NDArray[np.int64] = field(repr=False)
    entries: Entries

    @classmethod
    def joined(cls, parts: Iterable[EncodedUsers]) -> EncodedUsers:
        """Return all of `parts` as one, in order."""
        parts = list(parts)
        rows = [part.rows for part in parts] or [np.zeros(0, dtype=np.int64)]
        chosen = [chosen for part in parts for chosen in part.entries.unwrap()]
        return cls(np.concatenate(rows) if len(rows) > 1 else rows[0], Entries(chosen))


# The encoded Updates and Deletes of one request. Called in several threads at once.
UsersOf: TypeAlias = Callable[[PlannedRequest], tuple[EncodedUsers, EncodedUsers]]


class RecordLayout(Protocol):
    """The places of the records of a plan."""

    def stretch(self, wave: tuple[int, bool], first: int, count: int) -> Iterator[tuple[int, Counts]]:
        """Yield batches and places of `count` records of a wave, Deletes or Updates, beginning with the `first`."""


class BatchesOfRecords(Protocol):
    """The records of a plan, for any thread."""

    def find(self, batch: int, places: Counts) -> tuple[HashedRecords, Counts]:
        """Return records that include those of `batch` at `places` (ascending), and the places of these among them."""


@dataclass(frozen=True, slots=True)
class RequestRecords:
    """The records of all requests of a plan: their places, and where to read them."""

    layout: RecordLayout
    batches: BatchesOfRecords
    profile: Profile

    def users_of(self, request: PlannedRequest) -> tuple[EncodedUsers, EncodedUsers]:
        """See `UsersOf`."""
        return (
            self._users((request.wave, False), request.first_update, request.updates),
            self._users((request.wave, True), request.first_delete, request.deletes),
        )

    def _users(self, wave: tuple[int, bool], first: int, count: int) -> EncodedUsers:
        stretch = self.layout.stretch(wave, first, count)
        found = (self.batches.find(batch, places) for batch, places in stretch)
        return EncodedUsers.joined(encode_users(records, places, self.profile) for records, places in found)


@guarded
def encode_users(records: HashedRecords, places: Counts, profile: Profile) -> EncodedUsers:
    """Return the records at `places` of a batch (RECORD_SCHEMA), in that order, as users."""
    batch = records.unwrap()
    if 0 < len(places) < batch.num_rows // _FEW:
        # Chosen records keep their batch in memory: few records of each of many batches would keep all batches.
        batch, places = batch.take(arrow_array(places)), np.arange(len(places))
    return EncodedUsers(batch.column(ROW).to_numpy()[places], Entries([Chosen(batch, places, profile)]))


@guarded
def measure_users(records: HashedRecords, profile: Profile) -> npt.NDArray[np.int64]:
    """The bytes of each entry without its comma, as it will be written."""
    return ENTRY_LOOPS.measure_entries(records.unwrap(), profile)


class BodyBuffer(Personal[Octets]):
    """A buffer in which bodies are made, one after the other."""


class BodyForm(Protocol):
    """The form in which the records of a request are written."""

    def write(self, request: PlannedRequest, updates: EncodedUsers, deletes: EncodedUsers, body: Octets) -> int:
        """Write all into `body`, which has the planned length; return the number of bytes."""


def pack_requests(planned: Iterable[PlannedRequest], users_of: UsersOf, form: BodyForm) -> Iterator[PackedRequest]:
    """Yield the bodies of `planned`, in order; some are made ahead, in threads.

    Any part of a plan may be packed: bodies do not depend on each other.
    """
    return in_order(lambda request: pack_request(request, users_of, form), planned, workers=cores())


def pack_request(
    request: PlannedRequest, users_of: UsersOf, form: BodyForm, room: BodyBuffer | None = None
) -> PackedRequest:
    """Return the body of one request. Raises Bug when it is not as planned.

    It is written into `room`, and is valid until the next one is written there; without `room` it has a buffer of its
    own.
    """
    updates, deletes = users_of(request)
    return _pack(request, updates, deletes, form, room or BodyBuffer(np.empty(request.body_bytes, dtype=np.uint8)))


@guarded
def _pack(
    request: PlannedRequest, updates: EncodedUsers, deletes: EncodedUsers, form: BodyForm, room: BodyBuffer
) -> PackedRequest:
    if [len(updates.rows), len(deletes.rows)] != [request.updates, request.deletes]:
        raise AssertionError("there are not as many users as planned")
    body = room.unwrap()[: request.body_bytes]
    if form.write(request, updates, deletes, body) != request.body_bytes:
        raise AssertionError("the body is not as long as planned")
    return PackedRequest(
        number=request.number,
        wave=request.wave,
        body=RequestBody(body.data.toreadonly()),
        body_bytes=len(body),
        operations=request.operations,
        records=request.records,
        rows=np.concatenate([updates.rows, deletes.rows]) if request.deletes else updates.rows,
    )
