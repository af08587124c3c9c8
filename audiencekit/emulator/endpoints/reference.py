"""Reference data, the same for every account (specification part 1, section 4.2)."""

from __future__ import annotations

from typing import Any, Final

from audiencekit.emulator.answers import Answer, success
from audiencekit.emulator.calls import Call
from audiencekit.emulator.parameters import Parameters

# --- Categories that are the same for every account (specification part 1, section 4.2) ---
#
# The names and numbers are examples; what is real is how the tables hang together: line items and targeting criteria
# take the IAB categories that stand here, and no others.

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
    """Whether these are exactly the IAB categories of one or two advertiser business categories."""
    given = set(iab_categories)
    chosen = [each for each in ADVERTISER_BUSINESS_CATEGORIES if given.issuperset(each["iab_categories"])]
    meant = {iab for each in chosen for iab in each["iab_categories"]}
    return meant == given and 1 <= len(chosen) <= MAX_BUSINESS_CATEGORIES


def _list(call: Call, categories: tuple[dict[str, Any], ...]) -> Answer:
    parameters = Parameters(call)
    parameters.finish()
    return success(parameters.echo, list(categories), next_cursor=None)


# --- Where line items of each product type can be shown (specification part 1, section 4.2) ---

EVERYWHERE, TIMELINE = "ALL_ON_TWITTER", "TWITTER_TIMELINE"
# Each list is one valid combination.
PLACEMENTS: Final[dict[str, list[list[str]]]] = {
    "MEDIA": [[EVERYWHERE], ["PUBLISHER_NETWORK"]],
    "PROMOTED_ACCOUNT": [[EVERYWHERE], [TIMELINE], [EVERYWHERE, TIMELINE]],
    "PROMOTED_TWEETS": [
        [EVERYWHERE],
        [TIMELINE],
        ["TWITTER_PROFILE"],
        ["TWITTER_SEARCH"],
        ["TWITTER_PROFILE", TIMELINE],
        ["TWITTER_SEARCH", TIMELINE],
    ],
}


def list_placements(call: Call) -> Answer:
    """Answer `GET /line_items/placements`: the combinations of all product types, or of one."""
    parameters = Parameters(call)
    asked = parameters.choice("product_type", tuple(PLACEMENTS), "")
    parameters.finish()
    shown = [
        {"product_type": product_type, "placements": combinations}
        for product_type, combinations in PLACEMENTS.items()
        if asked in ("", product_type)
    ]
    return success(parameters.echo, shown)


# --- Bidding rules: the least and the most that an engagement may cost (specification part 1, section 4.2) ---

# Micro units of the currency. The smallest amount is a cent, or a whole unit where there are no cents.
_CENT, _UNIT = 10_000, 1_000_000
_SMALLEST: Final = {
    "AUD": _CENT,
    "BRL": _CENT,
    "CAD": _CENT,
    "EUR": _CENT,
    "GBP": _CENT,
    "JPY": _UNIT,
    "KRW": _UNIT,
    "USD": _CENT,
}


def list_bidding_rules(call: Call) -> Answer:
    """Answer `GET /bidding_rules`, of all currencies or of one, and always how many."""
    parameters = Parameters(call)
    asked = parameters.currency("currency")
    parameters.finish()
    rules = [_rule(currency) for currency in _SMALLEST if asked in (None, currency)]
    return success(parameters.echo, rules, next_cursor=None, total_count=len(rules))


def _rule(currency: str) -> dict[str, Any]:
    smallest = _SMALLEST[currency]
    return {
        "currency": currency,
        "minimum_cpe_bid_local_micro": smallest,
        "maximum_cpe_bid_local_micro": 100_000 * smallest,
        "minimum_denomination": smallest,
    }


# --- Publishers, who make the videos of the content categories (specification part 1, section 4.2). Invented ones ---

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
