"""The limiter that the settings choose, and the name of its quota."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from audiencekit.delivery.limiter.host import HostLimiter
from audiencekit.delivery.limiter.redis import RedisLimiter
from audiencekit.delivery.rate_limiter import RateLimiter
from audiencekit.delivery.retry import Clock
from audiencekit.personal import Secret, guarded
from audiencekit.settings import Settings

QUOTA_LENGTH: Final = 32  # hex digits: 128 bits


@asynccontextmanager
async def open_limiter(
    settings: Settings, quota: str, *, clock: Clock, given: RateLimiter | None = None
) -> AsyncIterator[RateLimiter]:
    """Return the limiter for the account, the token and the service of `settings`, shared by all that have the same.

    `quota` says which requests the service counts together. A `given` limiter takes precedence over the settings.
    Raises InputOutputFailed when the file of the host's limiter cannot be used, UsageError for an invalid address of
    Redis.
    """
    if given is not None:
        yield given
        return
    token = settings.require_secrets()["access_token"]
    name = quota_of(settings.require_ads_url(), settings.require_account(), token, quota)
    pace = settings.requests_per_minute
    if settings.limiter is None:
        with HostLimiter(pace, quota=name, state_dir=settings.state_dir, clock=clock) as host:
            yield host
    else:
        async with RedisLimiter(pace, address=settings.limiter, quota=name, clock=clock) as many:
            yield many


@guarded
def quota_of(address: str, account_id: str, token: Secret, quota: str) -> str:
    """Return a name for the requests that the service counts together: by account and token (part 2, section 8).

    It is a shortened SHA-256. Tokens are long and random, so that the name does not reveal them.
    """
    parts = (address.rstrip("/"), account_id, quota, token.unwrap())
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:QUOTA_LENGTH]
