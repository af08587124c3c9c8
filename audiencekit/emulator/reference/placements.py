"""Where line items of each product type can be shown (specification part 1, section 4.2)."""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.calls import Call
from audiencekit.emulator.envelope import Answer, success
from audiencekit.emulator.parameters import Parameters

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
