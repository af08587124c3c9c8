"""Retries: the policy of a run, the attempts of a request, outages, the quota of a run, and the clock."""

from __future__ import annotations

import asyncio
import math
import random
import secrets
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from tenacity import AsyncRetrying, RetryCallState

from audiencekit.delivery.faults import CLOCK_OFF, Reaction, RetryClass, retry_class
from audiencekit.delivery.results import Counts
from audiencekit.errors import (
    AudiencekitError,
    CountMismatch,
    CredentialsRefused,
    ExchangeError,
    LongWait,
    Outcome,
    RateLimited,
    Refused,
    TemporarilyUnavailable,
    UsageError,
)
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

T = TypeVar("T")

MOST_STEPS: Final = 16  # of growth; the cap holds long before


class _Uncounted(NamedTuple):
    """The answer to a call that sends no records."""

    success_count: int = 0
    total_count: int = 0


class RetryPolicy:
    """The retry policy that all requests of a run share: attempts, waits, quota, outages, corrections of the clock.

    `request_seconds` is the time that one request may take, from its first byte to the end of its last wait.
    `longest_wait_seconds` is the time that the run may wait without a confirmed request.
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
        longest_wait_seconds: float = math.inf,
    ) -> None:
        self.clock = clock
        self._longest_wait_seconds = longest_wait_seconds
        self._confirmed_at = 0.0
        self._randomness = randomness
        self._resigned_at: float | None = None
        self.quota = quota or RetryQuota()
        self.outage = outage or Outage(clock=clock)
        self.max_attempts = max_attempts
        self.request_seconds = request_seconds

    async def with_retries(self, call: Callable[[], Awaitable[T]], notify: Callable[[str], None] | None = None) -> T:
        """Return the result of `call`, which is no upload; it is repeated by the same rules as an upload.

        `notify` is told of the first failure that is waited for. Raises the errors that a retry does not help, and
        LongWait.
        """
        attempts, found, failures = Attempts(self), list[T](), list[AudiencekitError]()
        self.begin_waiting()

        async def attempt() -> Attempted:
            attempts.begin_exchange()
            try:
                found.append(await call())
            except AudiencekitError as error:
                failures.append(error)
                return error
            return _Uncounted()

        async def sleep(seconds: float) -> None:
            if (refusal := self.refuse_wait(seconds)) is not None:
                raise refusal
            if notify is not None and len(failures) == 1:
                notify(f"{failures[0]}; asking again")
            await self.clock.sleep(seconds)

        attempted: Any = await retrying(attempts, sleep=sleep, is_stopped=lambda: False)(attempt)
        if isinstance(attempted, AudiencekitError):
            raise attempted.bare()
        return found[0]

    @classmethod
    def seeded(cls, clock: Clock, *, longest_wait_seconds: float = math.inf) -> RetryPolicy:
        """Return a policy with this clock and a random seed: processes that fail together wait differently."""
        randomness = random.Random(secrets.randbits(64))
        return cls(clock=clock, randomness=randomness, longest_wait_seconds=longest_wait_seconds)

    def begin_waiting(self) -> None:
        """Count the time without a confirmed request from now."""
        self._confirmed_at = self.clock.monotonic()

    @property
    def patience_seconds(self) -> float:
        """The seconds that the run may still wait for a confirmed request; infinite where there is no limit."""
        return self._confirmed_at + self._longest_wait_seconds - self.clock.monotonic()

    def refuse_wait(self, seconds: float) -> LongWait | None:
        """Return the error that ends the run if it may not wait for so long; None if it may."""
        if seconds <= max(0.0, self.patience_seconds):
            return None
        return LongWait(f"the next request would have to wait for {math.ceil(seconds)} s", seconds=seconds)

    def succeeded(self, *, began_at: float, after_resend: bool) -> None:
        """Note that an exchange that began then was confirmed: the quota grows, and an outage ends."""
        self.begin_waiting()
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


# --- The attempts of one request: their results, and whether another one is made (with tenacity) ---

# An attempt gives back its error instead of raising it: a traceback would keep the body alive, and show it.
Attempted = Counts | AudiencekitError


class Attempts:
    """The attempts of one request. `exchanges` counts all of them, `rate_limited` those that were answered by a 429.

    `error` is the error of the last exchange, None when it was confirmed. `is_probing` says that the next attempt only
    asks whether the service is back. `doubtful_at` is the monotonic second of the last attempt that may be applied
    late. `success_count` and `total_count` are the counts of the confirming answer; `miscounted` is the last error with
    other counts.
    """

    def __init__(self, policy: RetryPolicy) -> None:
        self._policy = policy
        self._failures: Counter[RetryClass] = Counter()
        self._first_began_at: float | None = None
        self._failing_since = self._began_at = self._began_before = 0.0
        self._rate_limits_in_a_row = 0
        self._under_way = False
        self._known: Outcome | None = None
        self.error: AudiencekitError | None = None
        self.success_count = self.total_count = 0
        self.miscounted: CountMismatch | None = None
        self.exchanges = 0
        self.rate_limited = 0
        self.reaction: Reaction | None = None
        self.delay_seconds = 0.0
        self.doubtful_at: float | None = None
        self.is_probing = False
        self.given_up = False

    @property
    def outcome(self) -> Outcome | None:
        """The outcome of the request over all attempts; None when none was made."""
        return Outcome.UNKNOWN if self._under_way else self._known

    @property
    def is_confirmed(self) -> bool:
        """Whether the last attempt was confirmed."""
        return self.outcome is Outcome.CONFIRMED

    @property
    def wants_isolation(self) -> bool:
        """Whether some of its records may be the reason, so that the others should be sent without them."""
        if self.error is None:
            return False
        answer = retry_class(self.error)
        is_spent = self.given_up and answer.afterwards is Reaction.ISOLATE and self._failures[answer] > answer.at_most
        return answer.reaction is Reaction.ISOLATE or is_spent

    def begin_exchange(self) -> None:
        """Note that the request is sent now. Until `record` says otherwise, its outcome is unknown."""
        self.exchanges += 1
        self._under_way = True
        self._began_before = self._began_at
        self._began_at = self._policy.clock.monotonic()
        if self._first_began_at is None:
            self._first_began_at = self._began_at

    def record(self, attempted: Attempted) -> None:
        """Note the result of an exchange, and decide `reaction`, `delay_seconds`, `is_probing` and `given_up`."""
        self._under_way = self.is_probing = False
        if not isinstance(attempted, AudiencekitError):
            self._known, self.reaction, self.error = Outcome.CONFIRMED, None, None
            self.success_count, self.total_count = attempted.success_count, attempted.total_count
            self._policy.succeeded(began_at=self._began_at, after_resend=bool(self._failures))
            return
        # An attempt that may have been applied is not undone by a later refusal.
        if self._known is not Outcome.UNKNOWN:
            self._known = _outcome_of(attempted)
        if isinstance(attempted, CountMismatch):
            self.miscounted = attempted
        answer = retry_class(attempted)
        self.error, self.reaction = attempted, answer.reaction
        if answer.may_apply_late(attempted):
            self.doubtful_at = self._policy.clock.monotonic()
        if self.reaction is Reaction.WAIT:
            self._record_rate_limit(attempted, answer)
        elif self.reaction is Reaction.RESEND:
            self._record_failure(attempted, answer)
        self.given_up = self.given_up or self._is_overdue()

    def probe_delay(self, probes: int) -> float:
        """Return the seconds to wait before the `probes`-th probe of an outage, if this request sends it."""
        assert self.error is not None  # noqa: S101
        return self._policy.probe_delay(self.error, probes)

    def _is_overdue(self) -> bool:
        """Whether the request would exceed its time by waiting for another attempt."""
        began_at = self._began_at if self._first_began_at is None else self._first_began_at
        return self._policy.clock.monotonic() + self.delay_seconds - began_at > self._policy.request_seconds

    def _record_rate_limit(self, error: AudiencekitError, answer: RetryClass) -> None:
        self.rate_limited += 1
        self._rate_limits_in_a_row += 1
        self.given_up = self._rate_limits_in_a_row >= answer.at_most
        self.delay_seconds = self._policy.rate_limit_delay(error, self._rate_limits_in_a_row)

    def _record_failure(self, error: AudiencekitError, answer: RetryClass) -> None:
        self._rate_limits_in_a_row = 0
        if not self._failures:
            self._failing_since = self._began_at
        self._failures[answer] += 1
        failures = self._failures.total()
        self.delay_seconds = self._policy.resend_delay(error, failures)
        if answer is CLOCK_OFF:
            self.given_up = not self._policy.may_resign(self._began_at)
        elif answer.is_outage:
            attempts_left = failures < self._policy.max_attempts
            self.is_probing = not (attempts_left and self._policy.quota.spend())
            outlived = self._policy.outage.is_outlived(
                failing_since=self._failing_since, tried_before_at=self._began_before, attempts_left=attempts_left
            )
            self.given_up = self.is_probing and not outlived
        else:
            used_up = self._failures[answer] > answer.at_most or failures >= self._policy.max_attempts
            self.given_up = used_up or not self._policy.quota.spend()


def _outcome_of(error: AudiencekitError) -> Outcome:
    if isinstance(error, ExchangeError):
        return error.outcome
    # These are raised before the first byte leaves; of all others it is not known.
    return Outcome.REFUSED if isinstance(error, Refused | UsageError | CredentialsRefused) else Outcome.UNKNOWN


def retrying(
    attempts: Attempts, *, sleep: Callable[[float], Awaitable[None]], is_stopped: Callable[[], bool]
) -> AsyncRetrying:
    """Return a loop that repeats a call until it is confirmed, given up or halted, or `is_stopped` returns True.

    It returns the last attempt. It raises nothing but a cancellation.
    """

    def is_another_wanted(state: RetryCallState) -> bool:
        if state.outcome is None or state.outcome.failed:  # cancelled
            return False
        attempts.record(state.outcome.result())
        return attempts.reaction in (Reaction.RESEND, Reaction.WAIT)

    def last_attempt(state: RetryCallState) -> Any:
        return None if state.outcome is None else state.outcome.result()

    return AsyncRetrying(
        retry=is_another_wanted,
        stop=lambda state: attempts.given_up or is_stopped(),
        wait=lambda state: attempts.delay_seconds,
        sleep=sleep,
        retry_error_callback=last_attempt,
    )


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
