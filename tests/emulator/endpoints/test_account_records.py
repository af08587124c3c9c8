"""Betas and limited releases: an account that is outside is refused, until it is let in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from audiencekit.emulator import EmulatorOptions
from audiencekit.emulator.endpoints.accounts import BETAS, GATES
from tests.cases import each_case
from tests.emulator.endpoints.campaigns_builder import make_campaign, make_line_item
from tests.emulator.world import World, left_as_it_was

HISTORY = {"entity_type": "CAMPAIGN", "start_time": "2027-01-15T08:00:00Z", "end_time": "2027-01-15T09:00:00Z"}
TREE = {"boolean_operator": "AND", "child_segments": [{"custom_audience_id": "A", "child_segments": []}]}


async def _order(caller: Any, account_id: str = "", method: str = "POST", **order: Any) -> Any:
    path = f"/__accounts/{account_id or caller.emulator.account_id}"
    return await caller.send(method, path, data=json.dumps(order).encode() if order else None)


async def _flexible(caller: Any) -> Any:
    item = {"operation_type": "Create", "params": {"name": "f", "audience_type": "FLEXIBLE", "segments": TREE}}
    body = json.dumps([item]).replace('"A"', f'"{caller.emulator.audience_id}"').encode()
    return await caller.upload(body, path=caller.account.replace("/12/", "/12/batch/") + "/custom_audiences")


def _is_outside(reply: Any) -> bool:
    """403 for an endpoint, 400 for a parameter."""
    (error,) = reply.body.get("errors", [{}])[:1]
    return (reply.status, error.get("code")) == (400 if "parameter" in error else 403, "FEATURE_NOT_AVAILABLE")


async def test_a_beta_is_closed_to_an_account_that_is_outside(open_emulator: Any) -> None:
    """History, recommendations and flexible audiences, until the account manager lets it in."""
    async with open_emulator(outside=frozenset(BETAS)) as caller:
        campaign = (await make_campaign(caller)).body["data"]["id"]
        calls = [
            lambda: caller.call("GET", caller.account + "/account_history", query={**HISTORY, "entity_id": campaign}),
            lambda: caller.call("GET", caller.account.replace("/12/", "/5/") + "/recommendations"),
            lambda: caller.call("GET", caller.account.replace("/12/", "/5/") + "/recommendations/1"),
            lambda: _flexible(caller),
        ]
        assert all([_is_outside(await each()) for each in calls])
        assert (await _order(caller, outside=["ACCOUNT_HISTORY"])).body["outside"] == ["ACCOUNT_HISTORY"]
        assert [_is_outside(await each()) for each in calls] == [True, False, False, False]
        assert (await _order(caller, outside=[])).status == 200
        assert not any([_is_outside(await each()) for each in calls])


OPENED = (
    "PREROLL_VIEWS_OBJECTIVE",
    "AWARENESS_OBJECTIVE",
    "AGE_TARGETING",
    "EVENT_TARGETING",
    "ENGAGER_RETARGETING",
    "INSTALLED_APP_CATEGORY_TARGETING",
    "CONVERSATION_CARD",
    "CONVERSATION_CARD_FOUR_OPTIONS",
    "CONVERSATION_CARD_UNLOCK",
    "VIDEO_APP_DOWNLOAD_CARD",
    "WEBSITE_CLICKS_CPM_BILLING",
)


async def test_a_feature_opens_what_it_says(caller: Any) -> None:
    """In the sandbox; WEBSITE_CLICKS_CPM_BILLING, which the sandbox does not know, at the door."""
    world = await World.make(caller)
    for gate in OPENED:
        async with left_as_it_was(world):
            call = _call_of(world, gate)
            assert (await call()).status == 200, gate
            await _order(caller, outside=[gate])
            assert _is_outside(await call()), gate
            if gate == "WEBSITE_CLICKS_CPM_BILLING":
                await _order(caller, features=[gate])
            else:
                path, base = caller.account + "/features", caller.emulator.ads_sandbox_url
                assert (await caller.call("POST", path, query={"feature_keys": gate}, base=base)).status == 200
            assert (await call()).status == 200, gate


def _call_of(world: World, gate: str) -> Any:
    caller, values = world.caller, world.values
    item = {"campaign_id": values["campaign_id"], "product_type": "PROMOTED_TWEETS"}
    criteria = {"AGE_TARGETING": "AGE", "EVENT_TARGETING": "EVENT", "ENGAGER_RETARGETING": "ENGAGEMENT_TYPE",
                "INSTALLED_APP_CATEGORY_TARGETING": "APP_STORE_CATEGORY"}  # fmt: skip
    row = "create_image_conversation_card"
    card = {"first_cta": "#one", "first_cta_tweet": "one", "title": "t", "thank_you_text": "thanks",
            "media_key": world.exceptions[row, "media_key"]}  # fmt: skip
    more = {
        "CONVERSATION_CARD": {},
        "CONVERSATION_CARD_FOUR_OPTIONS": {"third_cta": "#three", "third_cta_tweet": "three"},
        "CONVERSATION_CARD_UNLOCK": {"unlocked_image_media_key": world.exceptions[row, "unlocked_image_media_key"]},
    }
    if gate in criteria:
        query = {"line_item_id": values["line_item_id"], "targeting_type": criteria[gate], "targeting_value": "1"}
        return lambda: caller.call(
            "POST", caller.account + "/targeting_criteria", query={**query, "operator_type": "EQ"}
        )
    if gate in more:
        path = caller.account + "/cards/image_conversation"
        return lambda: caller.call("POST", path, query={**card, **more[gate], "name": world.text()})
    if gate == "VIDEO_APP_DOWNLOAD_CARD":
        return lambda: caller.upload(_app_card(world), path=caller.account + "/cards")
    objective = {"PREROLL_VIEWS_OBJECTIVE": "PREROLL_VIEWS", "AWARENESS_OBJECTIVE": "REACH"}.get(gate, "WEBSITE_CLICKS")
    query = {**item, "objective": objective, "pay_by": "IMPRESSION"}
    if objective == "PREROLL_VIEWS":
        query["categories"] = "IAB7"
    return lambda: caller.call("POST", caller.account + "/line_items", query=query)


def _app_card(world: World) -> dict[str, Any]:
    video = world.exceptions["create_video_conversation_card", "media_key"]
    app = {"type": "APP", "country_code": "DE", "ios_app_store_identifier": "4000000000"}
    button = {"type": "BUTTON", "label": {"type": "ENUM", "value": "INSTALL"}, "destination": app}
    return {"name": world.text(), "components": [{"type": "MEDIA", "media_key": video}, button]}


async def test_audiences_are_shared_outside_of_the_business_with_the_feature(caller: Any) -> None:
    """SHARE_AUDIENCE_OUTSIDE_BUSINESS, which only the door gives."""
    foreign = caller.emulator.store.origin.foreign_account_id
    path = f"{caller.audiences}/{caller.emulator.audience_id}/permissions"
    query = {"granted_account_id": foreign, "permission_level": "READ_ONLY"}
    assert (await caller.call("POST", path, query=query)).codes == ["FEATURE_NOT_AVAILABLE"]
    assert (await _order(caller, features=["SHARE_AUDIENCE_OUTSIDE_BUSINESS"])).status == 200
    assert (await caller.call("POST", path, query=query)).body["data"]["granted_account_id"] == foreign
    shown = await caller.call("GET", caller.account + "/features")
    assert shown.body["data"] == ["SHARE_AUDIENCE_OUTSIDE_BUSINESS"]


async def test_more_active_campaigns_can_be_asked_for(caller: Any) -> None:
    """Up to 8,000 (specification part 1, section 8)."""
    await _order(caller, max_active_campaigns=1)
    instrument = (await make_campaign(caller)).body["data"]["funding_instrument_id"]
    assert (await make_campaign(caller, instrument=instrument)).codes == ["TOO_MANY_CAMPAIGNS"]
    assert (await _order(caller, max_active_campaigns=8_000)).body["max_active_campaigns"] == 8_000
    assert (await make_campaign(caller, instrument=instrument)).status == 200


@each_case(
    "order",
    [
        {"outside": ["NOTHING"]},
        {"outside": "ACCOUNT_HISTORY"},
        {"features": ["RECOMMENDATIONS"]},
        {"unknown": 1},
        {"max_active_campaigns": 8_001},
        {"max_active_campaigns": True},
        {"max_active_campaigns": -1},
    ],
)
async def test_faulty_orders_change_nothing(caller: Any, order: dict[str, Any]) -> None:
    """400, and what is shown stays."""
    before = (await _order(caller, method="GET")).body
    assert before == {"outside": [], "features": [], "max_active_campaigns": 200}
    assert (await _order(caller, **order)).status == 400
    assert (await _order(caller, account_id="unknown", **order)).status == 404
    assert (await _order(caller, method="GET")).body == before


async def test_changes_by_the_door_survive_a_restart(open_emulator: Any, tmp_path: Path) -> None:
    """With the order of all other calls."""
    async with open_emulator(state=tmp_path / "state") as caller:
        await _order(caller, outside=["ACCOUNT_HISTORY"], features=["CONVERSATION_CARD"], max_active_campaigns=3)
        before = (await _order(caller, method="GET")).body
    async with open_emulator(state=tmp_path / "state") as caller:
        assert (await _order(caller, method="GET")).body == before


async def test_new_accounts_are_outside_too(open_emulator: Any) -> None:
    """The option is for all of them."""
    async with open_emulator(outside=frozenset({"AWARENESS_OBJECTIVE"})) as caller:
        made = await caller.call("POST", "/12/accounts", base=caller.emulator.ads_sandbox_url)
        account_id = made.body["data"][0]["id"]
        assert (await _order(caller, account_id, "GET")).body["outside"] == ["AWARENESS_OBJECTIVE"]
        campaign = (await make_campaign(caller)).body["data"]["id"]
        with pytest.raises(KeyError, match="data"):
            await make_line_item(caller, campaign)
    with pytest.raises(ValueError, match="outside"):
        EmulatorOptions(outside=frozenset({"NOTHING"}))
    assert len(set(GATES)) == len(GATES)
