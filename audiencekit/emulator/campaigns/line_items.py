"""Line items: what a campaign delivers, and to which people.

The public service has endpoints to list and create them; the specification mentions these without showing them. The
emulator serves their plainest form: without line items a client could promote, tag or target nothing here.
"""

from __future__ import annotations

from typing import Any, Final

from audiencekit.emulator.calls import Call
from audiencekit.emulator.campaigns.kinds import CAMPAIGNS, LINE_ITEMS
from audiencekit.emulator.envelope import Answer, success
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.reference.categories import are_business_categories

_OBJECTIVES: Final = (
    "APP_ENGAGEMENTS",
    "APP_INSTALLS",
    "ENGAGEMENTS",
    "FOLLOWERS",
    "PREROLL_VIEWS",
    "REACH",
    "VIDEO_VIEWS",
    "WEBSITE_CLICKS",
)
_PRODUCT_TYPES: Final = ("MEDIA", "PROMOTED_ACCOUNT", "PROMOTED_TWEETS")


def create_line_item(call: Call) -> Answer:
    """`POST …/line_items`."""
    parameters = Parameters(call)
    campaign_id = parameters.required_text("campaign_id")
    fields: dict[str, Any] = {
        "campaign_id": campaign_id,
        "name": parameters.text("name", longest=255),
        "objective": parameters.required_choice("objective", _OBJECTIVES),
        "product_type": parameters.required_choice("product_type", _PRODUCT_TYPES),
        "placements": parameters.words("placements") or ["ALL_ON_TWITTER"],
        "entity_status": parameters.choice("entity_status", ("ACTIVE", "DRAFT", "PAUSED"), "ACTIVE"),
    }
    fields["categories"] = _read_categories(call, parameters, fields["objective"])
    parameters.finish()
    campaign = CAMPAIGNS.find(call, campaign_id)
    more = {name: campaign.fields[name] for name in ("funding_instrument_id", "currency")}
    return success(parameters.echo, LINE_ITEMS.make(call, {**fields, **more}).document())


def _read_categories(call: Call, parameters: Parameters, objective: str) -> list[str]:
    """The IAB categories of a line item for prerolls, which stand for one or two advertiser business categories; empty
    for any other line item, which must not have them (specification part 1, section 4.2)."""
    if objective != "PREROLL_VIEWS":
        if parameters.given("categories") is not None:
            message = "categories are for objective PREROLL_VIEWS only"
            raise parameters.fault("categories", message, "EXCLUSIVE_PARAMETERS")
        return []
    categories = parameters.required_words("categories")
    if not are_business_categories(categories):
        message = "Expected the IAB categories of one or two advertiser business categories"
        raise call.refuse(404, "INVALID_IAB_CATEGORY", message, "categories")
    return categories
