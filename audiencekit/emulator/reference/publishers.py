"""Publishers, who make the videos of the content categories (specification part 1, section 4.2). Invented ones."""

from __future__ import annotations

from typing import Any, Final

from audiencekit.emulator.calls import Call
from audiencekit.emulator.envelope import Answer, success
from audiencekit.emulator.parameters import Parameters

PUBLISHERS: Final[tuple[dict[str, Any], ...]] = (
    {
        "monetizable_country_codes": ["US", "GB"],
        "promotion_eligible_country_codes": ["US", "GB"],
        "username": "LocalLaughs",
        "user_id": "4000000001",
        "monetization_restricted": False,
        "content_category_ids": ["sk"],
    },
    {
        "monetizable_country_codes": ["US"],
        "promotion_eligible_country_codes": ["US"],
        "username": "LocalGoals",
        "user_id": "4000000002",
        "monetization_restricted": True,
        "content_category_ids": ["se"],
    },
    {
        "monetizable_country_codes": ["DE", "FR"],
        "promotion_eligible_country_codes": ["DE", "FR", "US"],
        "username": "LocalStadium",
        # Larger than a double can hold to the last digit.
        "user_id": "1353868435021721603",
        "monetization_restricted": False,
        "content_category_ids": ["se", "sb"],
    },
)


def list_publishers(call: Call) -> Answer:
    """Answer `GET /publishers`: all of them."""
    parameters = Parameters(call)
    parameters.finish()
    return success(parameters.echo, list(PUBLISHERS), next_cursor=None)
