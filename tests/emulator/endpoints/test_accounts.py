"""Accounts, the user's access and features, over the wire."""

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

# --- Accounts, the user's access and features, over the wire ---


async def _create(caller: Any) -> Any:
    reply = await caller.call("POST", "/12/accounts", base=caller.emulator.ads_sandbox_url)
    return reply.body["data"][0]


async def test_the_first_account_is_listed_and_shown(caller: Any) -> None:
    """The list has the one account of the user; another user's is not in it."""
    listed = await caller.call("GET", "/12/accounts")
    assert listed.body["request"] == {"params": {}}
    assert listed.body["next_cursor"] is None
    (record,) = listed.body["data"]
    assert record == {
        "name": "Local account",
        "business_name": None,
        "timezone": "America/Los_Angeles",
        "timezone_switch_at": None,
        "id": caller.emulator.account_id,
        "created_at": "2027-01-15T08:00:00Z",
        "updated_at": "2027-01-15T08:00:00Z",
        "industry_type": None,
        "business_id": record["business_id"],
        "approval_status": "ACCEPTED",
        "deleted": False,
    }
    shown = await caller.call("GET", caller.account)
    assert shown.body == {"request": {"params": {"account_id": caller.emulator.account_id}}, "data": record}


async def test_an_account_is_made_in_the_sandbox_only(caller: Any) -> None:
    """A list of one there, and one list for both addresses; elsewhere the method does not exist."""
    reply = await caller.call("POST", "/12/accounts", base=caller.emulator.ads_sandbox_url)
    (made,) = reply.body["data"]
    assert (reply.body["next_cursor"], made["deleted"]) == (None, False)
    assert (await caller.call("GET", f"/12/accounts/{made['id']}")).body["data"] == made
    listed = await caller.call("GET", "/12/accounts", query={"with_total_count": "true"})
    assert listed.body["total_count"] == 2
    assert (await caller.call("POST", "/12/accounts")).status == 405
    assert (await caller.call("DELETE", f"/12/accounts/{made['id']}")).status == 405


@pytest.mark.parametrize(
    ("query", "count"),
    [({"q": "LOCAL"}, 1), ({"q": "cal"}, 0), ({"q": "s"}, 1), ({"count": 1}, 1), ({"account_ids": "nothing"}, 0)],
)
async def test_the_list_can_be_narrowed(caller: Any, query: dict[str, Any], count: int) -> None:
    """By the beginning of the name, by ids, by pages."""
    await _create(caller)
    assert len((await caller.call("GET", "/12/accounts", query=query)).body["data"]) == count


async def test_a_deleted_account_is_refused(caller: Any) -> None:
    """It is shown and listed when deleted ones are asked for; every other call to it is refused."""
    made = await _create(caller)
    path, sandbox = f"/12/accounts/{made['id']}", caller.emulator.ads_sandbox_url
    deleted = (await caller.call("DELETE", path, base=sandbox)).body["data"]
    assert deleted["deleted"] is True
    assert (await caller.call("DELETE", path, base=sandbox)).status == 403
    assert (await caller.call("GET", path)).status == 404
    assert (await caller.call("GET", path, query={"with_deleted": "true"})).body["data"] == deleted
    refused = await caller.call("GET", path + "/custom_audiences")
    assert (refused.status, refused.codes) == (403, ["NOT_FOUND"])
    assert len((await caller.call("GET", "/12/accounts")).body["data"]) == 1
    assert len((await caller.call("GET", "/12/accounts", query={"with_deleted": "true"})).body["data"]) == 2


async def test_another_users_account_is_refused(caller: Any) -> None:
    """An account that exists but is not the user's is answered like one that does not exist."""
    foreign = caller.emulator.store.origin.foreign_account_id
    for account_id in (foreign, "nothing"):
        refused = await caller.call("GET", f"/12/accounts/{account_id}/custom_audiences")
        assert (refused.status, refused.codes) == (403, ["NOT_FOUND"])
        assert refused.body["request"] == {"params": {}}


async def test_an_account_can_be_changed(caller: Any) -> None:
    """Name and industry, each by itself; an industry that there is not is refused."""
    await caller.move_clock(advance=60)
    for query, name, industry in (
        ({"industry_type": "TRAVEL"}, "Local account", "TRAVEL"),
        ({"name": "Tours"}, "Tours", "TRAVEL"),
        ({}, "Tours", "TRAVEL"),
    ):
        record = (await caller.call("PUT", caller.account, query=query)).body["data"]
        assert (record["name"], record["industry_type"]) == (name, industry)
    assert record["updated_at"] == "2027-01-15T08:01:00Z"
    assert (await caller.call("PUT", caller.account, query={"industry_type": "travel"})).status == 400


async def test_the_user_is_told_what_they_may_do(caller: Any) -> None:
    """The user of the token, as the administrator."""
    reply = await caller.call("GET", caller.account + "/authenticated_user_access")
    user_id = caller.emulator.env["AUDIENCEKIT_ACCESS_TOKEN"].partition("-")[0]
    assert reply.body["data"] == {"user_id": user_id, "permissions": ["ACCOUNT_ADMIN", "TWEET_COMPOSER"]}


