"""Every request of a run, before any of them is sent: which records, how many operations, how many bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any, Final, NamedTuple, Protocol, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from audiencekit.limits import MAX_BODY_BYTES, MAX_OPERATIONS
from audiencekit.records.plan_times import PlanTimes, format_time
from audiencekit.records.records import OPERATION_TYPES

# --- Every request of a run, before any of them is sent: which records, how many operations, how many bytes ---

# Bytes of user entries as JSON, without a comma; and those of all records of one wave and verb (whether they are
# Deletes), in row order, some thousands at a time.
Sizes: TypeAlias = npt.NDArray[np.integer[Any]]
SizesOf: TypeAlias = Callable[[int, bool], Iterable[Sizes]]


class BodyOptions(Protocol):
    """The sizes of requests that options give, below those of the service; None where they give none."""

    @property
    def max_records_per_request(self) -> int | None:
        """The most records of one request."""

    @property
    def max_records_per_operation(self) -> int | None:
        """The most records of one operation."""

    @property
    def max_body_bytes(self) -> int | None:
        """The most bytes of one request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyLimits:
    """The limits by which bodies are cut; None for no limit."""

    max_operations: int = MAX_OPERATIONS
    max_body_bytes: int = MAX_BODY_BYTES
    max_records_per_request: int | None = None
    max_records_per_operation: int | None = None

    @classmethod
    def within(cls, wanted: BodyOptions | None) -> Self:
        """Return the limits of the service, or smaller ones where the options give them."""
        if wanted is None:
            return cls()
        return cls(
            max_body_bytes=wanted.max_body_bytes or MAX_BODY_BYTES,
            max_records_per_request=wanted.max_records_per_request,
            max_records_per_operation=wanted.max_records_per_operation,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRequest:
    """One planned request. `updates` and `deletes` count records; in the body the Updates come first.

    Its Updates are those of its wave from `first_update` on, its Deletes those from `first_delete` on, in row order.
    """

    number: int
    wave: int
    first_update: int
    first_delete: int
    updates: int
    deletes: int
    update_operations: int
    delete_operations: int
    body_bytes: int

    @property
    def records(self) -> int:
        """The records in the body, which `success_count` must equal."""
        return self.updates + self.deletes

    @property
    def operations(self) -> int:
        """Operation objects in the body."""
        return self.update_operations + self.delete_operations


@lru_cache(maxsize=4)  # of one run two, and each is asked for with every request
def operation_prefix(operation_type: str, times: PlanTimes) -> bytes:
    """Return the bytes of an operation before its first user; OPERATION_SUFFIX ends it."""
    effective = f'"effective_at":"{format_time(times.effective_at)}",' if times.effective_at else ""
    expires = format_time(times.end)
    return f'{{"operation_type":"{operation_type}","params":{{{effective}"expires_at":"{expires}","users":['.encode()


OPERATION_SUFFIX: Final = b"]}}"


def operation_bytes(times: PlanTimes) -> int:
    """Return the bytes of one operation without users; both verbs have the same length."""
    (size,) = {len(operation_prefix(verb, times)) + len(OPERATION_SUFFIX) for verb in OPERATION_TYPES}
    return size


def plan_requests(
    waves: Iterable[int], sizes_of: SizesOf, *, times: PlanTimes, limits: BodyLimits
) -> list[PlannedRequest]:
    """Return the requests for all records, wave by wave, Updates before Deletes in each.

    A body is `[` operations joined by `,` `]`, so with n users of S bytes in m operations of `operation_bytes` each it
    has 1 + n + S + m * operation_bytes bytes: the cut is exact. Every record fits into one body (see `records`).
    """
    overhead = operation_bytes(times)
    planned: list[PlannedRequest] = []
    for wave in waves:
        updates = deletes = 0
        for body in _cut(_PendingRecords(sizes_of(wave, False), sizes_of(wave, True)), overhead, limits):
            request = PlannedRequest(
                number=len(planned) + 1,
                wave=wave,
                first_update=updates,
                first_delete=deletes,
                updates=body.updates,
                deletes=body.deletes,
                update_operations=body.spread[0],
                delete_operations=body.spread[1],
                body_bytes=body.body_bytes,
            )
            planned.append(request)
            updates, deletes = updates + request.updates, deletes + request.deletes
    return planned


class _PendingRecords:
    """The records that are not planned yet, as far as their sizes were read."""

    def __init__(self, updates: Iterable[Sizes], deletes: Iterable[Sizes]) -> None:
        self._blocks = chain(((block, True) for block in updates), ((block, False) for block in deletes))
        # Where each ends, with its comma, and where the first begins: bytes of all users from the first of the wave on.
        self._ends, self._begin = np.zeros(0, dtype=np.int64), 0
        self.updates = 0  # the first so many of them are Updates

    def __len__(self) -> int:
        return len(self._ends)

    def fill(self, body_bytes: int) -> bool:
        """Read the sizes of more records than fit into one body; return whether there are any."""
        ends, last = [self._ends], int(self._ends[-1]) if len(self) else self._begin
        while last - self._begin <= body_bytes and (block := next(self._blocks, None)):
            if len(block[0]):
                own = np.add(block[0], 1, dtype=np.int64)
                own[0] += last
                ends.append(np.cumsum(own, out=own))
                last = int(own[-1])
                self.updates += len(own) if block[1] else 0
        self._ends = np.concatenate(ends) if len(ends) > 1 else self._ends
        return bool(len(self))

    def size(self, count: int) -> int:
        """Return the bytes of the first `count` (at least one), with their commas."""
        return int(self._ends[count - 1]) - self._begin

    def count(self, size: int) -> int:
        """Return how many of the first records have at most `size` bytes together."""
        return int(self._ends.searchsorted(self._begin + size, side="right"))

    def drop(self, count: int) -> None:
        """Note that the first `count` (at least one) are planned."""
        self._begin = int(self._ends[count - 1])
        self._ends, self.updates = self._ends[count:], max(self.updates - count, 0)


class _Body(NamedTuple):
    updates: int
    deletes: int
    spread: tuple[int, int]
    body_bytes: int


def _cut(coming: _PendingRecords, overhead: int, limits: BodyLimits) -> Iterator[_Body]:
    """Yield requests, each with as many records as the limits allow."""
    while coming.fill(limits.max_body_bytes):
        count = _fitting(coming, overhead, limits)
        updates = min(coming.updates, count)
        spread = spread_over(updates, count - updates, limits)
        yield _Body(updates, count - updates, spread, 1 + coming.size(count) + sum(spread) * overhead)
        coming.drop(count)


def _fitting(coming: _PendingRecords, overhead: int, limits: BodyLimits) -> int:
    """Return the most records, at least one, that fit into one body (binary search)."""

    def fits(count: int) -> bool:
        updates = min(coming.updates, count)
        spread = sum(spread_over(updates, count - updates, limits))
        return spread <= limits.max_operations and 1 + coming.size(count) + spread * overhead <= limits.max_body_bytes

    low, high = 1, min(len(coming), limits.max_records_per_request or len(coming))
    # Most bodies have all operations that there may be, or all records.
    likely = min(coming.count(limits.max_body_bytes - 1 - limits.max_operations * overhead), high)
    for count in (likely, likely + 1):
        if low < count <= high:
            low, high = (count, high) if fits(count) else (low, count - 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def spread_over(updates: int, deletes: int, limits: BodyLimits) -> tuple[int, int]:
    """Return over how many operations the Updates and the Deletes of one body are spread; too many if they do not fit.

    There is one record in an operation as long as there is room: then an index in `operation_errors` names few people.
    """
    room, per = limits.max_operations, limits.max_records_per_operation
    if updates + deletes <= room:
        return updates, deletes
    least_updates, least_deletes = (_least_operations(count, per) for count in (updates, deletes))
    if least_updates + least_deletes > room:
        return least_updates, least_deletes
    share = round(room * deletes / (updates + deletes))
    for_deletes = min(deletes, max(least_deletes, min(share, room - least_updates)))
    for_updates = min(updates, room - for_deletes)
    return for_updates, min(deletes, room - for_updates)


def _least_operations(records: int, per: int | None) -> int:
    """Return the fewest operations for `records` of one verb, with at most `per` in each."""
    return min(records, 1) if per is None else -(-records // per)


# --- The sizes of user entries as bytes and back: pass one writes them, the plan reads them ---

# The first byte says how many bytes each size has.
_TYPES: Final = {width: np.dtype(f"<u{width}") for width in (1, 2, 4)}


def sizes_to_bytes(sizes: Sizes) -> bytes:
    """Return the sizes as bytes, in the narrowest type that holds the largest."""
    width = np.min_scalar_type(int(sizes.max(initial=0))).itemsize
    return bytes([width]) + sizes.astype(_TYPES[width]).tobytes()


def sizes_from_bytes(content: bytes | memoryview) -> Sizes:
    """Return the sizes that `sizes_to_bytes` wrote, in their narrow type."""
    return np.frombuffer(content, dtype=_TYPES[content[0]], offset=1)
