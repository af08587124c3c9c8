"""Reference data, over the wire."""

from __future__ import annotations

from typing import Any

import pytest

from audiencekit.emulator.endpoints.reference import are_business_categories
from tests.cases import each_case
from tests.emulator.endpoints.campaigns_builder import make_campaign, make_line_item

LISTS = ["advertiser_business_categories", "content_categories", "publishers"]


@each_case("name", LISTS)
async def test_the_lists_take_no_parameters(caller: Any, name: str) -> None:
    """All records at once; anything asked for besides is refused."""
    reply = await caller.call("GET", f"/12/{name}")
    assert reply.body["data"]
    assert (reply.body["request"], reply.body["next_cursor"]) == ({"params": {}}, None)
    assert (await caller.call("GET", f"/12/{name}", query={"count": 1})).codes == ["INVALID_PARAMETER"]


@each_case("name", [*LISTS, "bidding_rules", "line_items/placements"])
async def test_reference_data_is_read_five_times(caller: Any, name: str) -> None:
    """In a quarter of an hour, each list by itself; then again. The sandbox counts with it."""
    path = f"/12/{name}"
    replies = [await caller.call("GET", path) for _ in range(5)]
    assert [reply.headers["x-rate-limit-remaining"] for reply in replies] == ["4", "3", "2", "1", "0"]
    refused = await caller.call("GET", path, base=caller.emulator.ads_sandbox_url)
    assert (refused.status, refused.codes) == (429, ["TOO_MANY_REQUESTS"])
    await caller.move_clock(advance=900)
    assert (await caller.call("GET", path)).status == 200


async def test_publishers_belong_to_content_categories(caller: Any) -> None:
    """Each to some that there are, and each category counts its own."""
    publishers = (await caller.call("GET", "/12/publishers")).body["data"]
    categories = (await caller.call("GET", "/12/content_categories")).body["data"]
    ids = [each for publisher in publishers for each in publisher["content_category_ids"]]
    for category in categories:
        assert category["publishers_in_last_thirty_days"] == ids.count(category["id"]) > 0
        assert category["iab_categories"]
    assert set(ids) == {category["id"] for category in categories}


async def test_bidding_rules_of_one_currency_or_all(caller: Any) -> None:
    """Always with their number; a currency without rules has none."""
    everything = (await caller.call("GET", "/12/bidding_rules")).body
    assert everything["total_count"] == len(everything["data"]) > 2
    one = (await caller.call("GET", "/12/bidding_rules", query={"currency": "USD"})).body
    assert one["data"] == [
        {
            "currency": "USD",
            "minimum_cpe_bid_local_micro": 10_000,
            "maximum_cpe_bid_local_micro": 1_000_000_000,
            "minimum_denomination": 10_000,
        }
    ]
    assert one["request"] == {"params": {"currency": "USD"}}
    none = (await caller.call("GET", "/12/bidding_rules", query={"currency": "CHF"})).body
    assert (none["data"], none["total_count"]) == ([], 0)


@pytest.mark.parametrize("currency", ["usd", "US", "USDE", "US1", "XXQ", ""])
async def test_a_currency_is_one_of_iso_4217(caller: Any, currency: str) -> None:
    """Anything else is refused."""
    reply = await caller.call("GET", "/12/bidding_rules", query={"currency": currency})
    assert (reply.status, reply.codes) == (400, ["INVALID_PARAMETER"])


async def test_placements_of_one_product_type_or_all(caller: Any) -> None:
    """Lists of combinations, without a cursor."""
    everything = (await caller.call("GET", "/12/line_items/placements")).body
    assert [each["product_type"] for each in everything["data"]] == ["MEDIA", "PROMOTED_ACCOUNT", "PROMOTED_TWEETS"]
    assert "next_cursor" not in everything
    one = (await caller.call("GET", "/12/line_items/placements", query={"product_type": "PROMOTED_ACCOUNT"})).body
    placements = [["ALL_ON_TWITTER"], ["TWITTER_TIMELINE"], ["ALL_ON_TWITTER", "TWITTER_TIMELINE"]]
    assert one["data"] == [{"product_type": "PROMOTED_ACCOUNT", "placements": placements}]
    refused = await caller.call("GET", "/12/line_items/placements", query={"product_type": "PROMOTED_TREND"})
    assert refused.codes == ["INVALID_PARAMETER"]


@each_case(
    "iab_categories, good",
    [
        (["IAB7"], True),
        (["IAB7", "IAB8"], True),
        (["IAB19", "IAB5-6"], True),
        (["IAB20", "IAB5-6", "IAB19"], True),
        (["IAB19"], False),
        (["IAB7", "IAB19"], False),
        (["IAB7", "IAB8", "IAB20"], False),
        (["IAB999"], False),
    ],
)
def test_one_or_two_business_categories(iab_categories: list[str], good: bool) -> None:
    """All IAB categories of each, and of no third."""
    assert are_business_categories(iab_categories) is good


async def test_line_items_for_prerolls_have_business_categories(caller: Any) -> None:
    """They must, and no others may."""
    campaign = (await make_campaign(caller)).body["data"]["id"]
    query = {"campaign_id": campaign, "objective": "PREROLL_VIEWS", "product_type": "MEDIA"}
    path = caller.account + "/line_items"
    assert (await caller.call("POST", path, query=query)).codes == ["MISSING_PARAMETER"]
    refused = await caller.call("POST", path, query={**query, "categories": "IAB1-4"})
    assert (refused.status, refused.codes) == (400, ["INVALID_IAB_CATEGORY"])
    made = await caller.call("POST", path, query={**query, "categories": "IAB7,IAB20"})
    assert made.body["data"]["categories"] == ["IAB7", "IAB20"]
    other = {**query, "objective": "REACH"}
    assert (await caller.call("POST", path, query={**other, "categories": "IAB7"})).codes == ["EXCLUSIVE_PARAMETERS"]
    assert (await caller.call("POST", path, query=other)).body["data"]["categories"] == []


async def test_criteria_take_the_categories_of_content(caller: Any) -> None:
    """One that no content category has is refused."""
    line_item = await make_line_item(caller, (await make_campaign(caller)).body["data"]["id"])
    query = {"line_item_id": line_item, "targeting_type": "IAB_CATEGORY", "operator_type": "EQ"}
    path = caller.account + "/targeting_criteria"
    assert (await caller.call("POST", path, query={**query, "targeting_value": "IAB1-4"})).status == 200
    for value in ("sk", "IAB20"):
        refused = await caller.call("POST", path, query={**query, "targeting_value": value})
        assert (refused.status, refused.codes) == (400, ["INVALID_IAB_CATEGORY"])
