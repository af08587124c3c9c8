"""Learn which size of requests the service takes, and send no larger ones for the rest of the run.

If a request was refused as a whole, and all its records were taken in parts, its size was the reason. Later requests
show which size it was (records, operations or bytes): if something as large was taken, that size is not the reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from audiencekit.limits import MIN_BODY_BYTES, SIZE_GAP_SHARE
from audiencekit.packed_request import PackedRequest
from audiencekit.text import option

RECORDS, OPERATIONS, BYTES = "records", "operations", "bytes"


@dataclass(frozen=True, slots=True)
class RequestSize:
    """The size of one request."""

    records: int
    operations: int
    bytes: int

    @classmethod
    def of(cls, request: PackedRequest) -> Self:
        """The size of `request`."""
        return cls(request.records, request.operations, request.body_bytes)


class LearnedSizes:
    """The largest size that was taken and the smallest that was refused, of each kind.

    `measure` is the kind of size that the service limits; None as long as no limit is known.
    """

    def __init__(self) -> None:
        self._taken = dict.fromkeys((RECORDS, OPERATIONS, BYTES), 0)
        self._refused: dict[str, int] = {}
        self._order = (RECORDS, OPERATIONS, BYTES)
        self._is_trying = False

    @property
    def measure(self) -> str | None:
        """The first kind of size in which everything refused is larger than everything taken."""
        if not self._refused:
            return None
        return next((kind for kind in self._order if self._taken[kind] < self._refused[kind]), None)

    @property
    def taken(self) -> int:
        """The largest size that was taken, by `measure`."""
        return self._taken[self.measure or RECORDS]

    def take(self, size: RequestSize) -> None:
        """Note that a request of this size was confirmed."""
        self._taken = {kind: max(most, getattr(size, kind)) for kind, most in self._taken.items()}
        if self.measure is None:
            self._refused.clear()  # the service refuses no size, or not any more

    def refuse(self, size: RequestSize, *, is_too_large: bool) -> None:
        """Note that a request of this size was refused, and all its records were taken in smaller ones.

        `is_too_large` says that the service called the body too large (413).
        """
        if is_too_large:
            self._order = (BYTES, RECORDS, OPERATIONS)
        self._refused = {
            kind: min(getattr(size, kind), self._refused.get(kind, getattr(size, kind))) for kind in self._order
        }
        if self.measure is None:
            self._refused.clear()

    def may_be_refused(self, size: RequestSize) -> bool:
        """Return whether the service may refuse this size: it exceeds what was accepted, by one measure at least."""
        return any(getattr(size, kind) > most for kind, most in self._taken.items())

    def is_over(self, size: RequestSize) -> bool:
        """Whether a request of this size was refused before."""
        measure = self.measure
        return measure is not None and getattr(size, measure) >= self._refused[measure]

    def try_larger(self) -> int | None:
        """Return a size between taken and refused ones to try, one try at a time; None when there is nothing to try."""
        measure = self.measure
        if measure is None or self._is_trying:
            return None
        taken, refused = self._taken[measure], self._refused[measure]
        if refused - taken <= max(1, taken * SIZE_GAP_SHARE):
            return None
        self._is_trying = True
        return (taken + refused) // 2

    def tried(self) -> None:
        """Note that the attempt with the larger size has ended."""
        self._is_trying = False

    def to_json(self) -> dict[str, Any] | None:
        """Return the facts for a report: the limited kind of size, the largest taken and the smallest refused size."""
        measure = self.measure
        if measure is None:
            return None
        return {
            "limited": measure,
            "taken": dict(self._taken),
            "refused": {kind: self._refused[kind] for kind in self._taken},
        }

    @property
    def note(self) -> str | None:
        """Return the same for people, with the option that avoids refusals for size."""
        measure = self.measure
        if measure is None:
            return None
        most, least = self._taken[measure], self._refused[measure]
        name = "max_body_bytes" if measure == BYTES and most >= MIN_BODY_BYTES else "max_records_per_request"
        given = self._taken[RECORDS] if measure == BYTES and name != "max_body_bytes" else most
        message = f"the service took at most {most:,} {measure} a request and refused {least:,}"
        return f"{message}: {option(name, given)} saves the attempts with larger ones"
