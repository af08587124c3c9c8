"""How many requests a token may make: fixed windows, each opened by its first request (public documentation)."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from audiencekit.emulator.envelope import RefusalError, refuse, refuse_legacy, refuse_problem
from audiencekit.limits import REQUESTS_PER_WINDOW, WINDOW_SECONDS


@dataclass(frozen=True, slots=True)
class Window:
    """So many requests in so many seconds, counted for each endpoint or for the whole category together.

    `of_account`: the window is the account's, which the answer tells in headers of their own.
    """

    name: str
    requests: int
    seconds: float
    each_endpoint: bool
    of_account: bool = False
    refusal: Callable[[], RefusalError] | None = None  # where it is not the ads API's


USERS: Final = Window("users", REQUESTS_PER_WINDOW, WINDOW_SECONDS, each_endpoint=True)
WRITES: Final = Window("writes", 450, 60.0, each_endpoint=False)
READS: Final = Window("reads", 2_000, 900.0, each_endpoint=True)
CORE_READS: Final = Window("reads of campaigns and below", 10_000, 900.0, each_endpoint=True, of_account=True)
REFERENCE_READS: Final = Window("reads of what no account owns", 5, 900.0, each_endpoint=True)
KEYWORD_READS: Final = Window("keyword insights", 500, 900.0, each_endpoint=False)
# Specification part 1, section 8: lists with a total count have a rate of their own.
COUNTED_READS: Final = Window("reads with a total count", 200, 900.0, each_endpoint=True)

# Every endpoint of authorization is limited; how much, the specification does not show (part 0, section 8).
OAUTH: Final = Window(
    "authorization", 300, 900.0, each_endpoint=True, refusal=partial(refuse_legacy, 429, 88, "Rate limit exceeded.")
)
BEARER_TOKENS: Final = Window(
    "bearer tokens",
    300,
    900.0,
    each_endpoint=True,
    refusal=partial(refuse_legacy, 403, 99, "Unable to verify your credentials"),
)
# Of the data API the specification shows no rates.
DATA: Final = Window(
    "data API",
    300,
    900.0,
    each_endpoint=True,
    refusal=partial(refuse_problem, 429, "Too Many Requests", "Too Many Requests"),
)


@dataclass(frozen=True, slots=True)
class Quota:
    """The quota of a token after a request. `reset` is the first whole epoch second after the window."""

    limit: int
    remaining: int
    reset: int
    granted: bool
    of_account: bool = False
    refusal: Callable[[], RefusalError] | None = None

    def headers(self) -> Mapping[str, str]:
        """Return the three headers, the same on successes and errors; three more where the window is the account's."""
        facts = {"limit": str(self.limit), "remaining": str(self.remaining), "reset": str(self.reset)}
        prefixes = ("x-rate-limit", *(["x-account-rate-limit"] if self.of_account else []))
        return {f"{prefix}-{name}": text for prefix in prefixes for name, text in facts.items()}

    def exhausted(self, params: Mapping[str, str]) -> RefusalError:
        """429; the text of the public service's body is documented nowhere."""
        if self.refusal is not None:
            return self.refusal()
        return refuse(429, "TOO_MANY_REQUESTS", "Too many requests", params=params)


class RateLimits:
    """The open windows."""

    def __init__(self) -> None:
        self._open: dict[Hashable, tuple[float, int]] = {}

    def take(self, window: Window, owner: Hashable, now: float) -> Quota:
        """Count one request of `owner`. A request that is not granted is not counted either."""
        opened, used = self._open.get((window.name, owner), (now, 0))
        # A window in the future is what is left of a clock that was since moved back.
        if not opened <= now < opened + window.seconds:
            opened, used = now, 0
        granted = used < window.requests
        used += granted
        self._open[window.name, owner] = opened, used
        return Quota(
            limit=window.requests,
            remaining=window.requests - used,
            reset=math.ceil(opened + window.seconds),
            granted=granted,
            of_account=window.of_account,
            refusal=window.refusal,
        )
