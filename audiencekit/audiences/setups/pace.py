"""The pace of a setup: each account keeps to its own quota, and all of them together to one pace."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final

from audiencekit.delivery.limiter import RateLimiter, open_limiter
from audiencekit.delivery.limiter.pacing import JointLimiter
from audiencekit.delivery.retry import SystemClock
from audiencekit.destinations.ads import AUDIENCE
from audiencekit.settings import Settings

_ALL_ACCOUNTS: Final = "all accounts"  # no account is called so


@asynccontextmanager
async def one_pace(own: Settings) -> AsyncIterator[RateLimiter]:
    """The limiter for the account of `own`; it is shared with other processes, and so is the pace of all accounts."""
    clock, everywhere = SystemClock(), replace(own, account_id=_ALL_ACCOUNTS)
    async with (
        open_limiter(everywhere, AUDIENCE.quota, clock=clock) as common,
        open_limiter(own, AUDIENCE.quota, clock=clock) as alone,
    ):
        yield JointLimiter(alone, common)
