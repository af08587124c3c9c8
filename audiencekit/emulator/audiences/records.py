"""A custom audience, as the emulator keeps it and as the service shows it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from audiencekit.emulator.times import format_time

from .membership import Membership


@dataclass(slots=True)
class Audience:
    """One custom audience; times in epoch seconds."""

    id: str
    account_id: str
    name: str
    description: str | None
    created_at: float
    updated_at: float
    deleted: bool = False
    members: Membership = field(default_factory=Membership)

    def document(self) -> dict[str, Any]:
        """The record as the service shows it.

        Size and targetability lag hours behind the members there; here they stay as they are at creation.
        """
        return {
            "targetable": False,
            "name": self.name,
            "targetable_types": ["CRM", "EXCLUDED_CRM"],
            "audience_type": "CRM",
            "description": self.description,
            "permission_level": "READ_WRITE",
            "owner_account_id": self.account_id,
            # The specification's field for the same thing (part 2, section 2).
            "is_owner": True,
            "id": self.id,
            "reasons_not_targetable": ["TOO_SMALL"] if self.deleted else ["PROCESSING", "TOO_SMALL"],
            "created_at": format_time(self.created_at),
            "updated_at": format_time(self.updated_at),
            "partner_source": "OTHER",
            "deleted": self.deleted,
            "audience_size": None,
        }
