"""The rules and words that audiences and do-not-reach lists share: those of the ads API."""

from __future__ import annotations

from audiencekit.destinations.requests.operations import USERS, OperationsForm
from audiencekit.destinations.requests.requestplan import BodyLimits, BodyWishes
from audiencekit.destinations.words import DestinationWords
from audiencekit.limits import MAX_BODY_BYTES, PACED_REQUESTS_PER_MINUTE
from audiencekit.preparation.plantimes import PlanTimes
from audiencekit.profile import Profile


class AdsDestination:
    """The part of a Destination that does not depend on the kind of place."""

    quota = USERS
    max_body_bytes = MAX_BODY_BYTES
    requests_per_minute = PACED_REQUESTS_PER_MINUTE

    def form(self, times: PlanTimes, profile: Profile, wishes: BodyWishes | None = None) -> OperationsForm:
        """Operations."""
        return OperationsForm(times, profile, BodyLimits.within(wishes))


def ads_words(noun: str, *, listing: str) -> DestinationWords:
    """The words for places that `audiencekit LISTING` lists."""
    return DestinationWords(
        noun=noun,
        not_found=f"account {{account}} has no {{place}}: `audiencekit {listing}` shows what it has,"
        " and `audiencekit whoami` which accounts these credentials can use",
        few_people="this changes {people} of the audience: its reach before and after can tell about each of them",
        accepted="success_count",
        received="total_count",
        of_counts="(received by the service; it never says who was matched)",
        of_matches="The service never says which of them it knows.",
    )
