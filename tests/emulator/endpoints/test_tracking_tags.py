"""Tracking tags, over the wire."""

from __future__ import annotations

from typing import Any

from tests.cases import each_case
from tests.emulator.endpoints.campaigns_builder import make_campaign, make_line_item

URL = "https://ad.example/track;id=1355?a=1&b=ü"


async def _tag(caller: Any, **changes: Any) -> Any:
    query = {"tracking_tag_type": "IMPRESSION_TAG", "tracking_tag_url": URL, **changes}
    query = {name: text for name, text in query.items() if text is not None}
    return await caller.call("POST", caller.account + "/tracking_tags", query=query)


async def _line_item(caller: Any) -> str:
    return await make_line_item(caller, (await make_campaign(caller)).body["data"]["id"])


async def test_a_tag_lives_and_ends(caller: Any) -> None:
    """Made, shown, listed, given another address, deleted once, and listed from then on only when asked for."""
    line_item = await _line_item(caller)
    made = (await _tag(caller, line_item_id=line_item)).body["data"]
    assert made == {
        "line_item_id": line_item,
        "tracking_tag_url": URL,
        "tracking_tag_type": "IMPRESSION_TAG",
        "id": made["id"],
        "created_at": "2027-01-15T08:00:00Z",
        "updated_at": "2027-01-15T08:00:00Z",
        "deleted": False,
    }
    tags = caller.account + "/tracking_tags"
    path = f"{tags}/{made['id']}"
    assert (await caller.call("GET", path)).body["data"] == made
    await caller.move_clock(advance=1)
    changed = (await caller.call("PUT", path, query={"tracking_tag_url": "https://other.example"})).body["data"]
    moment = "2027-01-15T08:00:01Z"
    assert changed == {**made, "tracking_tag_url": "https://other.example", "updated_at": moment}
    deleted = (await caller.call("DELETE", path)).body["data"]
    assert deleted == {**changed, "deleted": True}
    for method, query in (("DELETE", {}), ("GET", {}), ("PUT", {"tracking_tag_url": URL})):
        refused = await caller.call(method, path, query=query)
        assert (refused.status, refused.codes) == (404, ["NOT_FOUND"])
    assert (await caller.call("GET", tags)).body["data"] == []
    assert (await caller.call("GET", tags, query={"with_deleted": "true"})).body["data"] == [deleted]
    assert (await caller.call("GET", path, query={"with_deleted": "true"})).body["data"] == deleted


async def test_tags_are_listed_by_line_item_and_by_id(caller: Any) -> None:
    """Either filter, both, and the usual parameters of a list."""
    items = [await _line_item(caller) for _ in range(2)]
    ids = [(await _tag(caller, line_item_id=item)).body["data"]["id"] for item in items]
    path = caller.account + "/tracking_tags"
    for query, expected in (
        ({"line_item_ids": items[0]}, ids[:1]),
        ({"line_item_ids": ",".join(items)}, ids),
        ({"tracking_tag_ids": ids[1]}, ids[1:]),
        ({"tracking_tag_ids": ids[1], "line_item_ids": items[0]}, []),
        ({"sort_by": "created_at-desc", "count": 1}, ids[:1]),
        ({"with_total_count": "true"}, ids),
    ):
        body = (await caller.call("GET", path, query=query)).body
        assert [tag["id"] for tag in body["data"]] == expected
    assert body["total_count"] == 2


@each_case(
    "changes, status, parameter",
    [
        ({"line_item_id": "nothing"}, 404, "line_item_id"),
    ],
)
async def test_faulty_tags_are_refused(caller: Any, changes: dict[str, Any], status: int, parameter: str) -> None:
    """Each rule, broken once; nothing is made."""
    refused = await _tag(caller, **{"line_item_id": await _line_item(caller), **changes})
    assert (refused.status, refused.body["errors"][0]["parameter"]) == (status, parameter)
    assert (await caller.call("GET", caller.account + "/tracking_tags")).body["data"] == []


async def test_only_the_address_can_be_changed(caller: Any) -> None:
    """It must be given, and nothing else can be."""
    made = (await _tag(caller, line_item_id=await _line_item(caller), tracking_tag_type="CLICK_TRACKER")).body["data"]
    path = f"{caller.account}/tracking_tags/{made['id']}"
    for query in ({}, {"tracking_tag_url": URL, "tracking_tag_type": "IMPRESSION_TAG"}, {"tracking_tag_url": ""}):
        assert (await caller.call("PUT", path, query=query)).status == 400
    assert (await caller.call("GET", path)).body["data"] == made
