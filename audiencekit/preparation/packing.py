"""Planned requests and encoded users -> bodies, byte for byte as they are sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from audiencekit.machine.workers import cores, in_order
from audiencekit.personal import Personal, guarded
from audiencekit.preparation.entries import Octets, write_operations
from audiencekit.preparation.records import DELETE, UPDATE
from audiencekit.preparation.requestplan import OPERATION_SUFFIX, PlannedRequest, operation_prefix
from audiencekit.preparation.times import PlanTimes
from audiencekit.preparation.users import EncodedUsers


class RequestBody(Personal[bytes | memoryview]):
    """The JSON of one request. Hashes are personal data."""


class BodyRoom(Personal[Octets]):
    """Where bodies are made, one after the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedRequest:
    """One request ready to be sent. `rows` are the source rows of its records, in the order of the body."""

    number: int
    wave: int
    body: RequestBody
    body_bytes: int
    operations: int
    records: int
    rows: npt.NDArray[np.int64] = field(repr=False)


# The encoded Updates and Deletes of one request. Called in several threads at once.
UsersOf: TypeAlias = Callable[[PlannedRequest], tuple[EncodedUsers, EncodedUsers]]

_OPEN: Final = b"["
_CLOSE: Final = b"]"


def pack_requests(planned: Iterable[PlannedRequest], users_of: UsersOf, times: PlanTimes) -> Iterator[PackedRequest]:
    """The bodies of `planned`, in order, made side by side, a few ahead of what is asked for.

    Any part of a plan may be packed: no body needs another.
    """
    return in_order(lambda request: pack_request(request, users_of, times), planned, workers=cores())


def pack_request(
    request: PlannedRequest, users_of: UsersOf, times: PlanTimes, room: BodyRoom | None = None
) -> PackedRequest:
    """The body of one request. Raises Bug when it is not what was planned.

    It is written into `room`, and holds until something else is; without, into room of its own.
    """
    updates, deletes = users_of(request)
    return _pack(request, updates, deletes, times, room or BodyRoom(np.empty(request.body_bytes, dtype=np.uint8)))


@guarded
def _pack(
    request: PlannedRequest, updates: EncodedUsers, deletes: EncodedUsers, times: PlanTimes, room: BodyRoom
) -> PackedRequest:
    if [len(updates.rows), len(deletes.rows)] != [request.updates, request.deletes]:
        raise AssertionError("there are not as many users as planned")
    body, end = room.unwrap()[: request.body_bytes], len(_OPEN)
    verbs = ((UPDATE, updates, request.update_operations), (DELETE, deletes, request.delete_operations))
    for verb, users, operations in verbs:
        if operations:
            prefix = operation_prefix(verb, times)
            end += write_operations(body[end:], prefix, OPERATION_SUFFIX, operations, users.entries.unwrap())
    if end != request.body_bytes:
        raise AssertionError("the body is not as long as planned")
    body[0], body[-1] = ord(_OPEN), ord(_CLOSE)  # the last operation has no comma
    return PackedRequest(
        number=request.number,
        wave=request.wave,
        body=RequestBody(body.data.toreadonly()),
        body_bytes=len(body),
        operations=request.operations,
        records=request.records,
        rows=np.concatenate([updates.rows, deletes.rows]) if request.deletes else updates.rows,
    )
