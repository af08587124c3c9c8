"""Planned requests and encoded users -> bodies, byte for byte as they are sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from audiencekit.machine.workers import cores, in_order
from audiencekit.personal import Personal, guarded
from audiencekit.preparation.bits import Indices
from audiencekit.preparation.plan import OPERATION_SUFFIX, PlannedRequest, operation_prefix
from audiencekit.preparation.records import DELETE, UPDATE
from audiencekit.preparation.times import PlanTimes
from audiencekit.preparation.users import EncodedUsers


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


# The encoded Updates and Deletes of one request. Called in several threads at once.
UsersOf: TypeAlias = Callable[[PlannedRequest], tuple[EncodedUsers, EncodedUsers]]

_SUFFIX_AND_COMMA: Final = OPERATION_SUFFIX + b","


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
def _pack(request: PlannedRequest, updates: EncodedUsers, deletes: EncodedUsers, times: PlanTimes) -> PackedRequest:
    operations: list[bytes | memoryview] = []
    for verb, count, users, records in (
        (UPDATE, request.update_operations, updates, request.updates),
        (DELETE, request.delete_operations, deletes, request.deletes),
    ):
        if len(users.rows) != records:
            raise AssertionError("there are not as many users as planned")
        operations.extend(_operations(users.entries.unwrap(), count, operation_prefix(verb, times)))
    body = b"".join((b"[", *operations[:-1], OPERATION_SUFFIX, b"]"))
    if len(body) != request.body_bytes:
        raise AssertionError("the body is not as long as planned")
    return PackedRequest(
        number=request.number,
        wave=request.wave,
        body=RequestBody(body),
        body_bytes=len(body),
        operations=request.operations,
        records=request.records,
        rows=np.concatenate([updates.rows, deletes.rows]),
    )


def _operations(blocks: list[Any], count: int, prefix: bytes) -> Iterator[bytes | memoryview]:
    """The users of all `blocks` spread evenly over `count` operations, each followed by its end and a comma.

    What lies between is slices of the buffers that already hold the commas.
    """
    if not count:
        return
    buffers = [memoryview(block.buffers()[2]) for block in blocks]
    ends = np.cumsum([len(block) for block in blocks])
    cuts = np.arange(count + 1) * int(ends[-1]) // count
    starts, last = _places(blocks, ends, cuts[:-1]), _places(blocks, ends, cuts[1:] - 1, end=True)
    for block, start, last_block, end in zip(*starts, *last, strict=True):
        yield prefix
        if block == last_block:
            yield buffers[block][start : end - 1]
        else:
            yield buffers[block][start:]
            yield from buffers[block + 1 : last_block]
            yield buffers[last_block][: end - 1]
        yield _SUFFIX_AND_COMMA


def _places(blocks: list[Any], ends: Indices, records: Indices, *, end: bool = False) -> tuple[list[int], list[int]]:
    """The block of each of `records`, and where in its buffer the record begins, or ends."""
    offsets = [np.frombuffer(block.buffers()[1], dtype=np.int32)[block.offset :][: len(block) + 1] for block in blocks]
    of_records = np.searchsorted(ends, records, side="right")
    # Each block has one offset more than it has records.
    at = np.concatenate(offsets)[records + of_records + end]
    return of_records.tolist(), at.tolist()
