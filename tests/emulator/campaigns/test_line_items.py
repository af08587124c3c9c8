"""Line items over the wire: made, changed, deleted, one by one and in batches."""

from __future__ import annotations

from typing import Any

import pytest

from tests.emulator.campaigns.builder import make_campaign, make_line_item

NEW = {"objective": "ENGAGEMENTS", "product_type": "PROMOTED_TWEETS"}


async def _campaign(caller: Any) -> str:
    return str((await make_campaign(caller)).body["data"]["id"])


async def _batch(caller: Any, *items: Any) -> Any:
    return await caller.upload([*items], path=caller.account.replace("/12/", "/12/batch/") + "/line_items")


def _item(verb: str, **params: Any) -> dict[str, Any]:
    return {"operation_type": verb, "params": params}


async def test_a_line_item_goes_through_its_life(caller: Any) -> None:
    """A change stays; campaign, objective and product type cannot be."""
    campaign = await _campaign(caller)
    item = await make_line_item(caller, campaign, name="spring", bid_amount_local_micro=str(2**63 - 1))
    path = f"{caller.account}/line_items/{item}"
    times = {"start_time": "2027-02-01T00:00:00Z", "end_time": "2027-03-01T00:00:00Z"}
    query = {"entity_status": "PAUSED", "name": "summer", "bid_strategy": "MAX", **times}
    changed = (await caller.call("PUT", path, query=query)).body["data"]
    assert changed.items() >= {**query, "bid_amount_local_micro": 2**63 - 1, "campaign_id": campaign}.items()
    assert (await caller.call("GET", path)).body["data"] == changed
    assert (await caller.call("PUT", path, query={"objective": "REACH"})).codes == ["INVALID_PARAMETER"]
    assert (await caller.call("DELETE", path)).body["data"]["deleted"] is True
    assert (await caller.call("PUT", path, query={"name": "x"})).status == 404
    assert (await caller.call("GET", path, query={"with_deleted": "true"})).status == 200


@pytest.mark.parametrize(
    ("query", "code", "name"),
    [
        ({"end_time": "2027-01-01T00:00:00Z", "start_time": "2027-01-01T00:00:00Z"}, "INVALID_TIME_WINDOW", "end_time"),
        (
            {"daily_budget_amount_local_micro": "2", "total_budget_amount_local_micro": "1"},
            "INVALID_PARAMETER",
            "daily_budget_amount_local_micro",
        ),
        ({"entity_status": "DRAFT"}, "INVALID_PARAMETER", "entity_status"),
        ({"categories": "IAB7"}, "EXCLUSIVE_PARAMETERS", "categories"),
        ({"name": ""}, "INVALID_PARAMETER", "name"),
        ({"bid_amount_local_micro": str(2**63)}, "INVALID_PARAMETER", "bid_amount_local_micro"),
    ],
)
async def test_faulty_changes_change_nothing(caller: Any, query: dict[str, str], code: str, name: str) -> None:
    """Each is refused with its code and its parameter."""
    path = f"{caller.account}/line_items/{await make_line_item(caller, await _campaign(caller))}"
    before = (await caller.call("GET", path)).content
    reply = await caller.call("PUT", path, query=query)
    assert (reply.status, reply.codes, reply.body["errors"][0]["parameter"]) == (400, [code], name)
    assert (await caller.call("GET", path)).content == before


async def test_drafts_are_listed_when_they_are_asked_for(caller: Any) -> None:
    """As with campaigns."""
    campaign = await _campaign(caller)
    draft = await make_line_item(caller, campaign, entity_status="DRAFT")
    path = caller.account + "/line_items"
    assert (await caller.call("GET", path)).body["data"] == []
    (shown,) = (await caller.call("GET", path, query={"with_draft": "true"})).body["data"]
    assert shown["id"] == draft
    assert (await caller.call("PUT", f"{path}/{draft}", query={"entity_status": "ACTIVE"})).status == 200
    assert len((await caller.call("GET", path)).body["data"]) == 1


async def test_a_batch_is_all_or_nothing(caller: Any) -> None:
    """In the order of its items; 40 at most."""
    campaign = await _campaign(caller)
    first = await make_line_item(caller, campaign)
    good = [
        _item("Create", campaign_id=campaign, **NEW),
        _item("Update", line_item_id=first, name="first"),
    ]
    refused = await _batch(caller, *good, _item("Update", name="no id"), _item("Delete", line_item_id="zzzzz"))
    assert refused.status == 400
    assert [[each["code"] for each in entry] for entry in refused.body["operation_errors"]] == [
        [], [], ["MISSING_PARAMETER"], ["NOT_FOUND"],
    ]  # fmt: skip
    assert len((await caller.call("GET", caller.account + "/line_items")).body["data"]) == 1
    made, changed, deleted = (await _batch(caller, *good, _item("Delete", line_item_id=first))).body["data"]
    assert (made["objective"], changed["name"], deleted["deleted"]) == ("ENGAGEMENTS", "first", True)
    assert (await _batch(caller, *[good[0]] * 40)).status == 200
    assert (await _batch(caller, *[good[0]] * 41)).status == 400
