"""Records of the kinds that have the same form: an id, times, and fields, with their earlier states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from audiencekit.emulator.answers import format_time

_OWN: Final = ("id", "created_at", "updated_at", "deleted")


@dataclass(slots=True)
class Record:
    """One record; times in epoch seconds. A deleted one stays, marked. `past` has its earlier states in order."""

    id: str
    created_at: float
    updated_at: float
    fields: Mapping[str, Any]
    deleted: bool = False
    past: tuple[Record, ...] = field(default=(), repr=False)
    changed_by: str = ""  # the id of the user who made it what it is; empty where it was none

    def change(self, changes: Mapping[str, Any], now: float, by: str = "") -> None:
        """Change some fields, on behalf of the user `by`."""
        self._remember()
        self.fields, self.updated_at, self.changed_by = {**self.fields, **changes}, now, by

    def delete(self, now: float, by: str = "") -> None:
        """Mark the record as deleted, on behalf of the user `by`."""
        self._remember()
        self.deleted, self.updated_at, self.changed_by = True, now, by

    def states(self) -> Iterator[Record]:
        """Return the states of the record since its creation, oldest first, with the present one."""
        yield from self.past
        yield self

    def value(self, attribute: str) -> Any:
        """Return the value by which a list is sorted and filtered; None for a field that the record does not have."""
        return getattr(self, attribute) if attribute in _OWN else self.fields.get(attribute)

    def document(self) -> dict[str, Any]:
        """Return the record as the service shows it."""
        return {
            **self.fields,
            "id": self.id,
            "created_at": format_time(self.created_at),
            "updated_at": format_time(self.updated_at),
            "deleted": self.deleted,
        }

    def _remember(self) -> None:
        self.past = (*self.past, replace(self, past=()))
