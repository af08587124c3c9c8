"""The sums of a delivery, made from results as they come."""

from __future__ import annotations

from typing import Any

from audiencekit.delivery.results import Delivered, RefusedRow, RequestResult
from audiencekit.errors import AudiencekitError


class DeliveryTally:
    """Adds up results. Nothing is kept of a confirmed request but its numbers and its refused rows."""

    def __init__(self) -> None:
        self.is_read_to_end = False
        self._confirmed = self._records = self._body_bytes = self._attempts = self._rate_limited = 0
        self._success_count = self._total_count = 0
        self._pending: list[RequestResult] = []
        self._refused: list[RefusedRow] = []

    def add(self, result: RequestResult) -> None:
        """Counts one request, confirmed or not."""
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
        """Whether there is no request left, taken or not."""
        return self.is_read_to_end and not self._pending

    def close(
        self,
        error: AudiencekitError | None,
        *,
        notes: tuple[str, ...] = (),
        learned_size: dict[str, Any] | None = None,
    ) -> Delivered:
        """The sums so far, with what stopped the delivery."""
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
