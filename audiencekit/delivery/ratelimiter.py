"""The protocols of limiters: one method for all, and more for those that are shared."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


class RateLimiter(Protocol):
    """The door for limiters, and all that the uploader needs of one. One call is one request that leaves."""

    async def acquire(self) -> None:
        """Returns when one request may leave. A cancelled call uses up nothing, or at most one place."""


@runtime_checkable
class Pausable(Protocol):
    """The additions of a shared limiter: a 429 to one process holds back all."""

    async def pause(self, seconds: float) -> None:
        """Note a 429: no request gets a place for `seconds`, and the pace halves, once a pause; it recovers slowly."""

    @property
    def is_quota_shared(self) -> bool:
        """Whether a 429 came although the pace was kept: another client uses the same quota."""
