"""Categories that are the same for every account (specification part 1, section 4.2).

The names and numbers are examples; what is real is how the tables hang together: line items and targeting criteria
take the IAB categories that stand here, and no others.
"""

from __future__ import annotations

from typing import Any, Final

from audiencekit.emulator.calls import Call
from audiencekit.emulator.envelope import Answer, success
from audiencekit.emulator.parameters import Parameters

ADVERTISER_BUSINESS_CATEGORIES: Final[tuple[dict[str, Any], ...]] = (
    {"id": "1jm", "name": "Health & Pharma", "iab_categories": ["IAB7"]},
    {"id": "1jn", "name": "Food & Drink", "iab_categories": ["IAB8"]},
    {"id": "1jo", "name": "Technology", "iab_categories": ["IAB19", "IAB5-6"]},
    {"id": "1jp", "name": "Travel", "iab_categories": ["IAB20"]},
)
CONTENT_CATEGORIES: Final[tuple[dict[str, Any], ...]] = (
    {
        "name": "Comedy",
        "id": "sk",
        "iab_categories": ["IAB1-4"],
        "publishers_in_last_thirty_days": 1,
        "videos_monetized_in_last_thirty_days": 174,
    },
    {
        "name": "Sports",
        "id": "se",
        "iab_categories": ["IAB17", "IAB17-12", "IAB17-44"],
        "publishers_in_last_thirty_days": 2,
        "videos_monetized_in_last_thirty_days": 2_311,
    },
    {
        "name": "Science & Education",
        "id": "sb",
        "iab_categories": ["IAB5", "IAB15"],
        "publishers_in_last_thirty_days": 1,
        "videos_monetized_in_last_thirty_days": 58,
    },
)
CONTENT_IAB_CATEGORIES: Final = frozenset(iab for each in CONTENT_CATEGORIES for iab in each["iab_categories"])
MAX_BUSINESS_CATEGORIES: Final = 2  # of a line item


def list_business_categories(call: Call) -> Answer:
    """Answer `GET /advertiser_business_categories`: all of them."""
    return _list(call, ADVERTISER_BUSINESS_CATEGORIES)


def list_content_categories(call: Call) -> Answer:
    """Answer `GET /content_categories`: all of them."""
    return _list(call, CONTENT_CATEGORIES)


def are_business_categories(iab_categories: list[str]) -> bool:
    """Return whether these are all IAB categories of one or two advertiser business categories, and no others."""
    given = set(iab_categories)
    chosen = [each for each in ADVERTISER_BUSINESS_CATEGORIES if given.issuperset(each["iab_categories"])]
    meant = {iab for each in chosen for iab in each["iab_categories"]}
    return meant == given and 1 <= len(chosen) <= MAX_BUSINESS_CATEGORIES


def _list(call: Call, categories: tuple[dict[str, Any], ...]) -> Answer:
    parameters = Parameters(call)
    parameters.finish()
    return success(parameters.echo, list(categories), next_cursor=None)
