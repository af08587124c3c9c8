"""A destination of stored runs that this installation lacks: one of a newer version, or of a package that was removed.

Its runs are listed and shown by its name. No plan is made for it, and nothing is sent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NoReturn

from audiencekit.destinations.destination import TimeWishes
from audiencekit.destinations.requests.requestplan import BodyWishes
from audiencekit.destinations.words import DestinationWords
from audiencekit.errors import UsageError
from audiencekit.identifiers.kinds import Kind
from audiencekit.preparation.plantimes import PlanTimes
from audiencekit.profile import Profile
from audiencekit.settings import Settings

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
INSTALL: Final = "install the package that brings this destination, or a newer version of audiencekit"


@dataclass(frozen=True, slots=True)
class UnknownDestination:
    """A Destination of which only the name is known. Raises ValueError for what can be no name of one."""

    name: str

    suppresses = True
    can_sync = False
    max_body_bytes = requests_per_minute = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise ValueError("not a name of a destination")

    @property
    def words(self) -> DestinationWords:
        """The name: there are no other words for it."""
        return DestinationWords(noun=self.name)

    @property
    def quota(self) -> str:
        """The name."""
        return self.name

    @property
    def kinds(self) -> frozenset[Kind]:
        """None: it is not known to take any."""
        return frozenset()

    def lock_name(self, place_id: str) -> str:
        """One that no known destination has. What brings the destination may call the lock otherwise."""
        return f"{self.name.replace('_', '-')}-{place_id}"

    def pin(self, plan_time: datetime, now: datetime, wishes: TimeWishes) -> PlanTimes:
        """Raises UsageError."""
        self._refuse()

    def form(self, times: PlanTimes, profile: Profile, wishes: BodyWishes | None = None) -> Any:
        """Raises UsageError."""
        self._refuse()

    def notes(self, *, updates: int, deletes: int, suppressing: bool) -> tuple[str, ...]:
        """Raises UsageError."""
        self._refuse()

    def connect(self, place_id: str, settings: Settings) -> Any:
        """Raises UsageError."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise UsageError(f"this installation has no destination `{self.name}`", hint=INSTALL)
