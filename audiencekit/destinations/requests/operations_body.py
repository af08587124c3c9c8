"""Parts of a request: some of its records in a smaller body, each with the same bytes as in the whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import orjson

from audiencekit.destinations.requests.request_plan import BodyLimits, spread_over
from audiencekit.errors import Bug
from audiencekit.packed_request import PackedRequest, RequestBody
from audiencekit.personal import Personal, guarded

Indices = npt.NDArray[np.int64]


_LIMITS: Final = BodyLimits()


class _Frames(Personal[list[tuple[bytes, bytes]]]):
    """The bytes before and after the users of each operation."""


class OperationsBody:
    """The place of each record of a body. `operation_of` is the operation of each record, both counted from 0.

    Only places are stored, so that an opened body takes little more memory than the closed one. Raises Bug when the
    body is not one that `packing` made.
    """

    def __init__(self, request: PackedRequest, limits: BodyLimits = _LIMITS) -> None:
        self._request, self._limits = request, limits
        self._frames, self._places, self.operation_of = _survey(request.body)
        if len(self.operation_of) != request.records or len(request.rows) != request.records:
            raise Bug(f"request {request.number} does not hold the records that it should")

    @property
    def record_bytes(self) -> Indices:
        """The bytes of each record, with its comma."""
        return self._places[:, 1] - self._places[:, 0] + 1

    @property
    def operation_bytes(self) -> int:
        """The bytes of one operation besides its records, with the comma that the last of these does not have."""
        before, after = self._frames.unwrap()[0]
        return len(before) + len(after)

    def spread(self, records: Indices) -> Indices:
        """The operation of each of `records` when they are sent in a request alone, spread as a plan does it."""
        frames = self._frames.unwrap()
        is_first = np.array([frame == frames[0] for frame in frames])[self.operation_of[records]]
        counts = int(is_first.sum()), int((~is_first).sum())
        spread = spread_over(*counts, self._limits)
        first, second = (_even(count, operations) for count, operations in zip(counts, spread, strict=True))
        return np.concatenate([first, spread[0] + second])

    def part(self, records: Indices, operations: Indices | None = None) -> PackedRequest:
        """Return the part with these records, which are given in ascending order.

        `operations` is the operation of each record, ascending; by default they stay together as they are.
        """
        framed_as = self.operation_of[records]
        operations = framed_as if operations is None else operations
        body = _cut(self._request.body, self._frames, self._places[records], operations, framed_as)
        return PackedRequest(
            number=self._request.number,
            wave=self._request.wave,
            operations=len(np.unique(operations)),
            records=len(records),
            body=body,
            body_bytes=len(body.unwrap()),
            rows=self._request.rows[records],
        )

    def __repr__(self) -> str:
        return f"<OperationsBody of request {self._request.number}>"


@guarded
def _survey(body: Personal[bytes | memoryview]) -> tuple[_Frames, npt.NDArray[np.int64], Indices]:
    """Return the frames of all operations, start and end of each record, and the operation of each record."""
    whole = body.unwrap()
    frames: list[tuple[bytes, bytes]] = []
    places: list[tuple[int, int]] = []
    operation_of: list[int] = []
    position = 1  # after the bracket
    for number, operation in enumerate(orjson.loads(whole)):
        users = operation["params"].pop("users")
        before, after = _frame(operation)
        position += len(before)
        for size in _sizes(users):
            places.append((position, position + size))
            operation_of.append(number)
            position += size + 1  # a comma, or the bracket that closes the users
        frames.append((before, after))
        position += len(after) - 1 + 1  # without the bracket; with a comma, or the bracket that closes the body
    opened = _Frames(frames), np.array(places, dtype=np.int64).reshape(-1, 2), np.array(operation_of, dtype=np.int64)
    if _cut(body, *opened, opened[2]).unwrap() != whole:
        raise AssertionError("the body is not one of ours")
    return opened


def _frame(operation: dict[str, Any]) -> tuple[bytes, bytes]:
    closed = orjson.dumps(operation | {"params": operation["params"] | {"users": []}})
    cut = closed.rindex(b"[]") + 1
    return closed[:cut], closed[cut:]


def _even(count: int, operations: int) -> Indices:
    """The operation of each of so many records, spread as `write_operations` does."""
    cuts = np.arange(1, operations + 1) * count // max(operations, 1)
    return cuts.searchsorted(np.arange(count), side="right").astype(np.int64)


def _sizes(users: list[Any]) -> Iterator[int]:
    return (len(orjson.dumps(user)) for user in users)


@guarded
def _cut(
    body: Personal[bytes | memoryview],
    frames: _Frames,
    places: npt.NDArray[np.int64],
    operation_of: Indices,
    framed_as: Indices,
) -> RequestBody:
    """Return slices of the whole, operation by operation; each has the frame that its records' operation had there."""
    whole, framed = memoryview(body.unwrap()), frames.unwrap()
    first_of = np.flatnonzero(np.diff(operation_of, prepend=-1))
    operations = []
    for start, end in zip(first_of, [*first_of[1:], len(operation_of)], strict=True):
        before, after = framed[framed_as[start]]
        users = b",".join(whole[begin:stop] for begin, stop in places[start:end].tolist())
        operations.append(before + users + after)
    return RequestBody(b"[" + b",".join(operations) + b"]")
