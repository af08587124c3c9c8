"""The attempts of one request: their results, and whether another one is made (with tenacity)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, TypeVar

from tenacity import AsyncRetrying, RetryCallState

from audiencekit.delivery.faults import CLOCK_OFF, Reaction, RetryClass, retry_class
from audiencekit.delivery.results import Counts
from audiencekit.delivery.retry import RetryPolicy
from audiencekit.errors import (
    AudiencekitError,
    CountMismatch,
    CredentialsRefused,
    ExchangeError,
    Outcome,
    Refused,
    UsageError,
)

T = TypeVar("T")

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


class _Uncounted(NamedTuple):
    """The answer to a call that sends no records."""

    success_count: int = 0
    total_count: int = 0


async def with_retries(policy: RetryPolicy, call: Callable[[], Awaitable[T]]) -> T:
    """Return the result of `call`, which is no upload; it is repeated by the same rules as an upload.

    Raises the errors that a retry does not help.
    """
    attempts, found = Attempts(policy), []

    async def attempt() -> Attempted:
        attempts.begin_exchange()
        try:
            found.append(await call())
        except AudiencekitError as error:
            return error
        return _Uncounted()

    attempted: Any = await retrying(attempts, sleep=policy.clock.sleep, is_stopped=lambda: False)(attempt)
    if isinstance(attempted, AudiencekitError):
        raise attempted.bare()
    return found[0]
