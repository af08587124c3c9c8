"""The doors for limiters: one method that everybody needs, and what a shared limiter is told besides."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


class RateLimiter(Protocol):
    """The door for limiters, and all that the uploader needs of one. One call is one request that leaves."""

    async def acquire(self) -> None:
        """Returns when one request may leave. A cancelled call uses up nothing, or at most one place."""


@runtime_checkable
class Pausable(Protocol):
    """What a limiter has on top when others share it: a 429 to one of them holds back all."""

    async def pause(self, seconds: float) -> None:
        """Notes a 429: nobody gets a place for `seconds`, and the pace halves, once a pause; it recovers slowly."""

    @property
    def is_quota_shared(self) -> bool:
        """Whether a 429 came although the pace was kept: somebody else uses the same quota."""
