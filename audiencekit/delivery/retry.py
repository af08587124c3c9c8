"""Whether a request is sent again, and after how long. It decides and never waits: the uploader does that.

The rules are the fault catalogue's (reliability bar, section 3): R re-sends the same bytes, W waits and then
re-sends, H halts the run.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from audiencekit.delivery.clock import Clock
from audiencekit.delivery.quota import RetryQuota
from audiencekit.errors import (
    AudiencekitError,
    CertificateRefused,
    CountMismatch,
    MalformedAnswer,
    NotFound,
    RateLimited,
    Redirected,
    RequestRefused,
    TemporarilyUnavailable,
    TransportFailed,
    Unauthorized,
)
from audiencekit.limits import (
    DOUBTFUL_RESENDS,
    FARTHEST_RESET_SECONDS,
    JITTER_SECONDS,
    MAX_ATTEMPTS,
    MAX_RATE_LIMIT_WAIT_SECONDS,
    MAX_RETRY_AFTER_SECONDS,
    RATE_LIMIT_FALLBACK_SECONDS,
    RATE_LIMITS_IN_A_ROW,
    RETRY_BASE_SECONDS,
    RETRY_CAP_SECONDS,
    RETRY_GROWTH,
)

MOST_STEPS: Final = 16  # of growth; the cap holds long before


class Reaction(StrEnum):
    """What follows from an error, in the letters of the fault catalogue."""

    RESEND = "R"
    WAIT = "W"
    HALT = "H"


@dataclass(frozen=True, slots=True)
class RetryClass:
    """`at_most` bounds the re-sends of one request that errors of this class cause; for W, those in a row."""

    reaction: Reaction
    at_most: int = 0


RETRY_CLASSES: Final[Mapping[type[AudiencekitError], RetryClass]] = MappingProxyType(
    {
        TransportFailed: RetryClass(Reaction.RESEND, MAX_ATTEMPTS - 1),  # faults 2, 3, 12-15, 26-29
        TemporarilyUnavailable: RetryClass(Reaction.RESEND, MAX_ATTEMPTS - 1),  # faults 8-11
        MalformedAnswer: RetryClass(Reaction.RESEND, DOUBTFUL_RESENDS),  # faults 16, 18
        CountMismatch: RetryClass(Reaction.RESEND, DOUBTFUL_RESENDS),  # fault 17
        RateLimited: RetryClass(Reaction.WAIT, RATE_LIMITS_IN_A_ROW),  # faults 4-7
        RequestRefused: RetryClass(Reaction.HALT),  # faults 19, 20
        Unauthorized: RetryClass(Reaction.HALT),  # faults 22-24
        NotFound: RetryClass(Reaction.HALT),  # fault 25
        Redirected: RetryClass(Reaction.HALT),  # fault 30
        CertificateRefused: RetryClass(Reaction.HALT),  # fault 32
    }
)
HALTS: Final = RetryClass(Reaction.HALT)


def retry_class(error: AudiencekitError) -> RetryClass:
    """The row of RETRY_CLASSES for `error`, by its nearest class. What the table does not know halts."""
    return next((RETRY_CLASSES[cls] for cls in type(error).__mro__ if cls in RETRY_CLASSES), HALTS)


class RetryPolicy:
    """The patience of a run, shared by all its requests: attempts, waits, budget."""

    def __init__(
        self,
        *,
        clock: Clock,
        randomness: random.Random,
        quota: RetryQuota | None = None,
        max_attempts: int = MAX_ATTEMPTS,
    ) -> None:
        self._clock = clock
        self._randomness = randomness
        self.quota = quota or RetryQuota()
        self.max_attempts = max_attempts

    def resend_delay(self, error: AudiencekitError, failures: int) -> float:
        """Seconds to wait after the `failures`-th failure of one request: at once first, then growing.

        A wait lies anywhere between the longest of the step before and its own longest: clients spread over
        the whole step, and yet an outage of 20 s is always outlived. A Retry-After is obeyed instead.
        """
        asked = error.retry_after if isinstance(error, TemporarilyUnavailable) else None
        if asked is not None and asked >= 0:
            return min(asked + self._jitter(), MAX_RETRY_AFTER_SECONDS)
        if failures <= 1:
            return 0.0
        steps = min(failures - 2, MOST_STEPS)
        longest = min(RETRY_CAP_SECONDS, RETRY_BASE_SECONDS * RETRY_GROWTH**steps)
        return self._randomness.uniform(longest / RETRY_GROWTH, longest)

    def rate_limit_delay(self, error: AudiencekitError, in_a_row: int) -> float:
        """Seconds that all workers pause after a 429, the `in_a_row`-th of one request.

        Until the reset, by the service's own clock where its answer tells it; no longer than
        MAX_RATE_LIMIT_WAIT_SECONDS on its word. A reset that is missing, past or absurd counts as none.
        """
        wait = RATE_LIMIT_FALLBACK_SECONDS
        if isinstance(error, RateLimited) and error.reset_at is not None:
            wait = error.reset_at - (self._clock.now() if error.answered_at is None else error.answered_at)
        # Both times are whole seconds, so a reset within this second reads as now. NaN is not believed.
        if not -1.0 <= wait <= FARTHEST_RESET_SECONDS:
            wait = RATE_LIMIT_FALLBACK_SECONDS
        patience = min(2.0 ** (in_a_row - 1), RATE_LIMIT_FALLBACK_SECONDS)
        return min(max(wait, patience) + self._jitter(), MAX_RATE_LIMIT_WAIT_SECONDS)

    def _jitter(self) -> float:
        return self._randomness.uniform(0.0, JITTER_SECONDS)
