"""Permissions that the owner of an audience gave to other accounts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from audiencekit.emulator.answers import format_time


@dataclass(slots=True)
class Permission:
    """One grant; times in epoch seconds."""

    id: str
    audience_id: str
    granted_account_id: str
    permission_level: str
    created_at: float
    updated_at: float
    deleted: bool = False

    def value(self, attribute: str) -> Any:
        """Return the value to sort a list by."""
        return getattr(self, attribute)

    def document(self, audience_id_name: str) -> dict[str, Any]:
        """Return the record as the service shows it, with the endpoint's name for the audience's id."""
        return {
            audience_id_name: self.audience_id,
            "permission_level": self.permission_level,
            "id": self.id,
            "created_at": format_time(self.created_at),
            "granted_account_id": self.granted_account_id,
            "updated_at": format_time(self.updated_at),
            "deleted": self.deleted,
        }
