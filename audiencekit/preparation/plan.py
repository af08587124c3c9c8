"""Every request of a run, before any of them is sent: which records, how many operations, how many bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from audiencekit.limits import MAX_BODY_BYTES, MAX_OPERATIONS
from audiencekit.preparation.records import OPERATION_TYPES
from audiencekit.preparation.times import PlanTimes, format_time


@dataclass(frozen=True, slots=True, kw_only=True)
class Packing:
    """The limits that bodies are cut by; smaller ones are for tests and for callers that isolate faults."""

    max_operations: int = MAX_OPERATIONS
    max_body_bytes: int = MAX_BODY_BYTES
    max_records_per_operation: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRequest:
    """One request to be. `updates` and `deletes` are records; within the body the Updates come first."""

    number: int
    wave: int
    updates: int
    deletes: int
    update_operations: int
    delete_operations: int
    body_bytes: int

    @property
    def records(self) -> int:
        """Records in the body: what `success_count` must say."""
        return self.updates + self.deletes

    @property
    def operations(self) -> int:
        """Operation objects in the body."""
        return self.update_operations + self.delete_operations


def operation_prefix(operation_type: str, times: PlanTimes) -> bytes:
    """The bytes of an operation before its first user; OPERATION_SUFFIX closes it."""
    effective = f'"effective_at":"{format_time(times.effective_at)}",' if times.effective_at else ""
    expires = format_time(times.expires_at)
    return f'{{"operation_type":"{operation_type}","params":{{{effective}"expires_at":"{expires}","users":['.encode()


OPERATION_SUFFIX: Final = b"]}}"


def operation_bytes(times: PlanTimes) -> int:
    """What one operation adds to a body besides its users; both verbs are of one length."""
    (size,) = {len(operation_prefix(verb, times)) + len(OPERATION_SUFFIX) for verb in OPERATION_TYPES}
    return size


def plan_requests(
    user_bytes: npt.NDArray[np.int64],
    *,
    deletes: npt.NDArray[np.bool_],
    waves: npt.NDArray[np.int64],
    times: PlanTimes,
    packing: Packing,
) -> list[PlannedRequest]:
    """The requests for records of `user_bytes` (JSON without comma), wave by wave, Updates before Deletes in each.

    A body is `[` operations joined by `,` `]`, so with n users of S bytes in m operations of `operation_bytes` each it
    has 1 + n + S + m * operation_bytes bytes: the cut is exact. Every record fits one body (see `records`).
    """
    overhead = operation_bytes(times)
    planned: list[PlannedRequest] = []
    for wave in np.unique(waves):
        of_wave = waves == wave
        updates = user_bytes[of_wave & ~deletes]
        sizes = np.concatenate([updates, user_bytes[of_wave & deletes]])
        planned.extend(_cut(sizes, len(updates), int(wave), overhead, packing, first_number=len(planned) + 1))
    return planned


def _cut(
    sizes: npt.NDArray[np.int64],
    updates: int,
    wave: int,
    overhead: int,
    packing: Packing,
    *,
    first_number: int,
) -> list[PlannedRequest]:
    """Greedy: each request takes as many records as operations and bytes allow."""
    ends = np.concatenate([[0], np.cumsum(sizes + 1)])  # a user and its comma
    requests: list[PlannedRequest] = []
    start = 0
    while start < len(sizes):
        count = _fitting(ends, start, updates, overhead, packing)
        own_updates = min(max(updates - start, 0), count)
        spread = _operations(own_updates, count - own_updates, packing)
        requests.append(
            PlannedRequest(
                number=first_number + len(requests),
                wave=wave,
                updates=own_updates,
                deletes=count - own_updates,
                update_operations=spread[0],
                delete_operations=spread[1],
                body_bytes=int(1 + ends[start + count] - ends[start] + sum(spread) * overhead),
            )
        )
        start += count
    return requests


def _fitting(ends: npt.NDArray[np.int64], start: int, updates: int, overhead: int, packing: Packing) -> int:
    """The largest number of records from `start` on that fit one body, at least one (binary search)."""

    def fits(count: int) -> bool:
        own_updates = min(max(updates - start, 0), count)
        spread = sum(_operations(own_updates, count - own_updates, packing))
        size = 1 + ends[start + count] - ends[start] + spread * overhead
        return bool(spread <= packing.max_operations and size <= packing.max_body_bytes)

    low, high = 1, len(ends) - 1 - start
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _operations(updates: int, deletes: int, packing: Packing) -> tuple[int, int]:
    """How many operations the Updates and the Deletes of one body are spread over.

    One record an operation as long as there is room: then an index in `operation_errors` points at few people.
    """
    if packing.max_records_per_operation is not None:
        per = packing.max_records_per_operation
        return -(-updates // per), -(-deletes // per)
    room = packing.max_operations
    if updates + deletes <= room:
        return updates, deletes
    for_deletes = 0 if not deletes else min(deletes, max(1, round(room * deletes / (updates + deletes))))
    for_updates = min(updates, room - for_deletes)
    if updates and not for_updates:
        return 1, room - 1
    return for_updates, min(deletes, room - for_updates)
