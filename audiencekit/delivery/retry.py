"""The policy of retries: classes of faults, delays, outages, the quota of a run, and the clock."""

from __future__ import annotations

import asyncio
import math
import random
import secrets
import time
from collections.abc import Callable
from typing import Final, Protocol

from audiencekit.errors import AudiencekitError, RateLimited, TemporarilyUnavailable, UsageError
from audiencekit.limits import (
    FARTHEST_RESET_SECONDS,
    JITTER_SECONDS,
    MAX_ATTEMPTS,
    MAX_RATE_LIMIT_WAIT_SECONDS,
    MAX_RETRY_AFTER_SECONDS,
    OUTAGE_PATIENCE_SECONDS,
    PROBE_SECONDS,
    RATE_LIMIT_FALLBACK_SECONDS,
    REQUEST_SECONDS,
    RESIGN_SECONDS,
    RETRY_BASE_SECONDS,
    RETRY_CAP_SECONDS,
    RETRY_GROWTH,
)

# --- The policy: how often and after how long a request is sent again. The uploader waits ---

MOST_STEPS: Final = 16  # of growth; the cap holds long before


class RetryPolicy:
    """The retry policy that all requests of a run share: attempts, waits, quota, outages, corrections of the clock.

    `request_seconds` is the time that one request may take, from its first byte to the end of its last wait.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        randomness: random.Random,
        quota: RetryQuota | None = None,
        outage: Outage | None = None,
        max_attempts: int = MAX_ATTEMPTS,
        request_seconds: float = REQUEST_SECONDS,
    ) -> None:
        self.clock = clock
        self._randomness = randomness
        self._resigned_at: float | None = None
        self.quota = quota or RetryQuota()
        self.outage = outage or Outage(clock=clock)
        self.max_attempts = max_attempts
        self.request_seconds = request_seconds

    @classmethod
    def seeded(cls, clock: Clock) -> RetryPolicy:
        """Return a policy with this clock and a random seed: processes that fail together wait differently."""
        return cls(clock=clock, randomness=random.Random(secrets.randbits(64)))

    def succeeded(self, *, began_at: float, after_resend: bool) -> None:
        """Note that an exchange that began then was confirmed: the quota grows, and an outage ends."""
        self.quota.refund(after_resend=after_resend)
        self.outage.end(began_at=began_at)

    def may_resign(self, began_at: float) -> bool:
        """Whether an attempt that began then, and was refused for its time, is signed again: once in RESIGN_SECONDS.

        Attempts that were under way when the clock was corrected count as part of that correction.
        """
        now = self.clock.monotonic()
        if self._resigned_at is None or now - self._resigned_at >= RESIGN_SECONDS:
            self._resigned_at = now
            return True
        return began_at < self._resigned_at

    def resend_delay(self, error: AudiencekitError, failures: int) -> float:
        """Return the seconds to wait after the `failures`-th failure of a request: none at first, then more and more.

        A wait lies anywhere between the longest wait of the step before and the longest of this one: clients spread
        over the whole step, and an outage of 20 s is always outlived. A Retry-After takes precedence.
        """
        asked = self._asked(error)
        if asked is not None:
            return asked
        if failures <= 1:
            return 0.0
        return self._spread(failures - 2, RETRY_CAP_SECONDS)

    def probe_delay(self, error: AudiencekitError, probes: int) -> float:
        """Seconds before the `probes`-th probe of an outage."""
        return max(self._asked(error) or 0.0, self._spread(probes - 1, PROBE_SECONDS))

    def rate_limit_delay(self, error: AudiencekitError, in_a_row: int) -> float:
        """Return the seconds that all workers pause after a 429, the `in_a_row`-th of one request.

        The pause lasts until the reset, by the clock of the service if its answer has one, but at most
        MAX_RATE_LIMIT_WAIT_SECONDS. A reset that is missing, past or absurd is ignored.
        """
        wait = RATE_LIMIT_FALLBACK_SECONDS
        if isinstance(error, RateLimited) and error.reset_at is not None:
            wait = error.reset_at - (self.clock.now() if error.answered_at is None else error.answered_at)
        # Both times are whole seconds, so a reset within this second reads as now. NaN is not believed.
        if not -1.0 <= wait <= FARTHEST_RESET_SECONDS:
            wait = RATE_LIMIT_FALLBACK_SECONDS
        patience = min(2.0 ** (in_a_row - 1), RATE_LIMIT_FALLBACK_SECONDS)
        return min(max(wait, patience) + self._jitter(), MAX_RATE_LIMIT_WAIT_SECONDS)

    def _asked(self, error: AudiencekitError) -> float | None:
        asked = error.retry_after if isinstance(error, TemporarilyUnavailable) else None
        if asked is None or not asked >= 0:  # NaN is not believed
            return None
        return min(asked + self._jitter(), MAX_RETRY_AFTER_SECONDS)

    def _spread(self, steps: int, cap_seconds: float) -> float:
        longest = min(cap_seconds, RETRY_BASE_SECONDS * RETRY_GROWTH ** min(steps, MOST_STEPS))
        return self._randomness.uniform(longest / RETRY_GROWTH, longest)

    def _jitter(self) -> float:
        return self._randomness.uniform(0.0, JITTER_SECONDS)


# --- A service that is away: one request asks whether it is back, all others wait (reliability bar, P9) ---


class Outage:
    """An outage that all requests of a run share.

    It lasts since the last success; there is none before the first success.
    """

    def __init__(self, *, clock: Clock) -> None:
        self._clock = clock
        self._succeeded_at: float | None = None
        self._taken_at = -math.inf
        self._probes = 0
        self._turn, self._back = asyncio.Lock(), asyncio.Event()

    def is_outlived(self, *, failing_since: float, tried_before_at: float, attempts_left: bool) -> bool:
        """Whether a request that has failed since `failing_since` is worth further attempts.

        It is not when the run never had a success, or has waited for one long enough. It is not, either, when other
        requests were taken since its last try but one and this request has no attempts left: then the request itself is
        the reason.
        """
        if self._succeeded_at is None:
            return False
        is_everybodys = self._taken_at < tried_before_at
        waited_seconds = self._clock.monotonic() - max(self._succeeded_at, failing_since)
        return (attempts_left or is_everybodys) and waited_seconds < OUTAGE_PATIENCE_SECONDS

    def end(self, *, began_at: float) -> None:
        """Note that an exchange that began then was confirmed: all waiting requests go on at once."""
        self._succeeded_at = self._clock.monotonic()
        self._taken_at = max(self._taken_at, began_at)
        self._probes = 0
        self._back.set()
        self._back = asyncio.Event()

    async def probe(self, pause: Callable[[int], float]) -> None:
        """Return when the caller may send: as the n-th probe, alone, after `pause(n)` seconds, or after the outage."""
        back = self._back
        async with self._turn:
            if back.is_set():
                return
            self._probes += 1
            await self._sleep(pause(self._probes), back)

    async def _sleep(self, seconds: float, back: asyncio.Event) -> None:
        waits = [asyncio.ensure_future(self._clock.sleep(seconds)), asyncio.ensure_future(back.wait())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)


# --- The quota of re-sends of a run: a service in trouble must not be overloaded ---

# The figures of botocore's standard mode: 100 re-sends in a row without one success, then no more.
QUOTA_CAPACITY: Final = 500
RESEND_COST: Final = 5
QUIET_SUCCESS_REFUND: Final = 1


class RetryQuota:
    """Tokens that all requests of a run share: a re-send costs some, a success returns some (reliability bar, P9)."""

    def __init__(self, capacity: int = QUOTA_CAPACITY, *, cost: int = RESEND_COST) -> None:
        if capacity < 0 or cost < 1:
            raise UsageError("a retry quota needs a capacity of at least 0 and a cost of at least 1")
        self._capacity, self._cost, self._tokens = capacity, cost, capacity

    @property
    def tokens(self) -> int:
        """The tokens that are left, from 0 to the capacity."""
        return self._tokens

    def spend(self) -> bool:
        """Pay for one re-send if the tokens suffice; return whether they did."""
        if self._tokens < self._cost:
            return False
        self._tokens -= self._cost
        return True

    def refund(self, *, after_resend: bool) -> None:
        """Return the price of a re-send after a success that needed one, and a little after any other success."""
        given_back = self._cost if after_resend else QUIET_SUCCESS_REFUND
        self._tokens = min(self._capacity, self._tokens + given_back)


# --- The clock, which is an argument: delivery never asks the operating system for the time ---


class Clock(Protocol):
    """The clock of a delivery. Waits use `monotonic`; `now` is for times that the service names."""

    def now(self) -> float:
        """Return the epoch seconds of the wall clock."""

    def monotonic(self) -> float:
        """Return seconds that never go back. Only differences have a meaning."""

    async def sleep(self, seconds: float) -> None:
        """Return after `seconds`, possibly a little earlier or later."""


class SystemClock:
    """The clock of this machine."""

    def now(self) -> float:
        """Epoch seconds, as the wall clock says."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Returns after `seconds`."""
        await asyncio.sleep(seconds)
