"""Funding instruments and campaigns, over the wire."""

from __future__ import annotations

from typing import Any

import pytest

from tests.emulator.campaigns.builder import CAMPAIGN, make_campaign, make_instrument

DAILY, TOTAL = "daily_budget_amount_local_micro", "total_budget_amount_local_micro"


async def test_a_funding_instrument_is_made_in_the_sandbox(caller: Any) -> None:
    """Shown and listed at both addresses, made at one."""
    made = await make_instrument(caller)
    path = caller.account + "/funding_instruments"
    record = (await caller.call("GET", f"{path}/{made}")).body["data"]
    assert (record["currency"], record["start_time"]) == ("EUR", "2027-01-01T00:00:00Z")
    assert (record["able_to_fund"], record["reasons_not_able_to_fund"]) == (True, [])
    assert (await caller.call("GET", path, query={"funding_instrument_ids": made})).body["data"] == [record]
    query = {"currency": "EUR", "start_time": "2027-01-01"}
    assert (await caller.call("POST", path, query=query)).status == 405


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ({"currency": "EUR"}, "start_time"),
        ({"start_time": "2027-01-01"}, "currency"),
        ({"currency": "euro", "start_time": "2027-01-01"}, "currency"),
        ({"currency": "XXQ", "start_time": "2027-01-01"}, "currency"),
        ({"currency": "EUR", "start_time": "soon"}, "start_time"),
        ({"currency": "EUR", "start_time": "2027-01-01", "type": "CASH"}, "type"),
    ],
)
async def test_faulty_funding_instruments_are_refused(caller: Any, query: dict[str, str], parameter: str) -> None:
    """Currency and start are required, and checked."""
    path, sandbox = caller.account + "/funding_instruments", caller.emulator.ads_sandbox_url
    refused = await caller.call("POST", path, query=query, base=sandbox)
    assert (refused.status, refused.body["errors"][0]["parameter"]) == (400, parameter)


async def test_a_campaign_is_shown_with_its_defaults(caller: Any) -> None:
    """Active, evenly delivered, in the currency of its funding instrument."""
    made = (await make_campaign(caller)).body["data"]
    assert made == {
        "name": "Spring",
        "budget_optimization": "CAMPAIGN",
        "reasons_not_servable": [],
        "servable": True,
        "purchase_order_number": None,
        "effective_status": "RUNNING",
        DAILY: 5_000_000,
        "funding_instrument_id": made["funding_instrument_id"],
        "duration_in_days": None,
        "standard_delivery": True,
        TOTAL: None,
        "id": made["id"],
        "entity_status": "ACTIVE",
        "frequency_cap": None,
        "currency": "EUR",
        "created_at": "2027-01-15T08:00:00Z",
        "updated_at": "2027-01-15T08:00:00Z",
        "deleted": False,
    }
    assert (await caller.call("GET", f"{caller.account}/campaigns/{made['id']}")).body["data"] == made


@pytest.mark.parametrize(
    ("more", "status", "parameter"),
    [
        ({"funding_instrument_id": "nothing"}, 404, "funding_instrument_id"),
        ({"name": ""}, 400, "name"),
        ({"name": "n" * 256}, 400, "name"),
        ({"entity_status": "DELETED"}, 400, "entity_status"),
        ({TOTAL: 4_999_999}, 400, DAILY),
        ({TOTAL: "5.0"}, 400, TOTAL),
        ({DAILY: 0}, 400, DAILY),
        ({TOTAL: 2**63}, 400, TOTAL),
        ({"purchase_order_number": "1" * 51}, 400, "purchase_order_number"),
        ({"budget_optimization": "ACCOUNT"}, 400, "budget_optimization"),
        ({"budget_optimization": "LINE_ITEM", "standard_delivery": "true"}, 400, "standard_delivery"),
        ({"standard_delivery": "yes"}, 400, "standard_delivery"),
        ({"start_time": "2027-01-01"}, 400, "start_time"),
    ],
)
async def test_faulty_campaigns_are_refused(caller: Any, more: dict[str, Any], status: int, parameter: str) -> None:
    """Each rule, broken once."""
    refused = await make_campaign(caller, **more)
    assert (refused.status, refused.body["errors"][0]["parameter"]) == (status, parameter)
    assert (await caller.call("GET", caller.account + "/campaigns")).body["data"] == []


