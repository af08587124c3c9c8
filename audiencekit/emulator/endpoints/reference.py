"""Bidding rules and publishers: the least and the most price of an engagement (specification part 1, section 4.2)."""

from __future__ import annotations

from typing import Any, Final

from audiencekit.emulator.answers import Answer, success
from audiencekit.emulator.calls import Call
from audiencekit.emulator.endpoints.categories import list_business_categories, list_content_categories, list_placements
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.routing import REFERENCE_READS, Route

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


# --- The endpoints of reference data, which belongs to no account ---

ROUTES: Final = (
    Route("GET", "/advertiser_business_categories", list_business_categories, REFERENCE_READS),
    Route("GET", "/content_categories", list_content_categories, REFERENCE_READS),
    Route("GET", "/publishers", list_publishers, REFERENCE_READS),
    Route("GET", "/bidding_rules", list_bidding_rules, REFERENCE_READS),
    Route("GET", "/line_items/placements", list_placements, REFERENCE_READS),
)
