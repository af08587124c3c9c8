"""Categories that are the same for every account (specification part 1, section 4.2).

The names and numbers are examples, but the relations between the tables are real: line items and targeting criteria
take the IAB categories in them, and no others.
"""

from __future__ import annotations

from typing import Any, Final

from audiencekit.emulator.answers import Answer, success
from audiencekit.emulator.calls import Call
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.records import Record

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


# --- Recommendations for a campaign and its line items: steps that the campaign endpoints can carry out ---
#
# The specification does not say how the service finds its recommendations. Here the daily budget of an active campaign
# should grow by a fifth, a campaign without line items should get one, and paused line items should be deleted.

_DAILY, _TOTAL = "daily_budget_amount_local_micro", "total_budget_amount_local_micro"
_FIRST_LINE_ITEM: Final = {"objective": "ENGAGEMENTS", "product_type": "PROMOTED_TWEETS"}


def change_campaign(campaign: Record, line_items: list[Record]) -> dict[str, Any] | None:
    """Return the recommended changes of a campaign, with its line items below it; None without any."""
    below = _change_line_items(campaign, line_items)
    daily = campaign.fields[_DAILY] if campaign.fields["entity_status"] == "ACTIVE" else None
    more = _raise(daily, campaign.fields[_TOTAL]) if daily else None
    if more == daily and not below:
        return None
    params = {"campaign_id": campaign.id, **({} if more == daily else {_DAILY: more})}
    return _step("campaigns", None if more == daily else "Update", params, below)


def _raise(daily: int, total: int | None) -> int:
    return daily + daily // 5 if total is None else min(daily + daily // 5, total)


def _change_line_items(campaign: Record, line_items: list[Record]) -> list[dict[str, Any]]:
    if not line_items:
        return [_step("line_items", "Create", {"campaign_id": campaign.id, **_FIRST_LINE_ITEM}, [])]
    paused = [item for item in line_items if item.fields["entity_status"] == "PAUSED"]
    return [_step("line_items", "Delete", {"line_item_id": item.id}, []) for item in paused]


def _step(
    entity_type: str, operation_type: str | None, params: dict[str, Any], below: list[dict[str, Any]]
) -> dict[str, Any]:
    return {
        "entity_type": entity_type,
        "operation_type": operation_type,
        "params": params,
        "dependent_entities": below,
    }


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
