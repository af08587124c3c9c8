"""Accounts, the user's access and features, over the wire."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cases import each_case

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


async def test_faulty_lists_are_refused(caller: Any) -> None:
    """The list takes no ids."""
    for query in ({"account_app_ids": "a"}, {"count": 1_001}, {"sort_by": "os_type"}, {"with_deleted": 1}):
        assert (await _apps(caller, **query)).codes == ["INVALID_PARAMETER"]


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
