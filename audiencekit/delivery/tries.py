"""One request and its attempts: what came of each, and, through tenacity, whether there is another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from tenacity import AsyncRetrying, RetryCallState

from audiencekit.delivery.results import Counts
from audiencekit.delivery.retry import Reaction, RetryPolicy, retry_class
from audiencekit.errors import (
    AudiencekitError,
    CredentialsRefused,
    ExchangeError,
    Outcome,
    Refused,
    UsageError,
)

# An attempt gives back its error instead of raising it: a traceback would keep the body alive, and show it.
Attempted = Counts | AudiencekitError


class Tries:
    """What one request has been through. `exchanges` counts all, `rate_limited` those that a 429 answered.

    `error` is that of the last exchange, None when it was confirmed.
    """

    def __init__(self, policy: RetryPolicy) -> None:
        self._policy = policy
        self._failures: Counter[type[AudiencekitError]] = Counter()
        self._rate_limits_in_a_row = 0
        self._under_way = False
        self._known: Outcome | None = None
        self.error: AudiencekitError | None = None
        self.exchanges = 0
        self.rate_limited = 0
        self.reaction: Reaction | None = None
        self.delay_seconds = 0.0
        self.given_up = False

    @property
    def outcome(self) -> Outcome | None:
        """What is known of the request over all attempts; None when none was made."""
        return Outcome.UNKNOWN if self._under_way else self._known

    def begin_exchange(self) -> None:
        """Notes that the request leaves now. Until `record` says otherwise, its outcome is unknown."""
        self.exchanges += 1
        self._under_way = True

    def record(self, attempted: Attempted) -> None:
        """Notes what an exchange came to; decides `reaction`, `delay_seconds` and `given_up`."""
        self._under_way = False
        if not isinstance(attempted, AudiencekitError):
            self._known, self.reaction, self.error = Outcome.CONFIRMED, None, None
            self._policy.quota.refund(after_resend=bool(self._failures))
            return
        # An attempt that may have been applied is not undone by a later refusal.
        if self._known is not Outcome.UNKNOWN:
            self._known = _outcome_of(attempted)
        self.error, self.reaction = attempted, retry_class(attempted).reaction
        if self.reaction is Reaction.WAIT:
            self._record_rate_limit(attempted)
        elif self.reaction is Reaction.RESEND:
            self._record_failure(attempted)

    def _record_rate_limit(self, error: AudiencekitError) -> None:
        self.rate_limited += 1
        self._rate_limits_in_a_row += 1
        self.given_up = self._rate_limits_in_a_row >= retry_class(error).at_most
        self.delay_seconds = self._policy.rate_limit_delay(error, self._rate_limits_in_a_row)

    def _record_failure(self, error: AudiencekitError) -> None:
        self._rate_limits_in_a_row = 0
        self._failures[type(error)] += 1
        failures = self._failures.total()
        too_often = self._failures[type(error)] > retry_class(error).at_most
        used_up = too_often or failures >= self._policy.max_attempts
        self.given_up = used_up or not self._policy.quota.spend()
        self.delay_seconds = self._policy.resend_delay(error, failures)


def _outcome_of(error: AudiencekitError) -> Outcome:
    if isinstance(error, ExchangeError):
        return error.outcome
    # These are raised before the first byte leaves; of anything else nobody knows.
    return Outcome.REFUSED if isinstance(error, Refused | UsageError | CredentialsRefused) else Outcome.UNKNOWN


def retrying(
    tries: Tries, *, sleep: Callable[[float], Awaitable[None]], is_stopped: Callable[[], bool]
) -> AsyncRetrying:
    """What calls an attempt again until it is confirmed, given up or halted, or `is_stopped` says so.

    The call gives back the last attempt. Nothing else than a cancellation is raised.
    """

    def is_another_wanted(state: RetryCallState) -> bool:
        if state.outcome is None or state.outcome.failed:  # cancelled
            return False
        tries.record(state.outcome.result())
        return tries.reaction in (Reaction.RESEND, Reaction.WAIT)

    def last_attempt(state: RetryCallState) -> Any:
        return None if state.outcome is None else state.outcome.result()

    return AsyncRetrying(
        retry=is_another_wanted,
        stop=lambda state: tries.given_up or is_stopped(),
        wait=lambda state: tries.delay_seconds,
        sleep=sleep,
        retry_error_callback=last_attempt,
    )
