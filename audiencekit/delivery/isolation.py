"""Find the bad records of a refused request: send parts of it, one after the other, until only bad records are left.

Pure: it names groups of records and is given the result of each. The first operation that an error names by its index
is checked before the other indexes are believed; without an index, a refused group is halved. A record is given up only
if it was refused alone. One bad record among 25 of an operation costs at most 9 requests (reliability bar, faults 17
and 19-21).

A group may also be refused for its size, if no group of this size was taken before. Then both halves are sent. When all
records of a refused group are taken in smaller groups, its size was the reason, and no larger group is sent any more
(`request_sizes`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from audiencekit.delivery.request_sizes import BYTES, RECORDS, LearnedSizes, RequestSize
from audiencekit.errors import AudiencekitError, CountMismatch, ServiceError
from audiencekit.limits import ISOLATION_REQUESTS, ISOLATION_SINGLES, SIZE_TRIAL_PARTS

Indices = npt.NDArray[np.int64]
TOO_LARGE: Final = 413


class Places(Protocol):
    """The places of the records in one body: see `OpenedBody`."""

    @property
    def operation_of(self) -> Indices:
        """The operation of each record, counted from 0."""

    @property
    def record_bytes(self) -> Indices:
        """The bytes of each record, with its comma."""

    @property
    def operation_bytes(self) -> int:
        """The bytes of one operation besides its records."""

    def spread(self, records: Indices) -> Indices:
        """The operation of each of `records` when they are sent in a request alone, spread as a plan does it."""


@dataclass(frozen=True, slots=True, eq=False)
class SuspectGroup:
    """Records of one request, by their ascending indexes in its body.

    `others` are records of which at least one is bad if none of `records` is; where the whole `may_be_too_large`, they
    are sent as they are. None when nothing follows. `operations` is the operation of each record in the part to send;
    None to leave each in its own. `is_piece` says that the group was cut to a learned size, `is_trial` that it tries a
    larger one. `is_like_a_taken_one` says that a group of as many records was just taken.
    """

    records: Indices
    others: Indices | None = None
    operations: Indices | None = None
    is_piece: bool = False
    is_trial: bool = False
    may_be_too_large: bool = False
    is_like_a_taken_one: bool = False


class _NextGroup(NamedTuple):
    """A group to send: as it is, or as two halves, one after the other."""

    records: Indices
    is_halved: bool = False
    is_piece: bool = False
    may_be_too_large: bool = False
    is_like_a_taken_one: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class _Refusal:
    """A refused group whose refusal names no operation."""

    records: Indices = field(repr=False)
    size: RequestSize
    is_too_large: bool


class Isolation:
    """The search begins with the error of the whole request; None if it was not sent because of its size.

    `whole` is the size of the request. `is_trusted` says whether the service took any other request of the run. If not,
    a request of bad records only is our own mistake.
    """

    def __init__(
        self,
        places: Places,
        error: AudiencekitError | None,
        *,
        whole: RequestSize,
        sizes: LearnedSizes,
        is_trusted: Callable[[], bool],
    ) -> None:
        self._places, self._sizes, self._is_trusted = places, sizes, is_trusted
        self._next: list[_NextGroup] = []  # the last comes first
        self._rest: list[Indices] = []  # to be sent together, at last
        self._asked = self._taken = 0
        self._believes_indices = True
        self._check: Indices | None = None  # a group that an index accuses, sent to see whether it is right
        self._refusals: list[_Refusal] = []  # without a bad record in them, as far as is known
        self._is_settled = np.zeros(len(places.operation_of), dtype=np.bool_)
        self._last_error: AudiencekitError | None = error
        self.bad: dict[int, tuple[str, ...]] = {}
        self.halted_by: AudiencekitError | None = None
        everything = np.arange(len(places.operation_of), dtype=np.int64)
        if error is None:
            self._next.append(_NextGroup(everything, is_piece=True))
        else:
            self._begin(everything, error, whole)

    def next_group(self) -> SuspectGroup | None:
        """Return the next group to send; None when all are taken or `bad`, or `halted_by` says why."""
        if self.halted_by is not None:
            return None
        if not self._next and self._rest:
            self._next.append(_NextGroup(np.sort(np.concatenate(self._rest))))
            self._rest.clear()
        if not self._next:
            return None
        group = self._group(self._next.pop())
        self._asked += not group.is_piece
        return group

    def taken(self, group: SuspectGroup, size: RequestSize) -> None:
        """Note that the service confirmed `group`, in a request of that size."""
        self._sizes.take(size)
        self._end_trial(group)
        self._taken += len(group.records)
        if group.records is self._check:
            self._believes_indices = False
        if group.others is not None:
            if group.may_be_too_large:
                self._next.append(_NextGroup(group.others, is_like_a_taken_one=True))
            else:
                self._suspect(group.others)
        self._is_settled[group.records] = True
        for refusal in [each for each in self._refusals if self._is_settled[each.records].all()]:
            self._refusals.remove(refusal)
            self._sizes.refuse(refusal.size, is_too_large=refusal.is_too_large)

    def refused(self, group: SuspectGroup, error: AudiencekitError, size: RequestSize) -> None:
        """Note that the service refused `group`, in a request of that size, or counts it wrong again."""
        self._end_trial(group)
        self._last_error = error
        if group.others is not None:
            self._rest.append(group.others)
        if isinstance(error, CountMismatch):
            self.halted_by = error  # halved once, and still wrong: unconfirmed
        elif len(group.records) == 1 and not _is_of_service(error):
            self.halted_by = error  # a gateway says nothing of a record
        elif len(group.records) == 1:
            self._give_up(int(group.records[0]), error)
        else:
            self._split(group, error, size)
        self._halt_if_systematic(error)

    def finish(self) -> None:
        """Decide at the end: if the service took nothing of the whole run, the mistake is ours."""
        if self.halted_by is None and self.bad and not self._taken and not self._is_trusted():
            self.halted_by = self._last_error

    def _begin(self, everything: Indices, error: AudiencekitError, whole: RequestSize) -> None:
        group = SuspectGroup(everything)
        if isinstance(error, CountMismatch) and len(everything) > 1:
            self._send_each(_halves(everything))
            return
        if len(self._named(group, error)) >= ISOLATION_SINGLES and self._names_all(group, error):
            self.halted_by = error
            return
        self.refused(group, error, whole)

    # --- the next group ---

    def _group(self, coming: _NextGroup) -> SuspectGroup:
        records = coming.records
        if self._sizes.measure is not None:
            count, is_trial = self._fitting(records)
            if count < len(records):
                self._next.append(_NextGroup(records[count:], is_piece=True))
                return self._piece(records[:count], is_trial=is_trial)
            if coming.is_piece:
                return self._piece(records)
        if coming.is_halved:
            first, others = _halves(records)
            if coming.may_be_too_large:  # the larger half first: then the other is no larger than what was taken
                first, others = others, first
            return SuspectGroup(first, others, may_be_too_large=coming.may_be_too_large)
        return SuspectGroup(records, is_piece=coming.is_piece, is_like_a_taken_one=coming.is_like_a_taken_one)

    def _piece(self, records: Indices, *, is_trial: bool = False) -> SuspectGroup:
        """Return a part of a planned request. It has operations as planned, unless the service limits their number."""
        operations = self._places.spread(records) if self._sizes.measure == RECORDS else None
        return SuspectGroup(records, operations=operations, is_piece=True, is_trial=is_trial)

    def _fitting(self, records: Indices) -> tuple[int, bool]:
        """Return how many of `records`, at least one, make a request of a good size, and whether it is a trial."""
        most = self._sizes.taken
        if self._count(records, most * SIZE_TRIAL_PARTS) < len(records) and (larger := self._sizes.try_larger()):
            return self._count(records, larger), True
        return self._count(records, most), False

    def _count(self, records: Indices, most: int) -> int:
        if self._sizes.measure == RECORDS:
            return min(len(records), most)
        begins = np.diff(self._places.operation_of[records], prepend=-1) != 0
        sizes = np.cumsum(begins)
        if self._sizes.measure == BYTES:
            sizes = 1 + np.cumsum(self._places.record_bytes[records]) + sizes * self._places.operation_bytes
        return max(1, int(sizes.searchsorted(most, side="right")))

    def _end_trial(self, group: SuspectGroup) -> None:
        if group.is_trial:
            self._sizes.tried()

    # --- after a refusal ---

    def _give_up(self, record: int, error: AudiencekitError) -> None:
        self.bad[record] = getattr(error, "codes", ())
        self._is_settled[record] = True
        self._refusals = [each for each in self._refusals if not _holds(each.records, record)]

    def _split(self, group: SuspectGroup, error: AudiencekitError, size: RequestSize) -> None:
        is_too_large = isinstance(error, ServiceError) and error.status == TOO_LARGE
        named = [] if is_too_large else self._named(group, error)
        if named:
            self._check_named(group, named)
            return
        if is_too_large or not getattr(error, "operation_errors", None):
            self._refusals.append(_Refusal(group.records, size, is_too_large))
        may_be_too_large = is_too_large or (not group.is_like_a_taken_one and self._sizes.may_be_refused(size))
        self._next.append(_NextGroup(group.records, is_halved=True, may_be_too_large=may_be_too_large))

    def _check_named(self, group: SuspectGroup, named: list[int]) -> None:
        records, operations = group.records, self._operations(group)
        accused = [records[operations == operation] for operation in named]
        rest = records[~np.isin(operations, named)]
        # The last to be added is sent first: one that is checked, then the rest, which should be good.
        check = accused.pop(0) if len(rest) else None
        for each in accused:
            self._suspect(each)
        if check is not None:
            self._check = check
            self._send_each((rest, check))

    def _suspect(self, records: Indices) -> None:
        self._next.append(_NextGroup(records, is_halved=len(records) > 1))

    def _send_each(self, groups: Iterable[Indices]) -> None:
        self._next.extend(_NextGroup(records) for records in groups)

    def _operations(self, group: SuspectGroup) -> Indices:
        return self._places.operation_of[group.records] if group.operations is None else group.operations

    def _named(self, group: SuspectGroup, error: AudiencekitError) -> list[int]:
        """Return the operations that the error names, numbered as in `_operations`; none when an index is invalid."""
        operations = np.unique(self._operations(group))
        given = getattr(error, "operation_errors", {}) if self._believes_indices else {}
        if not all(0 <= index < len(operations) for index in given):
            return []
        return [int(operations[index]) for index in given]

    def _names_all(self, group: SuspectGroup, error: AudiencekitError) -> bool:
        return len(self._named(group, error)) == len(np.unique(self._operations(group)))

    def _halt_if_systematic(self, error: AudiencekitError) -> None:
        is_systematic = not self._taken and len(self.bad) >= ISOLATION_SINGLES
        if self.halted_by is None and (is_systematic or self._asked >= ISOLATION_REQUESTS):
            self.halted_by = error


def _is_of_service(error: AudiencekitError) -> bool:
    return isinstance(error, ServiceError) and error.is_of_service


def _halves(records: Indices) -> tuple[Indices, Indices]:
    """Return the smaller half first: if it has the bad record, the other half costs nothing until the end."""
    middle = len(records) // 2
    return records[:middle], records[middle:]


def _holds(records: Indices, record: int) -> bool:
    """Whether `record` is among `records`, which are ascending."""
    place = int(records.searchsorted(record))
    return place < len(records) and int(records[place]) == record
