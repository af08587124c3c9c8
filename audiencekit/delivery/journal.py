"""The duties of a journal: intent before bytes, acknowledgement after checks (design, section 4.7)."""

from __future__ import annotations

from typing import Protocol

from audiencekit.delivery.results import RequestResult
from audiencekit.packedrequest import PackedRequest


class Journal(Protocol):
    """The door for journals. What was called is durable when it returns; else it raises InputOutputFailed."""

    async def intend(self, request: PackedRequest) -> None:
        """Notes that the bytes of `request` are about to leave for the first time in this process."""

    async def leave_again(self, number: int) -> None:
        """Notes that bytes of an intended request, or of a part of it, are about to leave once more."""

    async def conclude(self, result: RequestResult) -> None:
        """Notes how the request ended, after its counts were checked."""


class NoJournal:
    """Keeps nothing: for callers who do without."""

    async def intend(self, request: PackedRequest) -> None:
        """Returns at once."""

    async def leave_again(self, number: int) -> None:
        """Returns at once."""

    async def conclude(self, result: RequestResult) -> None:
        """Returns at once."""
