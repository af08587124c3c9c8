"""Curated categories and the line items that have one, over the wire."""

from __future__ import annotations

from typing import Any

from tests.cases import each_case
from tests.emulator.endpoints.campaigns_builder import make_campaign, make_line_item

SOCCER, COMEDY, SCIENCE = "9ddrgesiap6o", "7op29tp2jzeo", "5xq0p1c7n2ty"


@each_case(
    "countries, ids", [("US", [SOCCER, COMEDY]), ("FR", [SCIENCE]), ("DE,GB", [SOCCER, COMEDY, SCIENCE]), ("ZZ", [])]
)
async def test_categories_are_listed_by_country(caller: Any, countries: str, ids: list[str]) -> None:
    """Those for any of the countries."""
    reply = await caller.call("GET", caller.account + "/curated_categories", query={"country_codes": countries})
    assert [record["id"] for record in reply.body["data"]] == ids
    assert reply.body["next_cursor"] is None
    assert reply.body["request"]["params"]["country_codes"] == countries.split(",")


@each_case(
    "query, code",
    [
        ({"country_codes": "us"}, "INVALID_PARAMETER"),
        ({"country_codes": "USA"}, "INVALID_PARAMETER"),
        ({"country_codes": "US", "cursor": "made-up"}, "INVALID_PARAMETER"),
    ],
)
async def test_faulty_lists_are_refused(caller: Any, query: dict[str, Any], code: str) -> None:
    """Countries are two letters, and a cursor is one of the list."""
    assert (await caller.call("GET", caller.account + "/curated_categories", query=query)).codes == [code]


async def test_two_hundred_countries_can_be_named(caller: Any) -> None:
    """The most that there may be."""
    query = {"country_codes": ",".join(["US"] * 200)}
    assert (await caller.call("GET", caller.account + "/curated_categories", query=query)).status == 200


async def test_one_category_is_shown(caller: Any) -> None:
    """With its countries and publishers; without parameters."""
    path = f"{caller.account}/curated_categories/{SCIENCE}"
    record = (await caller.call("GET", path)).body["data"]
    assert (record["name"], record["country_codes"]) == ("Science", ["DE", "FR"])
    assert (await caller.call("GET", path, query={"with_deleted": "true"})).status == 400
    refused = await caller.call("GET", f"{caller.account}/curated_categories/nothing")
    assert (refused.status, refused.body["errors"][0]["parameter"]) == (404, "curated_category_id")


async def _line_item(caller: Any) -> str:
    return await make_line_item(caller, (await make_campaign(caller)).body["data"]["id"])


async def test_a_line_item_gets_a_category_and_loses_it(caller: Any) -> None:
    """Made, changed in either part, deleted once."""
    first, second = await _line_item(caller), await _line_item(caller)
    path = caller.account + "/line_item_curated_categories"
    query = {"line_item_id": first, "curated_category_id": SOCCER}
    made = (await caller.call("POST", path, query=query)).body
    assert made["request"]["params"] == {"account_id": caller.emulator.account_id, **query}
    assert made["data"] == {
        **query,
        "id": made["data"]["id"],
        "created_at": "2027-01-15T08:00:00Z",
        "updated_at": "2027-01-15T08:00:00Z",
        "deleted": False,
    }
    path += f"/{made['data']['id']}"
    await caller.move_clock(advance=1)
    changed = (await caller.call("PUT", path, query={"curated_category_id": COMEDY})).body["data"]
    assert (changed["curated_category_id"], changed["line_item_id"]) == (COMEDY, first)
    assert changed["updated_at"] == "2027-01-15T08:00:01Z"
    moved = (await caller.call("PUT", path, query={"line_item_id": second})).body["data"]
    assert (moved["curated_category_id"], moved["line_item_id"]) == (COMEDY, second)
    assert (await caller.call("PUT", path)).body["data"] == moved
    deleted = (await caller.call("DELETE", path)).body["data"]
    assert deleted["deleted"] is True
    for method in ("DELETE", "PUT"):
        refused = await caller.call(method, path)
        assert (refused.status, refused.codes) == (404, ["NOT_FOUND"])


@each_case(
    "changes, status, parameter",
    [
        ({"line_item_id": "nothing"}, 404, "line_item_id"),
        ({"curated_category_id": "nothing"}, 404, "curated_category_id"),
    ],
)
async def test_faulty_ones_are_refused(caller: Any, changes: dict[str, Any], status: int, parameter: str) -> None:
    """When they are made, and when they are changed as far as the rule holds there."""
    good = {"line_item_id": await _line_item(caller), "curated_category_id": SOCCER}
    path = caller.account + "/line_item_curated_categories"
    refused = await caller.call("POST", path, query={**good, **changes})
    assert (refused.status, refused.body["errors"][0]["parameter"]) == (status, parameter)
    made = (await caller.call("POST", path, query=good)).body["data"]
    refused = await caller.call("PUT", f"{path}/{made['id']}", query=changes)
    assert (refused.status, refused.body["errors"][0]["parameter"]) == (status, parameter)
    assert (await caller.call("PUT", f"{path}/{made['id']}")).body["data"] == made
