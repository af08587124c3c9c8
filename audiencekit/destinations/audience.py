"""Custom audiences (specification part 2, section 4.4)."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

from audiencekit.destinations.adsdestination import AdsDestination, ads_words
from audiencekit.destinations.destination import Destination, TimeWishes
from audiencekit.identifiers.kinds import Kind
from audiencekit.limits import MIN_TARGETABLE_PEOPLE
from audiencekit.preparation.plantimes import PlanTimes, pin_times

if TYPE_CHECKING:
    from audiencekit.destinations.adssession import AudienceSession
    from audiencekit.settings import Settings

_REACH: Final = (
    "a Delete takes out all members who have any of its identifiers; how many members share one is not known here, only"
    " how many people of the source do"
)


class AudienceDestination(AdsDestination):
    """A Destination: it takes all kinds, and entries that last for 13 months by themselves."""

    name = "audience"
    words = ads_words("audience", listing="audiences list")
    kinds = frozenset(Kind)
    suppresses = can_sync = True

    def __repr__(self) -> str:
        return "AUDIENCE"

    def lock_name(self, place_id: str) -> str:
        """The id."""
        return place_id

    def pin(self, plan_time: datetime, now: datetime, wishes: TimeWishes) -> PlanTimes:
        """Raises UsageError for times that cannot be read, or that do not follow each other."""
        return pin_times(
            plan_time, expires_at=wishes.expires_at, ttl_days=wishes.ttl_days, effective_at=wishes.effective_at
        )

    def notes(self, *, updates: int, deletes: int, suppressing: bool) -> tuple[str, ...]:
        """Deletes reach all who share an identifier, and are never suppressed; few people cannot be targeted."""
        found = []
        if deletes:
            found.append(_REACH)
        if deletes and suppressing:
            found.append("people are taken out whether they are suppressed or not")
        if 0 < updates < MIN_TARGETABLE_PEOPLE:
            records = "1 record is" if updates == 1 else f"{updates} records are"
            needed = f"the service must know {MIN_TARGETABLE_PEOPLE} people of an audience before it can be targeted"
            found.append(f"{records} put in: {needed}, so these alone are too few")
        return tuple(found)

    def connect(self, place_id: str, settings: Settings) -> AudienceSession:
        """Raises UsageError or CredentialsRefused for settings that lack something."""
        from audiencekit.api.opening import open_client  # only those who send need HTTP
        from audiencekit.destinations.adssession import AudienceSession

        return AudienceSession(open_client(settings), settings.require_account(), place_id, settings.state_dir)


AUDIENCE: Final[Destination] = AudienceDestination()
