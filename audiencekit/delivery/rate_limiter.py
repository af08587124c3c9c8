"""The protocols of limiters: `acquire` for all, and more methods for shared ones."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


class RateLimiter(Protocol):
    """The protocol of a rate limiter: the uploader calls `acquire` once for each request that it sends."""

    async def acquire(self) -> None:
        """Return when one request may be sent. A cancelled call uses no place, or one."""


@runtime_checkable
class Pausable(Protocol):
    """The additional methods of a shared limiter: a 429 to one process pauses all."""

    async def pause(self, seconds: float) -> None:
        """Note a 429: no request gets a place for `seconds`, and the pace halves, once a pause; it recovers slowly."""

    @property
    def is_quota_shared(self) -> bool:
        """Whether a 429 came although the pace was kept: another client uses the same quota."""
