"""Planned requests and encoded users -> bodies, byte for byte as they are sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audiencekit.personal import HashedRecords, Personal, guarded
from audiencekit.preparation.plan import OPERATION_SUFFIX, PlannedRequest, operation_prefix
from audiencekit.preparation.records import DELETE, UPDATE
from audiencekit.preparation.times import PlanTimes


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


# All users of one wave and verb, in order: called anew for each, so that nothing is held between them.
UsersOf = Callable[[int, bool], Iterable[HashedRecords]]


def pack_requests(planned: Iterable[PlannedRequest], users_of: UsersOf, times: PlanTimes) -> Iterator[PackedRequest]:
    """The bodies of `planned`, in order, made one at a time as they are asked for."""
    wave: int | None = None
    for request in planned:
        if request.wave != wave:
            wave = request.wave
            updates, deletes = _Feed(users_of(wave, False)), _Feed(users_of(wave, True))
        parts = [
            (UPDATE, request.update_operations, updates.take(request.updates)),
            (DELETE, request.delete_operations, deletes.take(request.deletes)),
        ]
        yield _pack(request, [(verb, count, part) for verb, count, part in parts if count], times)


@guarded
def _pack(request: PlannedRequest, parts: list[tuple[str, int, HashedRecords]], times: PlanTimes) -> PackedRequest:
    operations: list[bytes] = []
    rows: list[Any] = []
    for verb, count, part in parts:
        batch = part.unwrap()
        rows.append(batch.column("row").to_numpy())
        operations.extend(_operations(batch.column("user"), count, operation_prefix(verb, times)))
    body = b"[" + b",".join(operations) + b"]"
    if len(body) != request.body_bytes:
        raise AssertionError("the body is not as long as planned")
    return PackedRequest(
        number=request.number,
        wave=request.wave,
        body=RequestBody(body),
        body_bytes=len(body),
        operations=request.operations,
        records=request.records,
        rows=np.concatenate(rows),
    )


def _operations(users: Any, count: int, prefix: bytes) -> Iterator[bytes]:
    """`users` spread evenly over `count` operations; slices of the one buffer that already holds the commas."""
    offsets = np.frombuffer(users.buffers()[1], dtype=np.int32)[users.offset : users.offset + len(users) + 1]
    buffer = memoryview(users.buffers()[2])
    cuts = offsets[np.arange(count + 1) * len(users) // count]
    for start, end in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        yield b"".join((prefix, buffer[start : end - 1], OPERATION_SUFFIX))


class _Feed:
    """Hands out encoded users by number, whatever the sizes of the batches they come in."""

    def __init__(self, batches: Iterable[HashedRecords]) -> None:
        self._batches = iter(batches)
        self._rest: list[Any] = []

    @guarded
    def take(self, count: int) -> HashedRecords:
        """The next `count` users. Raises Bug when there are fewer than planned."""
        taken: list[Any] = []
        missing = count
        while missing:
            batch = self._rest.pop() if self._rest else next(self._batches).unwrap()
            taken.append(batch.slice(0, missing))
            if batch.num_rows > missing:
                self._rest.append(batch.slice(missing))
            missing -= taken[-1].num_rows
        return HashedRecords(_concat(taken))

    def __repr__(self) -> str:
        return "<users: not shown>"


def _concat(batches: list[Any]) -> Any:
    """One RecordBatch of `batches`, None for none."""
    if len(batches) < 2:
        return batches[0] if batches else None
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]
