"""The table of endpoints, and the rate limits: fixed windows, opened by their first request (public documentation)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial
from typing import Final
from urllib.parse import unquote

from audiencekit.emulator.answers import Answer, RefusalError, refuse, refuse_legacy, refuse_problem
from audiencekit.emulator.calls import Address, Call
from audiencekit.limits import REQUESTS_PER_WINDOW, WINDOW_SECONDS

# --- How many requests a token may make: fixed windows, each opened by its first request (public documentation) ---


@dataclass(frozen=True, slots=True)
class Window:
    """So many requests in so many seconds, counted for each endpoint or for the whole category together.

    With `of_account` it is the account's window, which has additional headers in the answer.
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
        """Return the three headers, the same for successes and errors; three more for a window of the account."""
        facts = {"limit": str(self.limit), "remaining": str(self.remaining), "reset": str(self.reset)}
        prefixes = ("x-rate-limit", *(["x-account-rate-limit"] if self.of_account else []))
        return {f"{prefix}-{name}": text for prefix in prefixes for name, text in facts.items()}

    def exhausted(self, params: Mapping[str, str]) -> RefusalError:
        """Return a 429; the text of the public service's body is not documented."""
        if self.refusal is not None:
            return self.refusal()
        return refuse(429, "TOO_MANY_REQUESTS", "Too many requests", params=params)


class RateLimits:
    """The open windows."""

    def __init__(self) -> None:
        self._open: dict[Hashable, tuple[float, int]] = {}

    def take(self, window: Window, owner: Hashable, now: float) -> Quota:
        """Count one request of `owner`. A refused request is not counted."""
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


# --- The handler for a method and a path ---

VERSION: Final = "12"
# The public service's earlier versions, which its own clients still call.
EARLIER: Final = frozenset(str(version) for version in range(5, 12))
# Specification part 0, section 9: Labs v2, and oEmbed of version 1.1.
_RETIRED: Final = re.compile(r"/labs/2(/.*)?|/1\.1/statuses/oembed(\.json)?", re.ASCII)
# Paths outside of the ads API: authorization, the data API, and endpoints that were retired.
_AT_BASE: Final = re.compile(r"/(oauth2?|1\.1|2|labs)/", re.ASCII)
_PORT: Final = re.compile(r":\d*$", re.ASCII)
_ENDED: Final = re.compile(r"/([1-9][0-9]?)/", re.ASCII)


def choose_address(host: str, path: str, hosts: Collection[str], otherwise: Address) -> Address:
    """Return the address that a call is for.

    A client with built-in hosts calls all of them at one port. There the path distinguishes the ads API from the rest,
    and the word "sandbox" in the name the sandbox. For a host that is not among `hosts`, return `otherwise`, the
    address of the port.
    """
    name = _PORT.sub("", host).strip("[]").lower()
    if name not in hosts:
        return otherwise
    if _AT_BASE.match(path):
        return Address.BASE
    return Address.SANDBOX if "sandbox" in name else Address.ADS


class Credential(Enum):
    """The credential that an endpoint requires (specification part 0, section 5)."""

    USER = auto()  # signed by the application with an access token
    PENDING = auto()  # signed by the application with a request token
    APPLICATION = auto()  # signed by the application alone
    BASIC = auto()  # the application's key and secret
    BEARER = auto()  # the application's token
    NONE = auto()  # a person's browser


@dataclass(frozen=True, slots=True)
class Route:
    """One endpoint. `path` is that of the catalogue: `/12/accounts/{account_id}/…`."""

    method: str
    path: str
    handler: Callable[[Call], Answer]
    window: Window
    addresses: frozenset[Address] = frozenset({Address.ADS, Address.SANDBOX})
    takes_deleted_account: bool = False
    credential: Credential = Credential.USER
    changes: bool = False  # what the emulator remembers, although the method is GET
    reads: bool = False  # nothing is changed for the user, although the method is POST

    @property
    def writes(self) -> bool:
        """Whether a read-only token is not enough."""
        return self.method != "GET" and not self.reads and self.credential is Credential.USER

    @property
    def pattern(self) -> tuple[str, ...]:
        """The segments of the path."""
        return tuple(self.path.strip("/").split("/"))


@dataclass(frozen=True, slots=True)
class Match:
    """A route, and the ids in the path."""

    route: Route
    ids: Mapping[str, str]


class Router:
    """The table of endpoints. `earlier` versions of the ads API are answered like the present one."""

    def __init__(self, routes: Iterable[Route], earlier: Collection[str] = ()) -> None:
        self._routes = [(route, route.pattern) for route in routes]
        self._earlier = earlier

    def find(self, method: str, path: str, address: Address) -> Match:
        """Return the called endpoint.

        Raises RefusalError: 404, 405, 400 for an unknown version, 410 for a retired one.
        """
        segments = tuple(map(unquote, path.removeprefix("/").split("/")))
        match, allowed = self._fit_any(method, segments, address)
        if match is None and segments[0] in self._earlier:
            match, others = self._fit_any(method, (VERSION, *segments[1:]), address)
            allowed += others
        if match is not None:
            return match
        if allowed:
            headers = {"Allow": ", ".join(sorted(allowed))}
            raise refuse(405, "METHOD_NOT_ALLOWED", "The method is not allowed for this resource", headers=headers)
        if address is Address.BASE and _RETIRED.fullmatch(path):
            raise RefusalError(410, {})
        ended = _ENDED.match(path)
        if ended is not None and ended[1] not in (VERSION, *self._earlier) and address is not Address.BASE:
            raise refuse(400, "INVALID", f"Version {ended[1]}.0 is not available.")
        raise refuse(404, "ROUTE_NOT_FOUND", "The requested resource could not be found")

    def _fit_any(self, method: str, segments: tuple[str, ...], address: Address) -> tuple[Match | None, list[str]]:
        """Return the first route that fits, or the methods of those that fit but for the method."""
        allowed = []
        for route, pattern in self._routes:
            ids = _fit(pattern, segments) if address in route.addresses else None
            if ids is not None and route.method == method:
                return Match(route, ids), []
            if ids is not None:
                allowed.append(route.method)
        return None, allowed


def _fit(pattern: tuple[str, ...], segments: tuple[str, ...]) -> dict[str, str] | None:
    if len(pattern) != len(segments):
        return None
    ids = {}
    for wanted, given in zip(pattern, segments, strict=True):
        if wanted.startswith("{") and given:
            ids[wanted.strip("{}")] = given
        elif wanted != given:
            return None
    return ids
