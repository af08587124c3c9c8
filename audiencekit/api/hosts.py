"""The hosts to which credentials may be sent, and the addresses of the service, each checked before it is called."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from audiencekit.api.exchange import BASES
from audiencekit.errors import HostRefused, UsageError
from audiencekit.profile import Profile

# --- The addresses of the service under the names that endpoints give them, each checked before it is called ---


class ServiceAddresses:
    """The addresses of `profile`; the `given` ones, for names of BASES, take precedence.

    Raises HostRefused for an address to which credentials may not be sent. Of loopback addresses only those that are
    `named` are taken, by default the given ones.
    """

    def __init__(
        self,
        profile: Profile,
        given: Mapping[str, str | None] | None = None,
        *,
        allowed_hosts: frozenset[str] = frozenset(),
        named: frozenset[str] | None = None,
    ) -> None:
        given = given or {}
        self._profile, self._allowed_hosts = profile, allowed_hosts
        self._named = frozenset(filter(None, given.values())) if named is None else named
        urls = {base: given.get(base) or getattr(profile, base) for base in BASES}
        self._addresses = {base: self._check(url) for base, url in urls.items() if url}

    @property
    def has_tls(self) -> bool:
        """Whether any address is called over https."""
        return any(address.scheme == "https" for address in self._addresses.values())

    def find(self, base: str) -> HostAddress:
        """Return the address called `base`, which may be an address itself. Raises HostRefused and UsageError."""
        if base in self._addresses:
            return self._addresses[base]
        if base in BASES:
            raise UsageError(
                f"profile {self._profile.name} has no address for {base}", hint=f"set AUDIENCEKIT_{base.upper()}"
            )
        return self._check(base)

    def _check(self, url: str) -> HostAddress:
        return check_address(url, profile=self._profile, allowed_hosts=self._allowed_hosts, named=self._named)


# --- Which addresses credentials and bodies go to: the profile's own, those allowed by name, and loopback when named
#
# Rule: design 4.10. Any user of this machine can listen on a port of loopback: so the environment, or the program, must
# name the very port, and no file or connection can. Anything that two readers of an address could take for two
# different hosts is refused, so the host that is checked here is the host that is called.

_ADDRESS: Final = re.compile(
    r"(?P<scheme>https?)://"
    r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+)"
    r"(?::(?P<port>[1-9][0-9]{0,4}))?"
    r"(?P<path>(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*)/?",
    re.ASCII | re.IGNORECASE,
)
_LABEL: Final = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?", re.ASCII)
_NUMERIC_LABEL: Final = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)  # what the last label of an IPv4 form looks like
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_MAX_HOST_LENGTH: Final = 253  # characters; RFC 1035, section 2.3.4
_MAX_PORT: Final = 65_535


@dataclass(frozen=True, slots=True, kw_only=True)
class HostAddress:
    """An address in its one canonical form. `path` is empty or begins with a slash and ends without one."""

    scheme: str
    host: str
    port: int
    path: str = ""

    @property
    def authority(self) -> str:
        """Host and port as they are written in an address: brackets around IPv6, no default port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def place(self) -> str:
        """Host and port as they are written in AUDIENCEKIT_ALLOW_HOST."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def prefix(self) -> str:
        """The address to which the path of a request is appended."""
        return f"{self.scheme}://{self.authority}{self.path}"

    @property
    def is_loopback(self) -> bool:
        """Whether the host is this machine: 127.0.0.0/8, ::1 or the name localhost, and no similar name."""
        ip = _ip_address(self.host)
        return self.host == "localhost" if ip is None else ip.is_loopback


def check_address(
    url: str, *, profile: Profile, allowed_hosts: frozenset[str], named: frozenset[str] = frozenset()
) -> HostAddress:
    """Return the parts of an address to which credentials may be sent; raise HostRefused for any other.

    An entry of `allowed_hosts` is `host`, for every port, or `host:port`. Plain http is for loopback, which must be
    among the addresses that are `named`, or allowed with its port.
    """
    address = _read_address(url)
    if address.is_loopback:
        _check_loopback(address, allowed_hosts, named)
        return address
    if not (_is_own(address, profile) or _is_allowed(address, allowed_hosts)):
        raise HostRefused(
            f"credentials do not go to the host {address.authority}: it is not one of profile {profile.name}",
            hint="if you trust this host, name it in AUDIENCEKIT_ALLOW_HOST",
        )
    if address.scheme != "https":
        raise HostRefused(f"credentials go to {address.authority} over https only")
    return address


def _check_loopback(address: HostAddress, allowed_hosts: frozenset[str], named: frozenset[str]) -> None:
    """Raise HostRefused unless this very port is allowed."""
    places = [(each.host, each.port) for each in map(_read_address, named)]
    is_allowed = any(entry.strip().lower() == address.place for entry in allowed_hosts)
    if not is_allowed and (address.host, address.port) not in places:
        raise HostRefused(
            f"credentials do not go to {address.place} of this machine: the environment does not name it",
            hint="any user can listen there; if you trust the listener, add host and port to AUDIENCEKIT_ALLOW_HOST",
        )


_NAMED_BY: Final = (
    "write it with https:// (http:// for this machine); `ads_url=`, `base_url=`, the variables AUDIENCEKIT_ADS_URL,"
    " AUDIENCEKIT_ADS_SANDBOX_URL and AUDIENCEKIT_BASE_URL, or the settings file name it"
)


def _read_address(url: str) -> HostAddress:
    match = _ADDRESS.fullmatch(url)
    if match is None:
        # The text is not shown: it may hold a password in front of the host.
        raise HostRefused("an address of the service is not of the form https://host[:port][/path]", hint=_NAMED_BY)
    scheme = match["scheme"].lower()
    port = int(match["port"]) if match["port"] else _DEFAULT_PORTS[scheme]
    if port > _MAX_PORT:
        raise HostRefused("an address of the service has a port above 65535")
    return HostAddress(scheme=scheme, host=_read_host(match["host"].lower()), port=port, path=match["path"])


def _read_host(text: str) -> str:
    host = text.strip("[]")
    if text.startswith("["):
        if not _is_canonical(host, version=6):
            raise HostRefused("an address of the service has an IPv6 address that is not in its canonical form")
    elif _NUMERIC_LABEL.fullmatch(host.rpartition(".")[2]):
        if not _is_canonical(host, version=4):
            raise HostRefused("an address of the service has an IPv4 address that is not in its canonical form")
    elif len(host) > _MAX_HOST_LENGTH or not all(_LABEL.fullmatch(label) for label in host.split(".")):
        raise HostRefused("an address of the service has a host name that is not one")
    return host


def _is_canonical(host: str, *, version: int) -> bool:
    ip = _ip_address(host)
    # An IPv4 address inside an IPv6 one has two spellings, and Pythons differ on which of them is loopback.
    return ip is not None and ip.version == version and str(ip) == host and not getattr(ip, "ipv4_mapped", None)


def _ip_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _is_own(address: HostAddress, profile: Profile) -> bool:
    own = (_read_address(url) for url in (profile.ads_url, profile.ads_sandbox_url, profile.base_url) if url)
    return any((address.host, address.port) == (each.host, each.port) for each in own)


def _is_allowed(address: HostAddress, allowed_hosts: frozenset[str]) -> bool:
    names = {address.host, address.place.rpartition(":")[0], address.place}
    return any(entry.strip().lower() in names for entry in allowed_hosts)
