"""Records of the kinds that are all alike: an id, times, and fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from audiencekit.emulator.times import format_time

_OWN: Final = ("id", "created_at", "updated_at", "deleted")


@dataclass(slots=True)
class Record:
    """One record; times in epoch seconds. What was deleted stays, marked."""

    id: str
    created_at: float
    updated_at: float
    fields: dict[str, Any]
    deleted: bool = False

    def value(self, attribute: str) -> Any:
        """What lists are sorted by and narrowed to; None for a field that the record has not."""
        return getattr(self, attribute) if attribute in _OWN else self.fields.get(attribute)

    def document(self) -> dict[str, Any]:
        """The record as the service shows it."""
        return {
            **self.fields,
            "id": self.id,
            "created_at": format_time(self.created_at),
            "updated_at": format_time(self.updated_at),
            "deleted": self.deleted,
        }
