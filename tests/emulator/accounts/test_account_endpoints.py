"""Accounts, the user's access and features, over the wire."""

from __future__ import annotations

from typing import Any

import pytest


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


@pytest.mark.parametrize(
    ("method", "query", "code"),
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
