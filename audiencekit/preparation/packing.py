"""Planned requests and encoded users -> bodies, byte for byte as they are sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from audiencekit.machine.workers import cores, in_order
from audiencekit.personal import Personal, guarded
from audiencekit.preparation.entries import Octets, put_at
from audiencekit.preparation.plan import OPERATION_SUFFIX, PlannedRequest, operation_prefix
from audiencekit.preparation.records import DELETE, UPDATE
from audiencekit.preparation.times import PlanTimes
from audiencekit.preparation.users import EncodedUsers


class RequestBody(Personal[bytes | memoryview]):
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

_OPEN: Final = b"["
_CLOSE: Final = b"]"
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
    stretches = [
        _Stretch(updates, request.update_operations, operation_prefix(UPDATE, times)),
        _Stretch(deletes, request.delete_operations, operation_prefix(DELETE, times)),
    ]
    if [len(updates.rows), len(deletes.rows)] != [request.updates, request.deletes]:
        raise AssertionError("there are not as many users as planned")
    ends = np.cumsum([len(_OPEN), *(stretch.body_bytes for stretch in stretches)]).tolist()
    if ends[-1] != request.body_bytes:
        raise AssertionError("the body is not as long as planned")
    body = np.empty(request.body_bytes, dtype=np.uint8)
    for stretch, begin in zip(stretches, ends, strict=False):
        stretch.write(body, begin)
    body[0], body[-1] = ord(_OPEN), ord(_CLOSE)  # the last operation has no comma
    return PackedRequest(
        number=request.number,
        wave=request.wave,
        body=RequestBody(body.data.toreadonly()),
        body_bytes=len(body),
        operations=request.operations,
        records=request.records,
        rows=np.concatenate([updates.rows, deletes.rows]),
    )


class _Stretch:
    """The users of one verb spread evenly over its operations, each operation followed by a comma."""

    def __init__(self, users: EncodedUsers, operations: int, prefix: bytes) -> None:
        self._shapes, self._prefix = users.entries.unwrap(), prefix
        sizes = np.zeros(len(users.rows), dtype=np.int64)
        for shape in self._shapes:
            sizes[shape.owners] = shape.entry_bytes
        self._ends = np.append(0, np.cumsum(sizes))  # of each user, and before it of those before the first
        self._cuts = np.arange(operations + 1) * len(sizes) // max(operations, 1)
        # The suffix stands where the comma of the operation's last user was, and has one of its own.
        self._around = len(prefix) + len(OPERATION_SUFFIX)
        self.body_bytes = operations * self._around + int(self._ends[-1])

    def write(self, body: Octets, begin: int) -> None:
        """Put all of it into `body` from `begin` on."""
        operations = len(self._cuts) - 1
        if not operations:
            return
        begins = begin + np.arange(operations) * self._around + self._ends[self._cuts[:-1]]
        before = np.repeat(np.arange(operations), np.diff(self._cuts)) * self._around + len(self._prefix)
        put_at(body, begins, _line(self._prefix))
        for shape in self._shapes:
            shape.write(body, begin + before + self._ends[:-1])
        ends = np.append(begins[1:], begin + self.body_bytes)
        put_at(body, ends - len(_SUFFIX_AND_COMMA), _line(_SUFFIX_AND_COMMA))


def _line(text: bytes) -> Octets:
    return np.frombuffer(text, dtype=np.uint8)[None, :]
