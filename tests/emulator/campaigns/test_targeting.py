"""Targeting criteria, and who targets an audience, over the wire."""

from __future__ import annotations

import json
from typing import Any

from tests.emulator.campaigns.builder import make_campaign, make_line_item

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


async def _batch(caller: Any, *operations: tuple[str, dict[str, str]]) -> Any:
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

    made = (await _batch(caller, word("tea"), word("milk"))).body["data"]
    assert [criterion["targeting_value"] for criterion in made] == await _values(caller, item) == ["tea", "milk"]
    gone = ("Delete", {"targeting_criterion_id": made[0]["id"]})
    refused = await _batch(caller, gone, ("Create", {"line_item_id": item}))
    assert (refused.status, len(refused.body["operation_errors"])) == (400, 2)
    assert await _values(caller, item) == ["tea", "milk"]
    assert (await _batch(caller, ("Update", gone[1]))).status == 400
    assert (await _batch(caller, gone, word("sugar"))).status == 200
    assert await _values(caller, item) == ["milk", "sugar"]
    assert (await _batch(caller, *[word(f"word {number}") for number in range(501)])).codes == ["REQUEST_TOO_COMPLEX"]
    assert (await _batch(caller, *[word(f"word {number}") for number in range(500)])).status == 200
