"""Planned requests and encoded users -> bodies, byte for byte as they are sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

import numpy as np

from audiencekit.destinations.requests.entries import Octets
from audiencekit.destinations.requests.requestplan import PlannedRequest
from audiencekit.destinations.requests.users import EncodedUsers, UsersOf
from audiencekit.machine.workers import cores, in_order
from audiencekit.packedrequest import PackedRequest, RequestBody
from audiencekit.personal import Personal, guarded


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
