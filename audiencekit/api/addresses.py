"""The addresses of the service under the names that endpoints give them, each checked before it is called."""

from __future__ import annotations

from collections.abc import Mapping

from audiencekit.api.exchange import BASES
from audiencekit.api.hosts import HostAddress, check_address
from audiencekit.errors import UsageError
from audiencekit.profile import Profile


class ServiceAddresses:
    """The addresses of `profile`; those `given` for names of BASES take precedence.

    Raises HostRefused for one that credentials do not go to. Of loopback only those that are `named` are taken, by
    default the given ones.
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
        """Whether any is called over https."""
        return any(address.scheme == "https" for address in self._addresses.values())

    def find(self, base: str) -> HostAddress:
        """The address called `base`, which may be an address of its own. Raises HostRefused and UsageError."""
        if base in self._addresses:
            return self._addresses[base]
        if base in BASES:
            raise UsageError(
                f"profile {self._profile.name} has no address for {base}", hint=f"set AUDIENCEKIT_{base.upper()}"
            )
        return self._check(base)

    def _check(self, url: str) -> HostAddress:
        return check_address(url, profile=self._profile, allowed_hosts=self._allowed_hosts, named=self._named)