async def test_features_come_and_go_in_the_sandbox(caller: Any) -> None:
    """Each change answers with all keys; a list can ask for the few readable ones."""
    path, sandbox = caller.account + "/features", caller.emulator.ads_sandbox_url
    assert (await caller.call("GET", path)).body["data"] == []
    keys = {"feature_keys": "REACH_FREQUENCY_CAP,AGE_TARGETING"}
    added = await caller.call("POST", path, query=keys, base=sandbox)
    assert added.body["data"] == ["AGE_TARGETING", "REACH_FREQUENCY_CAP"]
    narrowed = await caller.call("GET", path, query={"feature_keys": "REACH_FREQUENCY_CAP,WEBSITE_CLICKS_CPM_BILLING"})
    assert narrowed.body["data"] == ["REACH_FREQUENCY_CAP"]
    removed = await caller.call("DELETE", path, query={"feature_keys": "AGE_TARGETING"}, base=sandbox)
    assert removed.body["data"] == (await caller.call("GET", path)).body["data"] == ["REACH_FREQUENCY_CAP"]


@each_case(
    "method, query, code",
    [
        ("POST", {}, "MISSING_PARAMETER"),
        ("DELETE", {}, "MISSING_PARAMETER"),
        ("POST", {"feature_keys": "WEBSITE_CLICKS_CPM_BILLING"}, "INVALID_PARAMETER"),
        ("POST", {"feature_keys": "AGE_TARGETING,"}, "INVALID_PARAMETER"),
        ("GET", {"feature_keys": "AGE_TARGETING"}, "INVALID_PARAMETER"),
    ],
)
async def test_unknown_features_are_refused(caller: Any, method: str, query: dict[str, str], code: str) -> None:
    """Each endpoint has its own list of keys."""
    path = caller.account + "/features"
    assert (await caller.call(method, path, query=query, base=caller.emulator.ads_sandbox_url)).codes == [code]


# --- Mobile apps of an account, over the wire ---


async def _apps(caller: Any, **query: Any) -> Any:
    return await caller.call("GET", caller.account + "/account_apps", query=query)


async def test_an_account_has_apps(caller: Any) -> None:
    """One of each store; a third was withdrawn."""
    apps = (await _apps(caller)).body["data"]
    assert [(app["os_type"], app["deleted"]) for app in apps] == [("Android", False), ("iOS", False)]
    everything = (await _apps(caller, with_deleted="true")).body["data"]
    assert everything[:2] == apps
    assert everything[2]["deleted"] is True
    assert everything[0] == {
        "app_store_identifier": "com.example.local",
        "conversion_tracking_enabled": False,
        "deep_link_pattern": "local://",
        "os_type": "Android",
        "id": everything[0]["id"],
        "created_at": "2027-01-15T08:00:00Z",
        "updated_at": "2027-01-15T08:00:00Z",
        "deleted": False,
    }


async def test_the_list_has_pages(caller: Any) -> None:
    """And a total, when it is asked for."""
    first = (await _apps(caller, count=1, with_total_count="true")).body
    assert (len(first["data"]), first["total_count"]) == (1, 2)
    second = (await _apps(caller, count=1, cursor=first["next_cursor"])).body
    assert (second["data"][0]["os_type"], second["next_cursor"]) == ("iOS", None)


# --- Tax settings of an account, over the wire ---

NAMES = (
    "client_address_street1",
    "client_address_street2",
    "address_name",
    "tax_exemption_id",
    "tax_id",
    "invoice_jurisdiction",
    "tax_category",
)


async def _put(caller: Any, **query: str) -> Any:
    return await caller.call("PUT", caller.account + "/tax_settings", query=query)


async def test_settings_are_changed_one_by_one(caller: Any) -> None:
    """Fields that are not given stay; an empty text unsets."""
    expected: dict[str, str | None] = dict.fromkeys(NAMES)
    for query in (
        {},
        {"tax_id": "GB000000000", "address_name": "Local Tours"},
        {"invoice_jurisdiction": "LOI_SAPIN", "tax_category": "BUSINESS_WITH_VAT", "tax_exemption_id": "x"},
        {"client_address_street1": "1 Some Street", "client_address_street2": "Floor 2", "tax_exemption_id": ""},
    ):
        expected = {**expected, **{name: text or None for name, text in query.items()}}
        reply = await _put(caller, **query)
        assert reply.body["data"] == expected
        assert reply.body["request"]["params"] == {"account_id": caller.emulator.account_id, **query}


@each_case(
    "name, good, bad",
    [
        ("invoice_jurisdiction", ("LOI_SAPIN", "NONE", "NOT_SET"), ("FRANCE", "none", "")),
        ("tax_category", ("BUSINESS_NO_VAT", "BUSINESS_WITH_VAT", "INDIVIDUAL"), ("BUSINESS", "individual", "")),
    ],
)
async def test_two_of_them_are_one_of_a_few(
    caller: Any, name: str, good: tuple[str, ...], bad: tuple[str, ...]
) -> None:
    """Each word is taken, any other refused, and with it what came along."""
    for text in good:
        assert (await _put(caller, **{name: text})).body["data"][name] == text
    for text in bad:
        refused = await _put(caller, **{name: text, "tax_id": "lost"})
        assert (refused.status, refused.body["errors"][0]["parameter"]) == (400, name)
    assert (await _put(caller)).body["data"]["tax_id"] is None


async def test_nothing_else_is_taken(caller: Any) -> None:
    """A name that is no setting is refused."""
    assert (await _put(caller, vat="7")).codes == ["INVALID_PARAMETER"]


# --- Betas and limited releases: an account that is outside is refused, until it is let in ---


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
