"""A custom audience, as the emulator keeps it and as the service shows it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from audiencekit.emulator.audiences.flexible.segments import Segment
from audiencekit.emulator.audiences.membership import Membership
from audiencekit.emulator.audiences.permissions.records import Permission
from audiencekit.emulator.audiences.processing import Processing
from audiencekit.emulator.times import format_time


@dataclass(slots=True)
class Audience:
    """One custom audience; times in epoch seconds. A flexible one has a tree of segments and no members."""

    id: str
    account_id: str
    name: str
    description: str | None
    created_at: float
    updated_at: float
    audience_type: str = "CRM"
    segments: Segment | None = None
    deleted: bool = False
    members: Membership = field(default_factory=Membership)
    permissions: dict[str, Permission] = field(default_factory=dict)
    processing: Processing = field(init=False)

    def __post_init__(self) -> None:
        self.processing = Processing(self.created_at)

    def value(self, attribute: str) -> Any:
        """Return the value to sort a list by."""
        return getattr(self, attribute)

    def permission_of(self, account_id: str) -> Permission | None:
        """Return the permission that the owner granted to another account."""
        granted = (permission for permission in self.permissions.values() if not permission.deleted)
        return next((permission for permission in granted if permission.granted_account_id == account_id), None)

    def document(self, viewer_id: str = "") -> dict[str, Any]:
        """Return the record as the service shows it to the account `viewer_id`, by default to its owner."""
        permission = self.permission_of(viewer_id)
        return {
            "targetable": self.processing.is_targetable and not self.deleted,
            "name": self.name,
            "targetable_types": [self.audience_type, f"EXCLUDED_{self.audience_type}"],
            "audience_type": self.audience_type,
            "description": self.description,
            "permission_level": permission.permission_level if permission else "READ_WRITE",
            "owner_account_id": self.account_id,
            # The specification's field for the same thing (part 2, section 2).
            "is_owner": viewer_id in ("", self.account_id),
            "id": self.id,
            "reasons_not_targetable": ["TOO_SMALL"] if self.deleted else self.processing.reasons,
            "created_at": format_time(self.created_at),
            "updated_at": format_time(self.updated_at),
            "partner_source": "OTHER",
            "deleted": self.deleted,
            "audience_size": None if self.deleted else self.processing.shown_size,
        }
