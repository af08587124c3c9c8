"""The parts of a delivery that its caller chooses: the way to the service, its waits, its listener, its past."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from audiencekit.delivery.limiter import RateLimiter
from audiencekit.delivery.results import Counts, OpenBody, RequestResult
from audiencekit.delivery.retry import RetryPolicy
from audiencekit.limits import DEFAULT_CONCURRENCY, DRAIN_SECONDS, SETTLE_SECONDS
from audiencekit.packedrequest import PackedRequest

Send = Callable[[PackedRequest], Awaitable[Counts]]


@dataclass(frozen=True, slots=True)
class Route:
    """The way of a request to the service.

    `send` is one exchange and raises an ExchangeError for a request that is not confirmed, counts that differ included.
    `open_body` gives back the places of the records in a body that is refused, or None where it cannot be sent in
    parts. `concurrency` requests are under way at once, and have `drain_seconds` to finish after a cancellation. The
    clock is that of `policy`.
    """

    send: Send
    open_body: OpenBody
    limiter: RateLimiter
    policy: RetryPolicy
    concurrency: int = DEFAULT_CONCURRENCY
    drain_seconds: float = DRAIN_SECONDS


@dataclass(frozen=True, slots=True)
class Waits:
    """Of a wave, after an attempt that may be applied late."""

    settle_seconds: float = SETTLE_SECONDS


@dataclass(frozen=True, slots=True)
class Listener:
    """Hears the result of every request that was taken, each exchange that failed, and what explains a wait.

    A part of a request has the number of the whole.
    """

    on_progress: Callable[[RequestResult], None] = lambda result: None
    on_failure: Callable[[int, str], None] = lambda number, why: None
    tell: Callable[[str], None] = lambda message: None


@dataclass(frozen=True, slots=True)
class Earlier:
    """The requests that earlier processes of a run have confirmed.

    They may have left attempts behind, of any wave; the last of these ended at least `left_seconds_ago`.
    """

    confirmed: int
    left_seconds_ago: float = 0.0
