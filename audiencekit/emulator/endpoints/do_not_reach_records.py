"""A do-not-reach list: its stored form, and the form in which the service shows it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from audiencekit.emulator.answers import format_time
from audiencekit.emulator.endpoints.audience_members import Membership
from audiencekit.emulator.endpoints.custom_audiences import Processing

NAME: Final = "Do Not Reach List"  # all of them have it (public documentation)


@dataclass(slots=True)
class DoNotReachList:
    """People that the campaigns of an account must not reach; times in epoch seconds."""

    id: str
    account_id: str
    description: str | None
    created_at: float
    updated_at: float
    deleted: bool = False
    members: Membership = field(default_factory=Membership)
    processing: Processing = field(init=False)

    def __post_init__(self) -> None:
        self.processing = Processing(self.created_at)

    def document(self) -> dict[str, Any]:
        """Return the record as the service shows it: with `list_size` in place of `audience_size`."""
        return {
            "targetable": self.processing.is_targetable and not self.deleted,
            "name": NAME,
            "description": self.description,
            "id": self.id,
            "reasons_not_targetable": self.processing.reasons,
            "created_at": format_time(self.created_at),
            "list_size": None if self.deleted else self.processing.shown_size,
            "updated_at": format_time(self.updated_at),
            "deleted": self.deleted,
        }
