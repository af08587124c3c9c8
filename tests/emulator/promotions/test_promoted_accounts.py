"""Promoted accounts, over the wire."""

from __future__ import annotations

from typing import Any

import pytest

from tests.emulator.campaigns.builder import make_campaign, make_line_item


async def _line_item(caller: Any, product_type: str = "PROMOTED_ACCOUNT") -> str:
    campaign = (await make_campaign(caller)).body["data"]["id"]
    return await make_line_item(caller, campaign, product_type=product_type)


async def _user(caller: Any, kind: str = "FULL") -> str:
    users = (await caller.call("GET", caller.account + "/promotable_users")).body["data"]
    return str(next(user["user_id"] for user in users if user["type"] == kind))


async def _promote(caller: Any, **query: Any) -> Any:
    return await caller.call("POST", caller.account + "/promoted_accounts", query=query)


async def _list(caller: Any, **query: Any) -> Any:
    return await caller.call("GET", caller.account + "/promoted_accounts", query=query)


async def test_an_account_is_promoted_until_it_is_deleted(caller: Any) -> None:
    """Made, shown, listed, deleted once."""
    item, user = await _line_item(caller), await _user(caller)
    reply = await _promote(caller, line_item_id=item, user_id=user)
    made = reply.body["data"]
    assert made == {
        "line_item_id": item,
        "user_id": user,
        "entity_status": "ACTIVE",
        "approval_status": "ACCEPTED",
        "id": made["id"],
        "created_at": "2027-01-15T08:00:00Z",
        "updated_at": "2027-01-15T08:00:00Z",
        "deleted": False,
    }
    echo = {"account_id": caller.emulator.account_id, "line_item_id": item, "user_id": int(user)}
    assert reply.body["request"]["params"] == echo
    path = f"{caller.account}/promoted_accounts/{made['id']}"
    assert (await caller.call("GET", path)).body["data"] == made
    assert (await _list(caller)).body["data"] == [made]
    deleted = (await caller.call("DELETE", path)).body["data"]
    assert deleted["deleted"] is True
    for method in ("DELETE", "GET"):
        refused = await caller.call(method, path)
        assert (refused.status, refused.codes) == (404, ["NOT_FOUND"])
    assert (await _list(caller)).body["data"] == []
    assert (await _list(caller, with_deleted="true")).body["data"] == [deleted]
    assert (await caller.call("GET", path, query={"with_deleted": "true"})).body["data"] == deleted


async def test_an_account_that_is_promoted_already_is_ignored(caller: Any) -> None:
    """The record stays as it is; another line item promotes it, too, and so does the same one after an end."""
    item, user = await _line_item(caller), await _user(caller)
    first = (await _promote(caller, line_item_id=item, user_id=user)).body["data"]
    await caller.move_clock(advance=1)
    again = await _promote(caller, line_item_id=item, user_id=user)
    assert (again.status, again.body["data"]) == (200, first)
    assert (await _list(caller)).body["data"] == [first]
    other = (await _promote(caller, line_item_id=await _line_item(caller), user_id=user)).body["data"]
    assert other["id"] != first["id"]
    await caller.call("DELETE", f"{caller.account}/promoted_accounts/{first['id']}")
    anew = (await _promote(caller, line_item_id=item, user_id=user)).body["data"]
    assert anew["id"] != first["id"]


@pytest.mark.parametrize("product_type", ["PROMOTED_TWEETS", "MEDIA"])
async def test_other_line_items_promote_no_accounts(caller: Any, product_type: str) -> None:
    """Nor can accounts be listed when no other line item is named."""
    wrong, right = await _line_item(caller, product_type), await _line_item(caller)
    refused = await _promote(caller, line_item_id=wrong, user_id=await _user(caller))
    assert (refused.status, refused.codes) == (400, ["INCOMPATIBLE_LINE_ITEM"])
    for named in (wrong, "nothing", f"{wrong},nothing"):
        refused = await _list(caller, line_item_ids=named)
        assert (refused.status, refused.codes) == (400, ["INCOMPATIBLE_LINE_ITEM"])
    assert (await _list(caller, line_item_ids=f"{wrong},{right}")).body["data"] == []


async def test_only_the_accounts_own_user_is_promoted(caller: Any) -> None:
    """A partner's tweets alone can be promoted, and of other users nothing."""
    item = await _line_item(caller)
    for user in (await _user(caller, "RETWEETS_ONLY"), "783214"):
        refused = await _promote(caller, line_item_id=item, user_id=user)
        assert (refused.status, refused.codes) == (400, ["INVALID_USER_ID"])
    assert (await _list(caller)).body["data"] == []


@pytest.mark.parametrize(
    ("query", "status", "parameter"),
    [
        ({"user_id": "1"}, 400, "line_item_id"),
        ({"line_item_id": "a"}, 400, "user_id"),
        ({"line_item_id": "a", "user_id": "x"}, 400, "user_id"),
        ({"line_item_id": "a", "user_id": "1"}, 404, "line_item_id"),
        ({"line_item_id": "a", "user_id": "1", "name": "n"}, 400, "name"),
    ],
)
async def test_faulty_requests_are_refused(caller: Any, query: dict[str, str], status: int, parameter: str) -> None:
    """Both parameters are required, and the line item must be there."""
    refused = await _promote(caller, **query)
    assert (refused.status, refused.body["errors"][0]["parameter"]) == (status, parameter)


async def test_the_list_can_be_narrowed(caller: Any) -> None:
    """By line items, by ids, in either order; faulty lists are refused as such."""
    user = await _user(caller)
    items = [await _line_item(caller) for _ in range(2)]
    ids = [(await _promote(caller, line_item_id=item, user_id=user)).body["data"]["id"] for item in items]
    for query, expected in (
        ({"line_item_ids": items[1]}, ids[1:]),
        ({"promoted_account_ids": ids[0]}, ids[:1]),
        ({"with_total_count": "true"}, ids),
    ):
        assert [each["id"] for each in (await _list(caller, **query)).body["data"]] == expected
    for query in ({"line_item_ids": "a,,b"}, {"promoted_account_ids": ",".join(["a"] * 201)}, {"user_id": "1"}):
        assert (await _list(caller, **query)).codes == ["INVALID_PARAMETER"]
