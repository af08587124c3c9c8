"""Which records of a refused request are bad: parts to send one after the other, until only bad ones are left.

Pure: it names groups of records and is told what became of them. The first operation that an error names by its index
is checked before the others are believed; without an index, a refused group is halved. No record is given up unless
it was refused alone: one bad record among 25 of an operation costs at most 9 requests (reliability bar, faults 17
and 19-21).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from audiencekit.errors import AudiencekitError, CountMismatch, ServiceError
from audiencekit.limits import ISOLATION_REQUESTS, ISOLATION_SINGLES

Indices = npt.NDArray[np.int64]
TOO_LARGE: Final = 413


@dataclass(frozen=True, slots=True, eq=False)
class SuspectGroup:
    """Records of one request, by their index in its body, ascending.

    `others` are those of which at least one is bad if none of `records` is; None when nothing follows.
    """

    records: Indices
    others: Indices | None = None


class Isolation:
    """Begins with the error that the whole request came to.

    `operation_of` is the operation of each record. `is_trusted` says whether the service took anything else of the
    run: if not, a request that is bad as a whole is a mistake of ours.
    """

    def __init__(self, operation_of: Indices, error: AudiencekitError, *, is_trusted: Callable[[], bool]) -> None:
        self._operation_of, self._is_trusted = operation_of, is_trusted
        self._next: list[tuple[Indices, bool]] = []  # the last comes first; True: holds a bad record, is to be halved
        self._rest: list[Indices] = []  # to be sent together, at last
        self._asked = self._taken = 0
        self._believes_indices = True
        self._check: Indices | None = None  # a group that an index accuses, sent to see whether it is right
        self.bad: dict[int, tuple[str, ...]] = {}
        self.halted_by: AudiencekitError | None = None
        self._begin(np.arange(len(operation_of), dtype=np.int64), error)

    def next_group(self) -> SuspectGroup | None:
        """The next group to send; None when every record was taken or is `bad`, or `halted_by` says why to stop."""
        if self.halted_by is not None:
            return None
        self._asked += 1
        if self._next:
            records, is_suspect = self._next.pop()
            return SuspectGroup(*_halves(records)) if is_suspect else SuspectGroup(records)
        if self._rest:
            together = np.sort(np.concatenate(self._rest))
            self._rest.clear()
            return SuspectGroup(together)
        return None

    def taken(self, group: SuspectGroup) -> None:
        """The service confirmed `group`."""
        self._taken += len(group.records)
        if group.records is self._check:
            self._believes_indices = False
        if group.others is not None:
            self._suspect(group.others)

    def refused(self, group: SuspectGroup, error: AudiencekitError) -> None:
        """The service refused `group`, or still counts it wrong."""
        self._last_error = error
        if group.others is not None:
            self._rest.append(group.others)
        if isinstance(error, CountMismatch):
            self.halted_by = error  # halved once, and still wrong: unconfirmed
        elif len(group.records) == 1 and not _is_of_service(error):
            self.halted_by = error  # a gateway says nothing of a record
        elif len(group.records) == 1:
            self.bad[int(group.records[0])] = getattr(error, "codes", ())
        else:
            self._split(group.records, error)
        self._halt_if_systematic(error)

    def finish(self) -> None:
        """Has its last word when there is no group left: nothing taken of the whole run is a mistake of ours."""
        if self.halted_by is None and self.bad and not self._taken and not self._is_trusted():
            self.halted_by = self._last_error

    def _begin(self, everything: Indices, error: AudiencekitError) -> None:
        self._last_error = error
        if isinstance(error, CountMismatch) and len(everything) > 1:
            self._send_each(_halves(everything))
            return
        if len(self._named(everything, error)) >= ISOLATION_SINGLES and self._names_all(everything, error):
            self.halted_by = error
            return
        self.refused(SuspectGroup(everything), error)

    def _split(self, records: Indices, error: AudiencekitError) -> None:
        if isinstance(error, ServiceError) and error.status == TOO_LARGE:
            self._send_each(_halves(records))
            return
        named = self._named(records, error)
        if not named:
            self._suspect(records)
            return
        accused = [records[self._operation_of[records] == operation] for operation in named]
        rest = records[~np.isin(self._operation_of[records], named)]
        # The last to be added is sent first: one that is checked, then the rest, which should be good.
        check = accused.pop(0) if len(rest) else None
        for group in accused:
            self._suspect(group)
        if check is not None:
            self._check = check
            self._send_each((rest, check))

    def _suspect(self, records: Indices) -> None:
        self._next.append((records, len(records) > 1))

    def _send_each(self, groups: Iterable[Indices]) -> None:
        self._next.extend((records, False) for records in groups)

    def _named(self, records: Indices, error: AudiencekitError) -> list[int]:
        """The operations that the error blames, as numbers of the whole; none when an index cannot be."""
        operations = np.unique(self._operation_of[records])
        given = getattr(error, "operation_errors", {}) if self._believes_indices else {}
        if not all(0 <= index < len(operations) for index in given):
            return []
        return [int(operations[index]) for index in given]

    def _names_all(self, records: Indices, error: AudiencekitError) -> bool:
        return len(self._named(records, error)) == len(np.unique(self._operation_of[records]))

    def _halt_if_systematic(self, error: AudiencekitError) -> None:
        is_systematic = not self._taken and len(self.bad) >= ISOLATION_SINGLES
        if self.halted_by is None and (is_systematic or self._asked >= ISOLATION_REQUESTS):
            self.halted_by = error


def _is_of_service(error: AudiencekitError) -> bool:
    return isinstance(error, ServiceError) and error.is_of_service


def _halves(records: Indices) -> tuple[Indices, Indices]:
    """The smaller half first: when the bad record is in it, its other half costs nothing until the end."""
    middle = len(records) // 2
    return records[:middle], records[middle:]
