"""The two destinations of the ads API, audiences and the do-not-reach list: their rules and words."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

from audiencekit.destinations.destination import Destination, DestinationWords, TimeOptions
from audiencekit.destinations.requests.operations import USERS, OperationsForm
from audiencekit.destinations.requests.request_plan import BodyLimits, BodyOptions
from audiencekit.identifiers.kinds import Kind
from audiencekit.limits import MAX_BODY_BYTES, MIN_TARGETABLE_PEOPLE, PACED_REQUESTS_PER_MINUTE
from audiencekit.profile import Profile
from audiencekit.records.plan_times import PlanTimes, pin_list_times, pin_times

if TYPE_CHECKING:
    from audiencekit.destinations.ads_session import AudienceSession, DoNotReachSession
    from audiencekit.settings import Settings


# --- The rules and words that audiences and do-not-reach lists share: those of the ads API ---


class AdsDestination:
    """The part of a Destination that both kinds of place share."""

    quota = USERS
    max_body_bytes = MAX_BODY_BYTES
    requests_per_minute = PACED_REQUESTS_PER_MINUTE

    def form(self, times: PlanTimes, profile: Profile, wanted: BodyOptions | None = None) -> OperationsForm:
        """Return a form that writes operations."""
        return OperationsForm(times, profile, BodyLimits.within(wanted))


def ads_words(noun: str, *, listing: str) -> DestinationWords:
    """Return the words for places that `audiencekit LISTING` lists."""
    return DestinationWords(
        noun=noun,
        not_found=f"account {{account}} has no {{place}}: `audiencekit {listing}` shows what it has,"
        " and `audiencekit whoami` which accounts these credentials can use",
        few_people="this changes {people} of the audience: who sees its reach before and after learns something about"
        " each of them",
        accepted="success_count",
        received="total_count",
        of_counts="(received; the service does not tell who was matched)",
        of_matches="The service never says which of them it knows.",
    )


# --- Custom audiences (specification part 2, section 4.4) ---

_REACH: Final = (
    "a Delete takes out all members who have any of its identifiers; how many members share one is not known here, only"
    " how many people of the source do"
)


class AudienceDestination(AdsDestination):
    """The Destination of audiences: it takes all kinds; without other times its entries last for 13 months."""

    name = "audience"
    words = ads_words("audience", listing="audiences list")
    kinds = frozenset(Kind)
    suppresses = can_sync = True

    def __repr__(self) -> str:
        return "AUDIENCE"

    def lock_name(self, place_id: str) -> str:
        """The id."""
        return place_id

    def pin(self, plan_time: datetime, now: datetime, wanted: TimeOptions) -> PlanTimes:
        """Return the times of a plan. Raises UsageError for invalid times, or times in the wrong order."""
        return pin_times(
            plan_time, expires_at=wanted.expires_at, ttl_days=wanted.ttl_days, effective_at=wanted.effective_at
        )

    def notes(self, *, updates: int, deletes: int, suppressing: bool) -> tuple[str, ...]:
        """Note that Deletes reach all who share an identifier, that they are never suppressed, and small audiences."""
        found = []
        if deletes:
            found.append(_REACH)
        if deletes and suppressing:
            found.append("people are taken out whether they are suppressed or not")
        if 0 < updates < MIN_TARGETABLE_PEOPLE:
            these = "1 person is" if updates == 1 else f"{updates} people are"
            found.append(f"an audience needs {MIN_TARGETABLE_PEOPLE} matched people; {these} too few alone")
        return tuple(found)

    def connect(self, place_id: str, settings: Settings) -> AudienceSession:
        """Raises UsageError or CredentialsRefused for settings that lack something."""
        from audiencekit.api.opening import open_client  # only those who send need HTTP
        from audiencekit.destinations.ads_session import AudienceSession

        return AudienceSession(open_client(settings), settings.require_account(), place_id, settings.state_dir)


AUDIENCE: Final[Destination] = AudienceDestination()


# --- The do-not-reach list of an account (specification part 2, section 4.6) ---


class DoNotReachDestination(AdsDestination):
    """The Destination of the do-not-reach list: it takes emails and phone numbers; its entries take effect at once."""

    name = "do_not_reach_list"
    words = ads_words("do-not-reach list", listing="do-not-reach show")
    kinds = frozenset({Kind.EMAIL, Kind.PHONE_NUMBER})
    suppresses = can_sync = False

    def __repr__(self) -> str:
        return "DO_NOT_REACH_LIST"

    def lock_name(self, place_id: str) -> str:
        """Return a name with a dash: no audience has it, since ids have no dash."""
        return f"do-not-reach-{place_id}"

    def pin(self, plan_time: datetime, now: datetime, wanted: TimeOptions) -> PlanTimes:
        """Return times of less than 13 months.

        Raises UsageError for longer times, an effective time, and as `pin_times`.
        """
        return pin_list_times(
            plan_time, now, expires_at=wanted.expires_at, ttl_days=wanted.ttl_days, effective_at=wanted.effective_at
        )

    def notes(self, *, updates: int, deletes: int, suppressing: bool) -> tuple[str, ...]:
        """Return no notes: no audience is changed."""
        return ("a do-not-reach list keeps people from being targeted; it takes no one out of an audience",)

    def connect(self, place_id: str, settings: Settings) -> DoNotReachSession:
        """Raises UsageError or CredentialsRefused for settings that lack something."""
        from audiencekit.api.opening import open_client  # only those who send need HTTP
        from audiencekit.destinations.ads_session import DoNotReachSession

        return DoNotReachSession(open_client(settings), place_id)


DO_NOT_REACH_LIST: Final[Destination] = DoNotReachDestination()
