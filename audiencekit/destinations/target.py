"""The place to which the records of a run go: a destination and an id, also of a destination that is not installed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NoReturn, Self

from audiencekit.destinations.ads import AUDIENCE, DO_NOT_REACH_LIST
from audiencekit.destinations.destination import Destination, DestinationWords, Session, TimeOptions
from audiencekit.destinations.known_audiences import KnownAudiences
from audiencekit.destinations.requests.request_plan import BodyOptions
from audiencekit.errors import UsageError
from audiencekit.identifiers.kinds import Kind
from audiencekit.profile import Profile
from audiencekit.records.plan_times import PlanTimes
from audiencekit.service_words import ID_HINT, is_service_id
from audiencekit.settings import Settings

# --- One place where the records of a run go: a destination and an id ---

DESTINATIONS: Final[dict[str, Destination]] = {each.name: each for each in (AUDIENCE, DO_NOT_REACH_LIST)}


@dataclass(frozen=True, slots=True)
class Target:
    """One place of a destination, such as an audience, by its id. Its text is `audience 1a2b`.

    Raises UsageError for an id that is not one of the service: it becomes a part of paths.
    """

    destination: Destination
    id: str

    def __post_init__(self) -> None:
        if not is_service_id(self.id):
            raise UsageError(f"the {self.destination.words.noun} is not an id of this service", hint=ID_HINT)

    @classmethod
    def audience(cls, audience_id: str) -> Self:
        """Return the custom audience with this id."""
        return cls(AUDIENCE, audience_id)

    @classmethod
    def do_not_reach_list(cls, list_id: str) -> Self:
        """Return the do-not-reach list with this id."""
        return cls(DO_NOT_REACH_LIST, list_id)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """Return the target that `to_json` wrote, with an UnknownDestination if its destination is not installed.

        Raises ValueError, KeyError or TypeError for anything else.
        """
        name, target_id = document["kind"], document["id"]
        destination = DESTINATIONS.get(name) or UnknownDestination(name)
        if not is_service_id(target_id):
            raise ValueError("not an id")
        return cls(destination, target_id)

    def to_json(self) -> dict[str, str]:
        """Return kind and id."""
        return {"kind": self.destination.name, "id": self.id}

    def __str__(self) -> str:
        return f"{self.destination.words.noun} {self.id}"

    @property
    def is_known(self) -> bool:
        """Whether this installation has its destination."""
        return self.destination.name in DESTINATIONS

    @property
    def audience_id(self) -> str | None:
        """Its id when it is an audience, else None."""
        return self.id if self.destination is AUDIENCE else None

    def known_name(self, state_dir: Path, account_id: str) -> str | None:
        """Return the name of the audience, if this machine has seen it."""
        return None if self.audience_id is None else KnownAudiences(state_dir, account_id).names().get(self.id)

    def connect(self, settings: Settings) -> Session:
        """Return the session of a run. Raises UsageError or CredentialsRefused for settings that lack something.

        Raises UsageError also for a destination that is not registered: a run could not be resumed, since journals know
        destinations by their names.
        """
        if self.destination is not DESTINATIONS.get(self.destination.name):
            raise UsageError(
                f"this installation has no destination `{self.destination.name}`",
                hint=f"{INSTALL}, or add it to `DESTINATIONS` in audiencekit.destinations.target",
            )
        return self.destination.connect(self.id, settings)

    @property
    def lock_name(self) -> str:
        """Return the name of its lock, unique in its account: ids have no dash."""
        return self.destination.lock_name(self.id)


# --- A destination of stored runs that this installation lacks, of a newer version or a removed package ---
#
# Its runs are listed and shown by its name. No plan is made for it, and nothing is sent.

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
INSTALL: Final = "install the package that brings this destination, or a newer version of audiencekit"


@dataclass(frozen=True, slots=True)
class UnknownDestination:
    """A Destination of which only the name is known. Raises ValueError for an invalid name."""

    name: str

    suppresses = True
    can_sync = False
    max_body_bytes = requests_per_minute = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise ValueError("not a name of a destination")

    @property
    def words(self) -> DestinationWords:
        """The name as its only word."""
        return DestinationWords(noun=self.name)

    @property
    def quota(self) -> str:
        """The name."""
        return self.name

    @property
    def kinds(self) -> frozenset[Kind]:
        """Empty: no kind is known."""
        return frozenset()

    def lock_name(self, place_id: str) -> str:
        """Return a name that no known destination has. The destination itself may use another name for the lock."""
        return f"{self.name.replace('_', '-')}-{place_id}"

    def pin(self, plan_time: datetime, now: datetime, wanted: TimeOptions) -> PlanTimes:
        """Raises UsageError."""
        self._refuse()

    def form(self, times: PlanTimes, profile: Profile, wanted: BodyOptions | None = None) -> Any:
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
