"""A custom audience: its stored form, its counts, and the form in which the service shows it."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from audiencekit.emulator.answers import format_time
from audiencekit.emulator.endpoints.audience_members import Membership, Span, split_key_set
from audiencekit.emulator.endpoints.flexible_audiences import Segment
from audiencekit.emulator.endpoints.permission_records import Permission
from audiencekit.limits import MIN_TARGETABLE_PEOPLE

# --- A custom audience, as the emulator keeps it and as the service shows it ---


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
        """Return the permission that the owner gave to another account."""
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


# --- The people of the platform: which identifiers belong to a user who was active lately ---


class Population:
    """Decides by a seed for every key whether it belongs to a user; `match_rate` is the share of the keys that do."""

    def __init__(self, seed: int, match_rate: float) -> None:
        self.salt = zlib.crc32(str(seed).encode())
        self._threshold = match_rate * 2**32

    def matched(self, entries: Iterable[tuple[bytes, Span]]) -> Iterator[bytes]:
        """Return the key sets with at least one key of a user: more identifiers give more matches."""
        salt, threshold = self.salt, self._threshold
        for key_set, _ in entries:
            if any(zlib.crc32(key, salt) < threshold for key in split_key_set(key_set)):
                yield key_set

    def count(self, entries: Iterable[tuple[bytes, Span]]) -> int:
        """Return how many of some entries are matched."""
        return sum(1 for _ in self.matched(entries))


# --- The last count that the service made of a list: sizes lag behind membership ---
#
# The public documentation says that a count comes four to eight hours after the one before. Here it is six hours,
# unless an option says otherwise, from the creation of the list on. Each count sees the members of its moment.

PROCESSING_SECONDS: Final = 6 * 3_600.0


@dataclass(slots=True)
class Processing:
    """The last count of one list, and whether something has changed since. Times in epoch seconds."""

    started_at: float
    size: int | None = None
    has_changed: bool = True
    _counted_at: float = field(init=False)

    def __post_init__(self) -> None:
        self._counted_at = self.started_at

    def catch_up(self, now: float, count: Callable[[float], int], every: float = PROCESSING_SECONDS) -> None:
        """Make the latest count that is due by `now`; `count` returns how many matched at a time.

        The time from one count to the next is `every` seconds.
        """
        moment = self.started_at + (now - self.started_at) // every * every
        if moment > self._counted_at:
            self.size = count(moment)
            self._counted_at = moment
            self.has_changed = False

    @property
    def is_targetable(self) -> bool:
        """Whether enough people were counted. A targetable list stays so until its next count."""
        return self.size is not None and self.size >= MIN_TARGETABLE_PEOPLE

    @property
    def shown_size(self) -> int | None:
        """The size of a targetable list; that of a smaller one would reveal too much about too few people."""
        return self.size if self.is_targetable else None

    @property
    def reasons(self) -> list[str]:
        """The `reasons_not_targetable`: none, or that the list is too small, and whether a count is pending."""
        if self.is_targetable:
            return []
        return ["PROCESSING", "TOO_SMALL"] if self.has_changed else ["TOO_SMALL"]
