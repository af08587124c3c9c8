"""The history of an entity, over the wire."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cases import each_case
from tests.emulator.endpoints.campaigns_builder import make_campaign, make_line_item

WHOLE = {"start_time": "2027-01-15T08:00:00Z", "end_time": "2027-01-15T12:00:00Z"}
HOUR = 3_600
EIGHT = 1_800_000_000  # epoch seconds of the first of these times


async def _history(caller: Any, entity_type: str, entity_id: str, **query: Any) -> Any:
    query = {"entity_type": entity_type, "entity_id": entity_id, **WHOLE, **query}
    return await caller.call("GET", caller.account + "/account_history", query=query)


async def test_a_campaign_is_followed_to_its_end(caller: Any) -> None:
    """Made, changed, deleted: each with who, when, what changed, and the campaign as it was then."""
    made = (await make_campaign(caller)).body["data"]
    path = f"{caller.account}/campaigns/{made['id']}"
    await caller.move_clock(advance=HOUR)
    changed = (await caller.call("PUT", path, query={"name": "Summer", "entity_status": "PAUSED"})).body["data"]
    await caller.call("PUT", path)  # changes nothing
    await caller.move_clock(advance=HOUR)
    deleted = (await caller.call("DELETE", path)).body["data"]
    body = (await _history(caller, "CAMPAIGN", made["id"])).body
    user_id = caller.emulator.env["AUDIENCEKIT_ACCESS_TOKEN"].partition("-")[0]
    common = {"entity": "CAMPAIGN", "entity_id": made["id"], "change_by": {"user_id": user_id, "platform": "API_OTHER"}}
    differences = {
        "name": {"before": "Spring", "after": "Summer"},
        "entity_status": {"before": "ACTIVE", "after": "PAUSED"},
    }
    expected = [
        {"change_type": "CREATE", "change_time": "2027-01-15T08:00:00Z", "changes": {}, "entity_data": made},
        {
            "change_type": "UPDATE",
            "change_time": "2027-01-15T09:00:00Z",
            "changes": differences,
            "entity_data": changed,
        },
        {"change_type": "DELETE", "change_time": "2027-01-15T10:00:00Z", "changes": {}, "entity_data": deleted},
    ]
    assert body["data"] == [{**common, **entry} for entry in expected]
    assert body["next_cursor"] is None
    assert body["request"]["params"] == {
        "account_id": caller.emulator.account_id,
        "entity_type": "CAMPAIGN",
        "entity_id": made["id"],
        **WHOLE,
    }


@pytest.mark.parametrize(
    ("query", "change_types"),
    [
        ({"end_time": "2027-01-15T10:00:00Z"}, ["CREATE", "UPDATE"]),
        ({"start_time": "2027-01-15T09:00:00Z"}, ["UPDATE", "DELETE"]),
        ({"start_time": "2027-01-15T10:00:00+0100", "end_time": "2027-01-15T11:00:00+01"}, ["UPDATE"]),
        ({"start_time": "2027-01-14", "end_time": "2027-01-15"}, []),
        ({"count": 1}, ["CREATE"]),
        ({"user_id": "OWN"}, ["CREATE", "UPDATE", "DELETE"]),
        ({"user_id": 783_214}, []),
    ],
)
async def test_the_history_can_be_narrowed(caller: Any, query: dict[str, Any], change_types: list[str]) -> None:
    """By times, of which the end is not part, by the user, by pages."""
    made = (await make_campaign(caller)).body["data"]["id"]
    for hour, method, changes in ((1, "PUT", {"name": "Summer"}), (2, "DELETE", {})):
        await caller.move_clock(set=EIGHT + hour * HOUR)
        await caller.call(method, f"{caller.account}/campaigns/{made}", query=changes)
    own = caller.emulator.env["AUDIENCEKIT_ACCESS_TOKEN"].partition("-")[0]
    query = {name: own if text == "OWN" else text for name, text in query.items()}
    reply = await _history(caller, "CAMPAIGN", made, **query)
    assert [entry["change_type"] for entry in reply.body["data"]] == change_types


async def test_pages_follow_each_other(caller: Any) -> None:
    """Each change is on one of them."""
    made = (await make_campaign(caller)).body["data"]["id"]
    for name in ("one", "two"):
        await caller.call("PUT", f"{caller.account}/campaigns/{made}", query={"name": name})
    first = (await _history(caller, "CAMPAIGN", made, count=2)).body
    second = (await _history(caller, "CAMPAIGN", made, count=2, cursor=first["next_cursor"])).body
    names = [entry["entity_data"]["name"] for entry in (*first["data"], *second["data"])]
    assert (names, second["next_cursor"]) == (["Spring", "one", "two"], None)


async def test_a_batch_that_was_taken_back_leaves_no_trace(caller: Any) -> None:
    """All or nothing, in the history, too."""
    made = (await make_campaign(caller)).body["data"]["id"]
    items = [
        {"operation_type": "Update", "params": {"campaign_id": made, "name": "never"}},
        {"operation_type": "Delete", "params": {"campaign_id": "nothing"}},
    ]
    await caller.upload(items, path=caller.account.replace("/12/", "/12/batch/") + "/campaigns")
    assert len((await _history(caller, "CAMPAIGN", made)).body["data"]) == 1


async def test_every_kind_of_entity_has_a_history(caller: Any) -> None:
    """Under its own name, found in its own kind alone."""
    campaign = (await make_campaign(caller)).body["data"]["id"]
    item = await make_line_item(caller, campaign, product_type="PROMOTED_ACCOUNT", placements="TWITTER_SEARCH")
    user_id = caller.emulator.env["AUDIENCEKIT_ACCESS_TOKEN"].partition("-")[0]
    criterion = {"targeting_type": "IAB_CATEGORY", "targeting_value": "IAB1-4", "operator_type": "EQ"}
    paths = {
        "TARGETING_CRITERIA": ("targeting_criteria", criterion),
        "PROMOTED_ACCOUNT": ("promoted_accounts", {"user_id": user_id}),
    }
    ids = {"CAMPAIGN": campaign, "LINE_ITEM": item}
    for entity_type, (path, query) in paths.items():
        made = await caller.call("POST", f"{caller.account}/{path}", query={"line_item_id": item, **query})
        ids[entity_type] = made.body["data"]["id"]
    for entity_type, entity_id in ids.items():
        (entry,) = (await _history(caller, entity_type, entity_id)).body["data"]
        assert (entry["entity"], entry["entity_data"]["id"]) == (entity_type, entity_id)
        assert (await _history(caller, "PROMOTED_TWEET", entity_id)).status == 404


@each_case(
    "changes, code, parameter",
    [
        ({"entity_type": "LINE_ITEM"}, "NOT_FOUND", "entity_id"),
        ({"entity_id": "nothing"}, "NOT_FOUND", "entity_id"),
        ({"start_time": "2027-01-15T08:30:00Z"}, "INVALID_PARAMETER", "start_time"),
        ({"end_time": "2027-01-15T12:00:01Z"}, "INVALID_PARAMETER", "end_time"),
        ({"end_time": "2027-01-15T12:00:00+00:30"}, "INVALID_PARAMETER", "end_time"),
        ({"end_time": "2027-01-15T08:00:00Z"}, "INVALID_TIME_WINDOW", "end_time"),
    ],
)
async def test_faulty_requests_are_refused(caller: Any, changes: dict[str, Any], code: str, parameter: str) -> None:
    """Each rule, broken once."""
    made = (await make_campaign(caller)).body["data"]["id"]
    query = {"entity_type": "CAMPAIGN", "entity_id": made, **WHOLE, **changes}
    refused = await caller.call("GET", caller.account + "/account_history", query=query)
    error = refused.body["errors"][0]
    assert (error["code"], error["parameter"]) == (code, parameter)
