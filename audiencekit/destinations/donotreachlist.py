"""The do-not-reach list of an account (specification part 2, section 4.6)."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

from audiencekit.destinations.adsdestination import AdsDestination, ads_words
from audiencekit.destinations.destination import Destination, TimeWishes
from audiencekit.identifiers.kinds import Kind
from audiencekit.preparation.plantimes import PlanTimes, pin_list_times

if TYPE_CHECKING:
    from audiencekit.destinations.adssession import DoNotReachSession
    from audiencekit.settings import Settings


class DoNotReachDestination(AdsDestination):
    """A Destination: it takes emails and phone numbers, and entries that take effect at once."""

    name = "do_not_reach_list"
    words = ads_words("do-not-reach list", listing="do-not-reach show")
    kinds = frozenset({Kind.EMAIL, Kind.PHONE_NUMBER})
    suppresses = can_sync = False

    def __repr__(self) -> str:
        return "DO_NOT_REACH_LIST"

    def lock_name(self, place_id: str) -> str:
        """No audience has an id like it: ids hold no dash."""
        return f"do-not-reach-{place_id}"

    def pin(self, plan_time: datetime, now: datetime, wishes: TimeWishes) -> PlanTimes:
        """Less than 13 months. Raises UsageError for longer times, for an effective time, and as `pin_times`."""
        return pin_list_times(
            plan_time, now, expires_at=wishes.expires_at, ttl_days=wishes.ttl_days, effective_at=wishes.effective_at
        )

    def notes(self, *, updates: int, deletes: int, suppressing: bool) -> tuple[str, ...]:
        """It changes no audience."""
        return ("a do-not-reach list keeps people from being targeted; it takes no one out of an audience",)

    def connect(self, place_id: str, settings: Settings) -> DoNotReachSession:
        """Raises UsageError or CredentialsRefused for settings that lack something."""
        from audiencekit.api.opening import open_client  # only those who send need HTTP
        from audiencekit.destinations.adssession import DoNotReachSession

        return DoNotReachSession(open_client(settings), place_id)


DO_NOT_REACH_LIST: Final[Destination] = DoNotReachDestination()