@pytest.mark.parametrize(
    "more",
    [
        {"name": "n" * 255, "purchase_order_number": "1" * 50},
        {TOTAL: 5_000_000},
        {TOTAL: 2**63 - 1},
        {"budget_optimization": "LINE_ITEM"},
        {"entity_status": "DRAFT", "standard_delivery": "false"},
    ],
)
async def test_campaigns_at_the_bounds_are_made(caller: Any, more: dict[str, Any]) -> None:
    """The other side of the rules."""
    assert (await make_campaign(caller, **more)).status == 200


async def test_a_daily_budget_is_required_by_most_instruments(caller: Any) -> None:
    """An insertion order has none."""
    path = caller.account + "/campaigns"
    for kind, status in (("CREDIT_CARD", 400), ("INSERTION_ORDER", 200)):
        query = {"name": kind, "funding_instrument_id": await make_instrument(caller, type=kind)}
        assert (await caller.call("POST", path, query=query)).status == status


async def test_a_campaign_is_deleted_once(caller: Any) -> None:
    """The second time it is not found; listed only with `with_deleted`; no change is possible."""
    made = (await make_campaign(caller)).body["data"]["id"]
    path = f"{caller.account}/campaigns/{made}"
    deleted = (await caller.call("DELETE", path)).body["data"]
    assert (deleted["deleted"], deleted["servable"], deleted["reasons_not_servable"]) == (True, None, [])
    for method in ("DELETE", "GET", "PUT"):
        refused = await caller.call(method, path)
        assert (refused.status, refused.codes) == (404, ["NOT_FOUND"])
    assert (await caller.call("GET", caller.account + "/campaigns")).body["data"] == []
    listed = await caller.call("GET", caller.account + "/campaigns", query={"with_deleted": "true"})
    assert listed.body["data"] == [deleted]


async def test_a_campaign_can_be_changed(caller: Any) -> None:
    """A draft becomes active or paused, nothing becomes a draft; the rules of creation hold."""
    made = (await make_campaign(caller, entity_status="DRAFT")).body["data"]["id"]
    path = f"{caller.account}/campaigns/{made}"
    assert (await caller.call("GET", caller.account + "/campaigns")).body["data"] == []
    drafts = await caller.call("GET", caller.account + "/campaigns", query={"with_draft": "true"})
    assert [record["id"] for record in drafts.body["data"]] == [made]
    await caller.move_clock(advance=1)
    changed = (await caller.call("PUT", path, query={"entity_status": "PAUSED", "name": "Summer"})).body["data"]
    assert (changed["entity_status"], changed["name"], changed["servable"]) == ("PAUSED", "Summer", False)
    assert changed["updated_at"] == "2027-01-15T08:00:01Z"
    moved = (await caller.call("PUT", path, query={"budget_optimization": "LINE_ITEM"})).body["data"]
    assert (moved["budget_optimization"], moved["standard_delivery"]) == ("LINE_ITEM", None)
    for query in ({"entity_status": "DRAFT"}, {TOTAL: 1}, {"standard_delivery": "true"}):
        assert (await caller.call("PUT", path, query=query)).status == 400
    assert (await caller.call("GET", path)).body["data"] == moved


async def test_an_account_has_two_hundred_active_campaigns(open_emulator: Any) -> None:
    """The next one can be paused only, and cannot be made active until another is not."""
    async with open_emulator() as caller:
        instrument = await make_instrument(caller)
        made = [(await make_campaign(caller, instrument=instrument)).body["data"]["id"] for _ in range(200)]
        assert (await make_campaign(caller, instrument=instrument)).codes == ["TOO_MANY_CAMPAIGNS"]
        paused = await make_campaign(caller, instrument=instrument, entity_status="PAUSED")
        path = f"{caller.account}/campaigns/{paused.body['data']['id']}"
        assert (await caller.call("PUT", path, query={"entity_status": "ACTIVE"})).codes == ["TOO_MANY_CAMPAIGNS"]
        renamed = await caller.call("PUT", f"{caller.account}/campaigns/{made[0]}", query={"name": "other"})
        assert renamed.status == 200
        await caller.call("DELETE", f"{caller.account}/campaigns/{made[1]}")
        assert (await caller.call("PUT", path, query={"entity_status": "ACTIVE"})).status == 200


