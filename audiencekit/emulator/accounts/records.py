"""An advertising account, and everything that belongs to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from audiencekit.emulator.audiences.records import Audience
from audiencekit.emulator.do_not_reach.records import DoNotReachList
from audiencekit.emulator.resources.records import Record
from audiencekit.emulator.times import format_time

SHARING_FEATURE: Final = "SHARE_AUDIENCE_OUTSIDE_BUSINESS"


@dataclass(slots=True)
class Account:
    """One account; times in epoch seconds. What was deleted stays, marked. `is_foreign` is another user's."""

    id: str
    name: str
    business_id: str
    created_at: float
    updated_at: float
    industry_type: str | None = None
    deleted: bool = False
    is_foreign: bool = False
    features: set[str] = field(default_factory=set)
    outside: frozenset[str] = frozenset()  # of what is in beta or limited release, unless a feature opens it
    max_active_campaigns: int = 200  # by default; specification part 1, section 8
    audiences: dict[str, Audience] = field(default_factory=dict)
    do_not_reach_lists: dict[str, DoNotReachList] = field(default_factory=dict)
    tax_settings: dict[str, str | None] = field(default_factory=dict, repr=False)
    user_settings: dict[str, dict[str, Any]] = field(default_factory=dict, repr=False)  # by the id of the user
    records: dict[str, dict[str, Record]] = field(default_factory=dict)  # of all other kinds, by kind and id

    def has_name(self, name: str) -> bool:
        """Return whether an audience has, or had when it was deleted, this name: names are unique for good."""
        return any(audience.name == name for audience in self.audiences.values())

    def lists(self) -> list[Audience | DoNotReachList]:
        """Return everything that has members."""
        return [*self.audiences.values(), *self.do_not_reach_lists.values()]

    def value(self, attribute: str) -> Any:
        """Return the value to sort a list by."""
        return getattr(self, attribute)

    def document(self) -> dict[str, Any]:
        """Return the record as the service shows it."""
        return {
            "name": self.name,
            "business_name": None,
            "timezone": "America/Los_Angeles",
            "timezone_switch_at": None,
            "id": self.id,
            "created_at": format_time(self.created_at),
            "updated_at": format_time(self.updated_at),
            "industry_type": self.industry_type,
            "business_id": self.business_id,
            "approval_status": "ACCEPTED",
            "deleted": self.deleted,
        }
