"""Planned requests and encoded users -> bodies, byte for byte as they are sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from audiencekit.personal import HashedRecords, Personal, guarded
from audiencekit.preparation.plan import OPERATION_SUFFIX, PlannedRequest, operation_prefix
from audiencekit.preparation.records import DELETE, UPDATE
from audiencekit.preparation.times import PlanTimes
from audiencekit.workers import cores, in_order


class RequestBody(Personal[bytes]):
    """The JSON of one request. Hashes are personal data."""


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


# The encoded Updates and Deletes of one request (USER_SCHEMA). Called in several threads at once.
UsersOf: TypeAlias = Callable[[PlannedRequest], tuple[HashedRecords, HashedRecords]]


def pack_requests(planned: Iterable[PlannedRequest], users_of: UsersOf, times: PlanTimes) -> Iterator[PackedRequest]:
    """The bodies of `planned`, in order, made side by side, a few ahead of what is asked for.

    Any part of a plan may be packed: no body needs another.
    """
    return in_order(lambda request: pack_request(request, users_of, times), planned, workers=cores())


def pack_request(request: PlannedRequest, users_of: UsersOf, times: PlanTimes) -> PackedRequest:
    """The body of one request. Raises Bug when it is not what was planned."""
    updates, deletes = users_of(request)
    return _pack(request, updates, deletes, times)


@guarded
def _pack(request: PlannedRequest, updates: HashedRecords, deletes: HashedRecords, times: PlanTimes) -> PackedRequest:
    operations: list[bytes] = []
    for verb, count, users, records in (
        (UPDATE, request.update_operations, updates.unwrap(), request.updates),
        (DELETE, request.delete_operations, deletes.unwrap(), request.deletes),
    ):
        if users.num_rows != records:
            raise AssertionError("there are not as many users as planned")
        operations.extend(_operations(users.column("user"), count, operation_prefix(verb, times)))
    body = b"".join((b"[", b",".join(operations), b"]"))
    if len(body) != request.body_bytes:
        raise AssertionError("the body is not as long as planned")
    return PackedRequest(
        number=request.number,
        wave=request.wave,
        body=RequestBody(body),
        body_bytes=len(body),
        operations=request.operations,
        records=request.records,
        rows=np.concatenate([users.unwrap().column("row").to_numpy() for users in (updates, deletes)]),
    )


def _operations(users: Any, count: int, prefix: bytes) -> Iterator[bytes]:
    """`users` spread evenly over `count` operations; slices of the one buffer that already holds the commas."""
    if not count:
        return
    offsets = np.frombuffer(users.buffers()[1], dtype=np.int32)[users.offset : users.offset + len(users) + 1]
    buffer = memoryview(users.buffers()[2])
    cuts = offsets[np.arange(count + 1) * len(users) // count]
    for start, end in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        yield b"".join((prefix, buffer[start : end - 1], OPERATION_SUFFIX))
