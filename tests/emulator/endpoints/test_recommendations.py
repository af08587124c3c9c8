"""Recommendations, over the wire."""

from __future__ import annotations

from typing import Any

from tests.emulator.endpoints.campaigns_builder import make_campaign, make_instrument, make_line_item

DAILY, TOTAL = "daily_budget_amount_local_micro", "total_budget_amount_local_micro"


def _path(caller: Any) -> str:
    return str(caller.account.replace("/12/", "/5/")) + "/recommendations"


async def _tree(caller: Any) -> Any:
    (summary,) = (await caller.call("GET", _path(caller))).body["data"]
    shown = (await caller.call("GET", f"{_path(caller)}/{summary['id']}")).body["data"]
    changes = shown.pop("changes")
    assert shown == summary
    return changes


async def test_there_is_one_for_each_funding_instrument(caller: Any) -> None:
    """Listed without its changes, and counted; none where there is no campaign."""
    path = _path(caller)
    assert (await caller.call("GET", path)).body == {
        "request": {"params": {"account_id": caller.emulator.account_id}},
        "next_cursor": None,
        "total_count": 0,
        "data": [],
    }
    instrument = await make_instrument(caller)
    await make_instrument(caller)
    await caller.move_clock(advance=1)
    for _ in range(2):
        await make_campaign(caller, instrument=instrument)
    body = (await caller.call("GET", path)).body
    assert (len(body["data"]), body["total_count"]) == (1, 1)
    assert body["data"][0] == {
        "funding_instrument_id": instrument,
        "id": body["data"][0]["id"],
        "account_id": caller.emulator.account_id,
        "status": "PENDING",
        "message": body["data"][0]["message"],
        "created_at": "2027-01-15T08:00:00Z",
        "updated_at": "2027-01-15T08:00:01Z",
    }
    await make_campaign(caller)
    assert (await caller.call("GET", path)).body["total_count"] == 2


async def test_the_changes_are_a_tree(caller: Any) -> None:
    """More money for an active campaign, a line item where there is none, an end for paused ones below it."""
    instrument = await make_instrument(caller)
    bare = (await make_campaign(caller, instrument=instrument)).body["data"]["id"]
    full = (await make_campaign(caller, instrument=instrument, **{TOTAL: 5_000_000})).body["data"]["id"]
    await make_line_item(caller, full)
    paused = await make_line_item(caller, full, entity_status="PAUSED")
    first = {"campaign_id": bare, "objective": "ENGAGEMENTS", "product_type": "PROMOTED_TWEETS"}
    assert await _tree(caller) == [
        {
            "entity_type": "campaigns",
            "operation_type": "Update",
            "params": {"campaign_id": bare, DAILY: 6_000_000},
            "dependent_entities": [
                {"entity_type": "line_items", "operation_type": "Create", "params": first, "dependent_entities": []}
            ],
        },
        {
            "entity_type": "campaigns",
            "operation_type": None,
            "params": {"campaign_id": full},
            "dependent_entities": [
                {
                    "entity_type": "line_items",
                    "operation_type": "Delete",
                    "params": {"line_item_id": paused},
                    "dependent_entities": [],
                }
            ],
        },
    ]


async def test_the_changes_can_be_carried_out(caller: Any) -> None:
    """The campaigns by a batch, their line items one by one; then there is nothing left to recommend for the latter."""
    await make_campaign(caller, **{TOTAL: 5_500_000})
    (change,) = await _tree(caller)
    (below,) = change["dependent_entities"]
    item = {"operation_type": change["operation_type"], "params": change["params"]}
    reply = await caller.upload([item], path=caller.account.replace("/12/", "/12/batch/") + "/campaigns")
    assert reply.body["data"][0][DAILY] == 5_500_000
    assert (await caller.call("POST", caller.account + "/line_items", query=below["params"])).status == 200
    assert (await caller.call("GET", _path(caller))).body["data"] == []


async def test_nothing_is_recommended_for_what_was_deleted(caller: Any) -> None:
    """Neither for a campaign, nor for a line item."""
    bare, full = [(await make_campaign(caller)).body["data"]["id"] for _ in range(2)]
    item = await make_line_item(caller, full, entity_status="PAUSED")
    assert len((await caller.call("GET", _path(caller))).body["data"]) == 2
    await caller.call("DELETE", f"{caller.account}/campaigns/{bare}")
    await caller.call("DELETE", f"{caller.account}/line_items/{item}")
    (change,) = await _tree(caller)
    assert change["params"]["campaign_id"] == full
    assert [below["operation_type"] for below in change["dependent_entities"]] == ["Create"]


async def test_a_paused_campaign_gets_no_more_money(caller: Any) -> None:
    """Only what is below it changes."""
    await make_campaign(caller, entity_status="PAUSED")
    (change,) = await _tree(caller)
    assert (change["operation_type"], DAILY in change["params"]) == (None, False)


async def test_a_recommendation_keeps_its_id(caller: Any) -> None:
    """Whatever happens to the campaigns."""
    campaign = (await make_campaign(caller)).body["data"]["id"]
    before = (await caller.call("GET", _path(caller))).body["data"][0]["id"]
    await caller.call("PUT", f"{caller.account}/campaigns/{campaign}", query={"name": "other"})
    assert (await caller.call("GET", _path(caller))).body["data"][0]["id"] == before


async def test_faults_are_refused(caller: Any) -> None:
    """No parameters, no other version, no recommendation that there is not."""
    assert (await caller.call("GET", _path(caller), query={"count": 1})).codes == ["INVALID_PARAMETER"]
    assert (await caller.call("GET", caller.account + "/recommendations")).codes == ["ROUTE_NOT_FOUND"]
    refused = await caller.call("GET", _path(caller) + "/nothing")
    assert (refused.status, refused.body["errors"][0]["parameter"]) == (404, "recommendation_id")
