"""The facts of a delivery: the result of each request, and their sums."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from audiencekit.errors import AudiencekitError, Outcome, RateLimited, ServiceError, TemporarilyUnavailable
from audiencekit.packed_request import PackedRequest

# --- The sums of a delivery, made from results as they come ---


class DeliveryTally:
    """Add up results. Of a confirmed request only its counts and refused rows are stored."""

    def __init__(self) -> None:
        self.is_read_to_end = False
        self._confirmed = self._records = self._body_bytes = self._attempts = self._rate_limited = 0
        self._success_count = self._total_count = 0
        self._pending: list[RequestResult] = []
        self._refused: list[RefusedRow] = []

    def add(self, result: RequestResult) -> None:
        """Count one request, confirmed or not."""
        self._attempts += result.attempts
        self._rate_limited += result.rate_limited
        if not result.is_confirmed:
            self._pending.append(result)
            return
        self._confirmed += 1
        self._records += result.records
        self._body_bytes += result.body_bytes
        self._success_count += result.success_count
        self._total_count += result.total_count
        self._refused.extend(result.refused)

    @property
    def confirmed(self) -> int:
        """Requests confirmed so far."""
        return self._confirmed

    @property
    def is_complete(self) -> bool:
        """Whether no request is left, taken or not."""
        return self.is_read_to_end and not self._pending

    def close(
        self,
        error: AudiencekitError | None,
        *,
        notes: tuple[str, ...] = (),
        learned_size: dict[str, Any] | None = None,
    ) -> Delivered:
        """Return the sums so far, with the error that stopped the delivery."""
        return Delivered(
            confirmed=self._confirmed,
            records_confirmed=self._records,
            body_bytes=self._body_bytes,
            success_count=self._success_count,
            total_count=self._total_count,
            attempts=self._attempts,
            rate_limited=self._rate_limited,
            pending=tuple(sorted(self._pending, key=lambda result: result.number)),
            is_read_to_end=self.is_read_to_end,
            error=error,
            refused=tuple(sorted(self._refused, key=lambda refused: refused.row)),
            notes=notes,
            learned_size=learned_size,
        )


# --- The types between the uploader and its callers: requests and counts in, results out ---


class Counts(Protocol):
    """The two counts in the answer of a users endpoint (specification part 2, section 4.4)."""

    @property
    def success_count(self) -> int:
        """The records that the service took."""

    @property
    def total_count(self) -> int:
        """The records that the service saw."""


class OpenedBody(Protocol):
    """The places of the records in one body. `operation_of` is the operation of each record, both counted from 0."""

    @property
    def operation_of(self) -> npt.NDArray[np.int64]:
        """The operation of each record, as a number."""

    @property
    def record_bytes(self) -> npt.NDArray[np.int64]:
        """The bytes of each record, with its comma."""

    @property
    def operation_bytes(self) -> int:
        """The bytes of one operation besides its records."""

    def spread(self, records: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The operation of each of `records` when they are sent in a request alone, spread as a plan does it."""

    def part(self, records: npt.NDArray[np.int64], operations: npt.NDArray[np.int64] | None = None) -> PackedRequest:
        """A request with these records only, given in ascending order.

        `operations` is the operation of each record, ascending; by default they stay together as they are.
        """


OpenBody: TypeAlias = Callable[[PackedRequest], OpenedBody | None]


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """A row whose record the service refused when it was sent alone; `codes` are the service's words for it."""

    row: int
    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Miscount:
    """The last counts of the service for the whole request `number`, which differ from the records sent."""

    number: int
    records_sent: int
    success_count: int
    total_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestResult:
    """How one request ended. `attempts` counts every exchange, `rate_limited` those that were answered by a 429.

    `outcome` is None when nothing was sent, and `unknown` as soon as one attempt may have been applied without a
    confirmation. `error` is the class name of the last error, `codes` are the codes of the service. `records` of a
    confirmed request are those that the service took, without the `refused` ones. `success_count` and `total_count` are
    the counts of the service, summed over parts; 0 for a request that is not confirmed, which has a `miscount` if the
    service counted it differently. `is_doubtful` says that an attempt may still be applied, even if a later one was
    confirmed.
    """

    number: int
    outcome: Outcome | None
    attempts: int
    rate_limited: int
    records: int
    body_bytes: int
    error: str | None = None
    codes: tuple[str, ...] = ()
    refused: tuple[RefusedRow, ...] = ()
    is_doubtful: bool = False
    success_count: int = 0
    total_count: int = 0
    miscount: Miscount | None = None

    @property
    def is_confirmed(self) -> bool:
        """Whether the records sent, `success_count` and `total_count` are equal."""
        return self.outcome is Outcome.CONFIRMED


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """How a delivery ended. Its sums are over confirmed requests; `attempts` and `rate_limited` are over all.

    `pending` are the requests, in order, that were taken and are not confirmed; unless `is_read_to_end`, the plan has
    more, which were never taken. `refused` are single rows of confirmed requests, in row order. `notes` are for readers
    of the report. `learned_size` is the size from which on the service refuses requests, None where no limit was seen.
    `error` is the first error that stopped the delivery, None when it is complete.
    """

    confirmed: int
    records_confirmed: int
    body_bytes: int
    success_count: int
    total_count: int
    attempts: int
    rate_limited: int
    pending: tuple[RequestResult, ...]
    is_read_to_end: bool
    error: AudiencekitError | None
    refused: tuple[RefusedRow, ...] = ()
    notes: tuple[str, ...] = ()
    learned_size: dict[str, Any] | None = None

    @property
    def is_complete(self) -> bool:
        """Whether every request of the plan is confirmed."""
        return self.is_read_to_end and not self.pending and self.error is None

    @property
    def pending_refused(self) -> bool:
        """Whether the service refused the pending requests, so that sending them again would not help."""
        waits = isinstance(self.error, RateLimited | TemporarilyUnavailable)
        return isinstance(self.error, ServiceError) and not waits
