"""Funding instruments and campaigns, over the wire."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cases import each_case
from tests.emulator.endpoints.campaigns_builder import CAMPAIGN, make_campaign, make_instrument, make_line_item

# --- Funding instruments and campaigns, over the wire ---

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


@each_case(
    "more, status, parameter",
    [
        ({"funding_instrument_id": "nothing"}, 404, "funding_instrument_id"),
        ({TOTAL: 4_999_999}, 400, DAILY),
        ({"budget_optimization": "LINE_ITEM", "standard_delivery": "true"}, 400, "standard_delivery"),
    ],
)
async def test_faulty_campaigns_are_refused(caller: Any, more: dict[str, Any], status: int, parameter: str) -> None:
    """Each rule, broken once."""
    refused = await make_campaign(caller, **more)
    assert (refused.status, refused.body["errors"][0]["parameter"]) == (status, parameter)
    assert (await caller.call("GET", caller.account + "/campaigns")).body["data"] == []


@each_case(
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
    """Unless fewer are allowed. The next one can be paused only, and not made active until another is not."""
    async with open_emulator() as caller:
        instrument, account = await make_instrument(caller), caller.emulator.store.accounts[caller.emulator.account_id]
        assert account.max_active_campaigns == 200
        account.max_active_campaigns = 2
        made = [(await make_campaign(caller, instrument=instrument)).body["data"]["id"] for _ in range(2)]
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


# --- Line items over the wire: made, changed, deleted, one by one and in batches ---

NEW = {"objective": "ENGAGEMENTS", "product_type": "PROMOTED_TWEETS"}


async def _campaign(caller: Any) -> str:
    return str((await make_campaign(caller)).body["data"]["id"])


async def _line_item_batch(caller: Any, *items: Any) -> Any:
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


@each_case(
    "query, code, name",
    [
        ({"end_time": "2027-01-01T00:00:00Z", "start_time": "2027-01-01T00:00:00Z"}, "INVALID_TIME_WINDOW", "end_time"),
        (
            {"daily_budget_amount_local_micro": "2", "total_budget_amount_local_micro": "1"},
            "INVALID_PARAMETER",
            "daily_budget_amount_local_micro",
        ),
        ({"entity_status": "DRAFT"}, "INVALID_PARAMETER", "entity_status"),
        ({"categories": "IAB7"}, "EXCLUSIVE_PARAMETERS", "categories"),
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


async def test_a_batch_of_line_items_is_all_or_nothing(caller: Any) -> None:
    """In the order of its items; 40 at most."""
    campaign = await _campaign(caller)
    first = await make_line_item(caller, campaign)
    good = [
        _item("Create", campaign_id=campaign, **NEW),
        _item("Update", line_item_id=first, name="first"),
    ]
    refused = await _line_item_batch(
        caller, *good, _item("Update", name="no id"), _item("Delete", line_item_id="zzzzz")
    )
    assert refused.status == 400
    assert [[each["code"] for each in entry] for entry in refused.body["operation_errors"]] == [
        [], [], ["MISSING_PARAMETER"], ["NOT_FOUND"],
    ]  # fmt: skip
    assert len((await caller.call("GET", caller.account + "/line_items")).body["data"]) == 1
    made, changed, deleted = (await _line_item_batch(caller, *good, _item("Delete", line_item_id=first))).body["data"]
    assert (made["objective"], changed["name"], deleted["deleted"]) == ("ENGAGEMENTS", "first", True)
    assert (await _line_item_batch(caller, *[good[0]] * 40)).status == 200
    assert (await _line_item_batch(caller, *[good[0]] * 41)).status == 400


# --- Targeting criteria, and who targets an audience, over the wire ---

SIX_HOURS = 6 * 3_600


async def _fill(caller: Any) -> None:
    """Makes the first audience targetable."""
    users = [{"email": [f"{number:064x}"]} for number in range(400)]
    await caller.upload([{"operation_type": "Update", "params": {"users": users}}])
    await caller.move_clock(advance=SIX_HOURS)


async def _target(caller: Any, line_item_id: str, account: str = "") -> Any:
    query = {
        "line_item_id": line_item_id,
        "targeting_type": "CUSTOM_AUDIENCE",
        "targeting_value": caller.emulator.audience_id,
        "operator_type": "EQ",
    }
    return await caller.call("POST", (account or caller.account) + "/targeting_criteria", query=query)


async def _targeted(caller: Any, **query: Any) -> Any:
    path = f"{caller.audiences}/{caller.emulator.audience_id}/targeted"
    return (await caller.call("GET", path, query=query)).body


async def test_no_line_item_targets_a_new_audience(caller: Any) -> None:
    """An empty list, and no page after it."""
    ids = {"account_id": caller.emulator.account_id, "custom_audience_id": caller.emulator.audience_id}
    assert await _targeted(caller) == {"request": {"params": ids}, "next_cursor": None, "data": []}


async def test_line_items_are_shown_under_their_campaign(caller: Any) -> None:
    """Those that can be served; the others with `with_active=false`."""
    await _fill(caller)
    campaign = (await make_campaign(caller)).body["data"]["id"]
    active = await make_line_item(caller, campaign, name="shown")
    paused = await make_line_item(caller, campaign, entity_status="PAUSED")
    untargeted = await make_line_item(caller, campaign)
    for each in (active, paused):
        assert (await _target(caller, each)).status == 200
    shown = {"id": active, "name": "shown", "servable": True}
    hidden = {"id": paused, "name": None, "servable": False}
    common = {"campaign_id": campaign, "campaign_name": "Spring"}
    assert (await _targeted(caller))["data"] == [{**common, "line_items": [shown]}]
    assert (await _targeted(caller, with_active="false"))["data"] == [{**common, "line_items": [shown, hidden]}]
    await caller.call("DELETE", f"{caller.account}/line_items/{active}")
    assert (await _targeted(caller))["data"] == []
    assert untargeted not in str(await _targeted(caller, with_active="false"))


async def test_a_paused_campaign_serves_nothing(caller: Any) -> None:
    """Its line items are not servable, whatever their own status; a deleted one is not shown at all."""
    await _fill(caller)
    campaign = (await make_campaign(caller)).body["data"]["id"]
    await _target(caller, await make_line_item(caller, campaign))
    await caller.call("PUT", f"{caller.account}/campaigns/{campaign}", query={"entity_status": "PAUSED"})
    assert (await _targeted(caller))["data"] == []
    assert len((await _targeted(caller, with_active="false"))["data"]) == 1
    await caller.call("DELETE", f"{caller.account}/campaigns/{campaign}")
    assert (await _targeted(caller, with_active="false"))["data"] == []


async def test_criteria_are_listed_by_line_item(caller: Any) -> None:
    """The line items must be named; a criterion that was deleted targets nothing."""
    await _fill(caller)
    line_item = await make_line_item(caller, (await make_campaign(caller)).body["data"]["id"])
    made = (await _target(caller, line_item)).body["data"]
    assert (made["name"], made["targeting_value"]) == ("Ready for uploads", caller.emulator.audience_id)
    path = caller.account + "/targeting_criteria"
    assert (await caller.call("GET", path)).codes == ["MISSING_PARAMETER"]
    assert (await caller.call("GET", path, query={"line_item_ids": line_item})).body["data"] == [made]
    assert (await caller.call("GET", path, query={"line_item_ids": "other"})).body["data"] == []
    await caller.call("DELETE", f"{path}/{made['id']}")
    assert (await _targeted(caller))["data"] == []


async def test_an_audience_must_be_targetable(caller: Any) -> None:
    """Not before it was counted, nor when it is not there."""
    line_item = await make_line_item(caller, (await make_campaign(caller)).body["data"]["id"])
    assert (await _target(caller, line_item)).body["errors"][0]["parameter"] == "targeting_value"
    await caller.call("DELETE", f"{caller.audiences}/{caller.emulator.audience_id}")
    assert (await _target(caller, line_item)).status == 404


async def test_a_revoked_audience_serves_on_and_is_targeted_no_more(caller: Any) -> None:
    """Campaigns that run keep it; a new criterion of the other account is refused."""
    await _fill(caller)
    made = await caller.call("POST", "/12/accounts", base=caller.emulator.ads_sandbox_url)
    other = f"/12/accounts/{made.body['data'][0]['id']}"
    permissions = f"{caller.audiences}/{caller.emulator.audience_id}/permissions"
    query = {"granted_account_id": made.body["data"][0]["id"], "permission_level": "READ_ONLY"}
    permission = (await caller.call("POST", permissions, query=query)).body["data"]["id"]
    owner, caller.account = caller.account, other
    line_item = await make_line_item(caller, (await make_campaign(caller)).body["data"]["id"])
    assert (await _target(caller, line_item)).status == 200
    caller.account = owner
    await caller.call("DELETE", f"{permissions}/{permission}")
    assert (await _target(caller, line_item, other)).status == 404
    criteria = await caller.call("GET", other + "/targeting_criteria", query={"line_item_ids": line_item})
    assert len(criteria.body["data"]) == 1


async def test_line_items_can_be_listed(caller: Any) -> None:
    """By campaign and by name; a campaign that is not there is refused."""
    campaign = (await make_campaign(caller)).body["data"]["id"]
    line_item = await make_line_item(caller, campaign, name="One")
    for query, count in (({"campaign_ids": campaign}, 1), ({"q": "on"}, 1), ({"line_item_ids": "n"}, 0)):
        listed = (await caller.call("GET", caller.account + "/line_items", query=query)).body["data"]
        assert [record["id"] for record in listed] == [line_item] * count
    query = {"campaign_id": "nothing", "objective": "REACH", "product_type": "MEDIA"}
    assert (await caller.call("POST", caller.account + "/line_items", query=query)).status == 404


async def _criteria_batch(caller: Any, *operations: tuple[str, dict[str, str]]) -> Any:
    body = json.dumps([{"operation_type": verb, "params": params} for verb, params in operations]).encode()
    path = caller.account.replace("/accounts/", "/batch/accounts/") + "/targeting_criteria"
    return await caller.call("POST", path, data=body, headers={"Content-Type": "application/json"})


async def _values(caller: Any, line_item_id: str) -> list[str]:
    listed = await caller.call("GET", caller.account + "/targeting_criteria", query={"line_item_ids": line_item_id})
    return [criterion["targeting_value"] for criterion in listed.body["data"]]


async def test_criteria_come_and_go_in_batches(caller: Any) -> None:
    """All or nothing, up to 500; they are not changed."""
    item = await make_line_item(caller, (await make_campaign(caller)).body["data"]["id"])

    def word(text: str) -> tuple[str, dict[str, str]]:
        common = {"line_item_id": item, "targeting_type": "BROAD_KEYWORD", "operator_type": "EQ"}
        return "Create", {**common, "targeting_value": text}

    made = (await _criteria_batch(caller, word("tea"), word("milk"))).body["data"]
    assert [criterion["targeting_value"] for criterion in made] == await _values(caller, item) == ["tea", "milk"]
    gone = ("Delete", {"targeting_criterion_id": made[0]["id"]})
    refused = await _criteria_batch(caller, gone, ("Create", {"line_item_id": item}))
    assert (refused.status, len(refused.body["operation_errors"])) == (400, 2)
    assert await _values(caller, item) == ["tea", "milk"]
    assert (await _criteria_batch(caller, ("Update", gone[1]))).status == 400
    assert (await _criteria_batch(caller, gone, word("sugar"))).status == 200
    assert await _values(caller, item) == ["milk", "sugar"]
    assert (await _criteria_batch(caller, *[word(f"word {number}") for number in range(501)])).codes == [
        "REQUEST_TOO_COMPLEX"
    ]
    assert (await _criteria_batch(caller, *[word(f"word {number}") for number in range(500)])).status == 200