async def _batch(caller: Any, *items: Any) -> Any:
    return await caller.upload(list(items), path=caller.account.replace("/12/", "/12/batch/") + "/campaigns")


async def test_a_batch_makes_changes_and_deletes(caller: Any) -> None:
    """Answers in the order of the items, echoes as sent."""
    instrument = await make_instrument(caller)
    first = (await make_campaign(caller, instrument=instrument)).body["data"]["id"]
    second = (await make_campaign(caller, instrument=instrument)).body["data"]["id"]
    params = {**CAMPAIGN, "funding_instrument_id": instrument, "standard_delivery": False}
    items = [
        {"operation_type": "Create", "params": params},
        {"operation_type": "Update", "params": {"campaign_id": first, "name": "Summer"}},
        {"operation_type": "Delete", "params": {"campaign_id": second}},
    ]
    reply = await _batch(caller, *items)
    created, updated, deleted = reply.body["data"]
    assert (created["name"], created["standard_delivery"]) == ("Spring", False)
    assert (updated["id"], updated["name"]) == (first, "Summer")
    assert (deleted["id"], deleted["deleted"]) == (second, True)
    account = {"account_id": caller.emulator.account_id}
    assert reply.body["request"] == [{**item, "params": {**item["params"], **account}} for item in items]


@pytest.mark.parametrize(
    ("item", "parameter"),
    [
        (None, "operation"),
        ({"operation_type": "Create"}, "params"),
        ({"operation_type": "Create", "params": {"name": "n"}}, "funding_instrument_id"),
        ({"operation_type": "Create", "params": {"name": ["n"]}}, "params"),
        ({"operation_type": "Update", "params": {"name": "n"}}, "campaign_id"),
        ({"operation_type": "Update", "params": {"campaign_id": "nothing"}}, "campaign_id"),
        ({"operation_type": "Delete", "params": {"campaign_id": "FIRST"}}, "campaign_id"),
        ({"operation_type": "Delete", "params": {"campaign_id": "OTHER", "name": "n"}}, "name"),
        ({"operation_type": "Update", "params": {"campaign_id": "OTHER", DAILY: True}}, DAILY),
        ({"operation_type": "Update", "params": {"campaign_id": "OTHER", DAILY: "1000000"}}, DAILY),
        ({"operation_type": "Update", "params": {"campaign_id": "OTHER", DAILY: 1_000_000.0}}, DAILY),
        ({"operation_type": "Update", "params": {"campaign_id": "OTHER", "name": 5}}, "name"),
        (
            {"operation_type": "Update", "params": {"campaign_id": "OTHER", "standard_delivery": "true"}},
            "standard_delivery",
        ),
    ],
)
async def test_a_batch_is_all_or_nothing(caller: Any, item: Any, parameter: str) -> None:
    """A fault in one item takes back what the items before it did."""
    first = (await make_campaign(caller)).body["data"]
    other = (await make_campaign(caller)).body["data"]
    words = {"FIRST": first["id"], "OTHER": other["id"]}
    if item and "params" in item:
        item = {**item, "params": {k: words.get(str(v), v) for k, v in item["params"].items()}}
    delete = {"operation_type": "Delete", "params": {"campaign_id": first["id"]}}
    reply = await _batch(caller, delete, item)
    assert reply.status == 400
    assert [[problem["parameter"] for problem in found] for found in reply.body["operation_errors"]] == [
        [],
        [parameter],
    ]
    assert (await caller.call("GET", caller.account + "/campaigns")).body["data"] == [first, other]


async def test_a_batch_has_forty_items_at_most(caller: Any) -> None:
    """A problem of the request, under `errors`."""
    item = {"operation_type": "Delete", "params": {"campaign_id": "n"}}
    assert (await _batch(caller, *[item] * 41)).codes == ["REQUEST_TOO_COMPLEX"]
    assert "operation_errors" in (await _batch(caller, *[item] * 40)).body
