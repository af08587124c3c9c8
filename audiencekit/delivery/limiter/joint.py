"""Two limiters as one: the quota of an account, and a pace that several accounts keep together."""

from __future__ import annotations

from audiencekit.delivery.ratelimiter import Pausable, RateLimiter


class JointLimiter:
    """A request leaves when both let it go. A 429 holds back both: it may be about either."""

    def __init__(self, own: RateLimiter, common: RateLimiter) -> None:
        self._own, self._common = own, common

    async def acquire(self) -> None:
        """Returns when one request may leave."""
        await self._common.acquire()
        await self._own.acquire()

    async def pause(self, seconds: float) -> None:
        """Note a 429."""
        for limiter in (self._own, self._common):
            if isinstance(limiter, Pausable):
                await limiter.pause(seconds)

    @property
    def is_quota_shared(self) -> bool:
        """Whether another client uses the quota of the account."""
        return isinstance(self._own, Pausable) and self._own.is_quota_shared
