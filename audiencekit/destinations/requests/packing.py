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
from audiencekit.packedrequest import PackedRequest, RequestBody
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
    """Records of some batches, whose entries follow one another."""


@dataclass(frozen=True, slots=True)
class EncodedUsers:
    """Some records as users of a body, in order, and their `rows` in the source."""

    rows: npt.NDArray[np.int64] = field(repr=False)
    entries: Entries

    @classmethod
    def joined(cls, parts: Iterable[EncodedUsers]) -> EncodedUsers:
        """All of `parts`, in order."""
        parts = list(parts)
        rows = [part.rows for part in parts] or [np.zeros(0, dtype=np.int64)]
        chosen = [chosen for part in parts for chosen in part.entries.unwrap()]
        return cls(np.concatenate(rows) if len(rows) > 1 else rows[0], Entries(chosen))


# The encoded Updates and Deletes of one request. Called in several threads at once.
UsersOf: TypeAlias = Callable[[PlannedRequest], tuple[EncodedUsers, EncodedUsers]]


class RecordLayout(Protocol):
    """Where the records of a plan stand."""

    def stretch(self, wave: tuple[int, bool], first: int, count: int) -> Iterator[tuple[int, Counts]]:
        """The batches and places of `count` records of a wave from the `first` on, which are Deletes or are not."""


class BatchesOfRecords(Protocol):
    """The records of a plan, for any thread."""

    def find(self, batch: int, places: Counts) -> tuple[HashedRecords, Counts]:
        """Records that hold those of `batch` at `places`, ascending, and where these stand among them."""


@dataclass(frozen=True, slots=True)
class RequestRecords:
    """The records of all requests of a plan: where they stand, and from where they are had."""

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
    """The records at `places` of a batch (RECORD_SCHEMA), in their order."""
    batch = records.unwrap()
    if 0 < len(places) < batch.num_rows // _FEW:
        # Chosen records keep their batch in memory: few records of each of many batches would keep all batches.
        batch, places = batch.take(arrow_array(places)), np.arange(len(places))
    return EncodedUsers(batch.column(ROW).to_numpy()[places], Entries([Chosen(batch, places, profile)]))


@guarded
def measure_users(records: HashedRecords, profile: Profile) -> npt.NDArray[np.int64]:
    """The bytes of each entry without its comma, as it will be written."""
    return ENTRY_LOOPS.measure_entries(records.unwrap(), profile)


class BodyRoom(Personal[Octets]):
    """Where bodies are made, one after the other."""


class BodyForm(Protocol):
    """How the records of a request are written."""

    def write(self, request: PlannedRequest, updates: EncodedUsers, deletes: EncodedUsers, body: Octets) -> int:
        """Put all into `body`, which has the planned length; how many bytes they take."""


def pack_requests(planned: Iterable[PlannedRequest], users_of: UsersOf, form: BodyForm) -> Iterator[PackedRequest]:
    """The bodies of `planned`, in order, made side by side, a few ahead of what is asked for.

    Any part of a plan may be packed: no body needs another.
    """
    return in_order(lambda request: pack_request(request, users_of, form), planned, workers=cores())


def pack_request(
    request: PlannedRequest, users_of: UsersOf, form: BodyForm, room: BodyRoom | None = None
) -> PackedRequest:
    """The body of one request. Raises Bug when it is not what was planned.

    It is written into `room`, and holds until something else is; without, into room of its own.
    """
    updates, deletes = users_of(request)
    return _pack(request, updates, deletes, form, room or BodyRoom(np.empty(request.body_bytes, dtype=np.uint8)))


@guarded
def _pack(
    request: PlannedRequest, updates: EncodedUsers, deletes: EncodedUsers, form: BodyForm, room: BodyRoom
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
