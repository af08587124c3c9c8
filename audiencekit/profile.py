"""The differences between services that speak this API, one table a service.

`spec` is the specification and the default; `x` is the public service (facts: its own documentation).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal

from audiencekit.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One service: its addresses, its names on the wire, and our side where its documentation contradicts itself."""

    name: str
    ads_url: str | None
    ads_sandbox_url: str | None
    base_url: str | None
    version: str = "12"
    wire_names: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    phone_form: Literal["e164", "digits"] = "e164"  # hashed with the plus sign or without
    device_id_case: Literal["lower", "as_given"] = "lower"

    def wire_name(self, kind: str) -> str:
        """The field of a user entry that carries `kind`."""
        return self.wire_names.get(kind, kind)


# The specification gives no addresses: they come from the settings.
SPEC: Final = Profile(name="spec", ads_url=None, ads_sandbox_url=None, base_url=None)
X: Final = Profile(
    name="x",
    ads_url="https://ads-api.x.com",
    ads_sandbox_url="https://ads-api-sandbox.x.com",
    base_url="https://api.x.com",
    wire_names=MappingProxyType({"platform_id": "twitter_id", "platform_auth_access_type": "x_auth_access_type"}),
)
PROFILES: Final[Mapping[str, Profile]] = MappingProxyType({"spec": SPEC, "x": X})


def find_profile(name: str) -> Profile:
    """The profile called `name`. Raises UsageError for an unknown one."""
    if name not in PROFILES:
        raise UsageError(f"there is no profile {name!r}", hint=f"choose one of: {', '.join(PROFILES)}")
    return PROFILES[name]
