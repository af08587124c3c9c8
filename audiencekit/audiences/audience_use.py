"""The use of an audience: line items that target it, accounts that it is shared with, flexible audiences above it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from audiencekit.api.answers import Answer
from audiencekit.audiences.flexible_memory import KnownFlexible
from audiencekit.audiences.sync.sync import is_under_sync
from audiencekit.limits import MAX_PAGE_ROWS
from audiencekit.settings import Settings
from audiencekit.text import shown

FLEXIBLE = "FLEXIBLE"  # the `audience_type` of a flexible audience (specification part 2, section 4.3)


class UseReader(Protocol):
    """The methods of AdsClient that are needed here."""

    def items(self, name: str, parameters: Mapping[str, Any] | None = None) -> AsyncIterator[Any]:
        """Yield every entry of a list, over all pages."""

    def iterate_custom_audiences(self, *, count: int | None = None) -> AsyncIterator[Answer]:
        """Yield every page of audiences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AudienceUse:
    """The use of one audience, as the service and this machine know it.

    `campaigns` have the line items that target it, also those that are not served, and `permissions` the accounts that
    it is shared with: None when another account owns it. `flexible` are the flexible audiences above it that this
    machine has created, by their ids; `unknown_flexible` are other flexible audiences of the account, of which the
    service does not show what they are made of. `under_sync` says that this machine keeps it equal to a list.
    """

    audience_id: str
    campaigns: list[dict[str, Any]]
    permissions: list[dict[str, Any]] | None
    flexible: dict[str, str]
    unknown_flexible: dict[str, str]
    under_sync: bool

    def to_json(self) -> dict[str, Any]:
        """Return all of it."""
        return {
            "campaigns": self.campaigns,
            "permissions": self.permissions,
            "flexible_audiences": _as_list(self.flexible),
            "unknown_flexible_audiences": _as_list(self.unknown_flexible),
            "under_sync": self.under_sync,
        }

    def to_text(self) -> str:
        """Return the same for people, a line each."""
        lines = list(self._lines()) or ["used by nothing that the service or this machine knows of"]
        if self.unknown_flexible:
            ids = ", ".join(map(shown, self.unknown_flexible))
            lines.append(f"not known: whether it is in a flexible audience that was created elsewhere ({ids})")
        return "\n".join(lines)

    def _lines(self) -> Iterator[str]:
        for campaign in self.campaigns:
            for item in campaign.get("line_items") or ():
                name, state = str(item.get("name") or ""), "served" if item.get("servable") else "not served"
                of = f"of campaign {shown(campaign.get('campaign_id'))} {str(campaign.get('campaign_name'))!r}"
                yield f"line item {shown(item.get('id'))} {name!r} {of}, {state}"
        for permission in self.permissions or ():
            level = str(permission.get("permission_level", "")).lower().replace("_", " ")
            yield f"shared with account {shown(permission.get('granted_account_id'))}, {shown(level)}"
        for audience_id, name in self.flexible.items():
            yield f"flexible audience {shown(audience_id)} {name!r}"
        if self.under_sync:
            yield "a sync of this machine"


async def read_use(client: UseReader, audience: Mapping[str, Any], settings: Settings) -> AudienceUse:
    """Return the use of `audience`, as the service shows it. Raises the errors of the calls."""
    audience_id = str(audience["id"])
    target = {"custom_audience_id": audience_id}
    owner = audience.get("owner_account_id")
    is_ours = audience.get("is_owner", owner in (None, settings.account_id))
    known = KnownFlexible(settings.state_dir, settings.account_id)
    others = [one async for one in list_flexible(client) if one["id"] != audience_id]
    trees = known.all()
    return AudienceUse(
        audience_id=audience_id,
        campaigns=[
            one async for one in client.items("list_custom_audience_targeted", {**target, "with_active": False})
        ],
        permissions=[one async for one in client.items("list_custom_audience_permissions", target)]
        if is_ours
        else None,
        flexible={one["id"]: str(one.get("name", "")) for one in others if one["id"] in known.above(audience_id)},
        unknown_flexible={one["id"]: str(one.get("name", "")) for one in others if one["id"] not in trees},
        under_sync=is_under_sync(audience_id, settings),
    )


async def list_flexible(client: UseReader) -> AsyncIterator[dict[str, Any]]:
    """Yield the flexible audiences of the account, as the service shows them."""
    async for page in client.iterate_custom_audiences(count=MAX_PAGE_ROWS):
        for one in page.data:
            if one.get("audience_type") == FLEXIBLE:
                yield one


def _as_list(names: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"id": audience_id, "name": name} for audience_id, name in names.items()]
