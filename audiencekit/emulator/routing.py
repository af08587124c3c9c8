"""Which handler answers a method and a path."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final
from urllib.parse import unquote

from audiencekit.emulator.calls import Address, Call
from audiencekit.emulator.envelope import Answer, RefusalError, refuse
from audiencekit.emulator.rate_limits import Window

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

    A client with built-in hosts calls all of them at one port. There the path tells the ads API from the rest, and the
    word "sandbox" in the name tells the sandbox. For a host that is not among `hosts`, return `otherwise`, the address
    that the port belongs to.
    """
    name = _PORT.sub("", host).strip("[]").lower()
    if name not in hosts:
        return otherwise
    if _AT_BASE.match(path):
        return Address.BASE
    return Address.SANDBOX if "sandbox" in name else Address.ADS


class Credential(Enum):
    """The credential that an endpoint asks for (specification part 0, section 5)."""

    USER = auto()  # signed by the application with an access token
    PENDING = auto()  # signed by the application with a request token
    APPLICATION = auto()  # signed by the application alone
    BASIC = auto()  # the application's key and secret
    BEARER = auto()  # the application's token
    NONE = auto()  # a person's browser


@dataclass(frozen=True, slots=True)
class Route:
    """One endpoint. `path` is the specification's, below the version: `/accounts/:account_id/…`."""

    method: str
    path: str
    handler: Callable[[Call], Answer]
    window: Window
    addresses: frozenset[Address] = frozenset({Address.ADS, Address.SANDBOX})
    version: str = VERSION
    takes_deleted_account: bool = False
    credential: Credential = Credential.USER
    changes: bool = False  # what the emulator remembers, although the method is GET
    reads: bool = False  # nothing is changed for the user, although the method is POST

    @property
    def writes(self) -> bool:
        """Whether a token that may only read is not enough."""
        return self.method != "GET" and not self.reads and self.credential is Credential.USER

    @property
    def pattern(self) -> tuple[str, ...]:
        """The segments of the whole path."""
        return (*filter(None, [self.version]), *self.path.strip("/").split("/"))


@dataclass(frozen=True, slots=True)
class Match:
    """A route, and the ids that stood in the path."""

    route: Route
    ids: Mapping[str, str]


class Router:
    """The table of endpoints. `earlier` versions of the ads API are answered as if they were today's."""

    def __init__(self, routes: Iterable[Route], earlier: Collection[str] = ()) -> None:
        self._routes = [(route, route.pattern) for route in routes]
        self._earlier = earlier

    def find(self, method: str, path: str, address: Address) -> Match:
        """The endpoint that is called. Raises RefusalError: 404, 405, 400 for a version not answered, 410 for one
        that was retired."""
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
        """Return the first route that fits, or else the methods of those that would but for the method."""
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
        if wanted.startswith(":") and given:
            ids[wanted[1:]] = given
        elif wanted != given:
            return None
    return ids
