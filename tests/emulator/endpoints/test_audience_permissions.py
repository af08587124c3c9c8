"""Permissions on audiences, by both of their names, over the wire."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cases import each_case

H1 = "a1" * 32
BODY = [{"operation_type": "Update", "params": {"users": [{"email": [H1]}]}}]
NAMES = pytest.mark.parametrize("noun", ["custom_audience", "tailored_audience"])


def _path(caller: Any, noun: str, account_id: str = "") -> str:
    version = "12" if noun == "custom_audience" else "5"
    account = account_id or caller.emulator.account_id
    return f"/{version}/accounts/{account}/{noun}s/{caller.emulator.audience_id}/permissions"


async def _account(caller: Any) -> str:
    """Another account of the same business."""
    reply = await caller.call("POST", "/12/accounts", base=caller.emulator.ads_sandbox_url)
    return str(reply.body["data"][0]["id"])


async def _grant(caller: Any, account_id: str, level: str, noun: str = "custom_audience") -> Any:
    query = {"granted_account_id": account_id, "permission_level": level}
    return await caller.call("POST", _path(caller, noun), query=query)


@NAMES
async def test_a_grant_is_shown_and_listed(caller: Any, noun: str) -> None:
    """The record, with the id of the audience under the name of the endpoint."""
    other = await _account(caller)
    reply = await _grant(caller, other, "READ_ONLY", noun)
    record = reply.body["data"]
    ids = {"account_id": caller.emulator.account_id, f"{noun}_id": caller.emulator.audience_id}
    assert reply.body["request"]["params"] == {**ids, "granted_account_id": other, "permission_level": "READ_ONLY"}
    assert record == {
        f"{noun}_id": caller.emulator.audience_id,
        "permission_level": "READ_ONLY",
        "id": record["id"],
        "created_at": "2027-01-15T08:00:00Z",
        "granted_account_id": other,
        "updated_at": "2027-01-15T08:00:00Z",
        "deleted": False,
    }
    listed = await caller.call("GET", _path(caller, noun), query={"with_total_count": "true"})
    assert (listed.body["data"], listed.body["total_count"], listed.body["next_cursor"]) == ([record], 1, None)


@NAMES
async def test_lists_can_be_narrowed(caller: Any, noun: str) -> None:
    """By the granted accounts and by the ids of permissions; `with_deleted` is no parameter here."""
    accounts = [await _account(caller) for _ in range(2)]
    ids = [(await _grant(caller, each, "READ_ONLY", noun)).body["data"]["id"] for each in accounts]
    for query, expected in (
        ({"granted_account_ids": accounts[1]}, [ids[1]]),
        ({f"{noun}_permission_ids": f"{ids[0]},nothing"}, [ids[0]]),
        ({"sort_by": "created_at-desc", "count": 1}, [ids[0]]),
    ):
        reply = await caller.call("GET", _path(caller, noun), query=query)
        assert [record["id"] for record in reply.body["data"]] == expected
    assert (await caller.call("GET", _path(caller, noun), query={"with_deleted": "true"})).status == 400


@NAMES
async def test_a_revoked_permission_is_gone(caller: Any, noun: str) -> None:
    """Once; the audience is then shared no more."""
    other = await _account(caller)
    permission_id = (await _grant(caller, other, "READ_WRITE", noun)).body["data"]["id"]
    path = f"{_path(caller, noun)}/{permission_id}"
    revoked = await caller.call("DELETE", path)
    assert revoked.body["data"]["deleted"] is True
    assert revoked.body["request"]["params"][f"{noun}_permission_id"] == permission_id
    again = await caller.call("DELETE", path)
    assert (again.status, again.body["errors"][0]["parameter"]) == (404, f"{noun}_permission_id")
    assert (await caller.call("GET", _path(caller, noun))).body["data"] == []
    assert (
        await caller.call("GET", f"/12/accounts/{other}/custom_audiences/{caller.emulator.audience_id}")
    ).status == 404


async def test_a_second_grant_changes_the_level(caller: Any) -> None:
    """One permission for each account; both names of an audience lead to it."""
    other = await _account(caller)
    first = (await _grant(caller, other, "READ_ONLY")).body["data"]
    await caller.move_clock(advance=60)
    second = (await _grant(caller, other, "READ_WRITE", "tailored_audience")).body["data"]
    assert (second["id"], second["permission_level"]) == (first["id"], "READ_WRITE")
    assert (second["created_at"], second["updated_at"]) == ("2027-01-15T08:00:00Z", "2027-01-15T08:01:00Z")
    assert len((await caller.call("GET", _path(caller, "custom_audience"))).body["data"]) == 1


@each_case("level, status", [("READ_ONLY", 403), ("READ_WRITE", 200)])
async def test_a_shared_audience_can_be_read_or_written(caller: Any, level: str, status: int) -> None:
    """It is in the list of shared ones; only the owner deletes it and sees its permissions."""
    other = await _account(caller)
    await _grant(caller, other, level)
    audiences = f"/12/accounts/{other}/custom_audiences"
    path = f"{audiences}/{caller.emulator.audience_id}"
    (record,) = (await caller.call("GET", audiences, query={"permission_scope": "SHARED"})).body["data"]
    assert (record["permission_level"], record["is_owner"]) == (level, False)
    assert record["owner_account_id"] == caller.emulator.account_id
    assert (await caller.call("GET", audiences)).body["data"] == []
    assert (await caller.call("GET", path)).body["data"] == record
    assert (await caller.upload(BODY, path=path + "/users")).status == status
    assert len(await caller.members()) == (status == 200)
    assert (await caller.call("PUT", path, query={"description": "x"})).status == status
    for method, rest in (("DELETE", ""), ("GET", "/permissions")):
        refused = await caller.call(method, path + rest)
        assert (refused.status, refused.codes) == (403, ["ACTION_NOT_ALLOWED"])
    query = {"granted_account_id": other, "permission_level": "READ_ONLY"}
    assert (await caller.call("POST", path + "/permissions", query=query)).codes == ["ACTION_NOT_ALLOWED"]


@each_case(
    "query, code, parameter",
    [
        ({"permission_level": "READ_ONLY"}, "MISSING_PARAMETER", "granted_account_id"),
        ({"granted_account_id": "OTHER"}, "MISSING_PARAMETER", "permission_level"),
        ({"granted_account_id": "OTHER", "permission_level": "WRITE"}, "INVALID_PARAMETER", "permission_level"),
        ({"granted_account_id": "nothing", "permission_level": "READ_ONLY"}, "INVALID_PARAMETER", "granted_account_id"),
        ({"granted_account_id": "OWN", "permission_level": "READ_ONLY"}, "INVALID_PARAMETER", "granted_account_id"),
    ],
)
async def test_faulty_grants_are_refused(caller: Any, query: dict[str, str], code: str, parameter: str) -> None:
    """Both parameters are required; an owner cannot be granted its own audience."""
    words = {"OTHER": await _account(caller), "OWN": caller.emulator.account_id}
    query = {name: words.get(text, text) for name, text in query.items()}
    refused = await caller.call("POST", _path(caller, "custom_audience"), query=query)
    assert (refused.status, refused.codes) == (400, [code])
    assert refused.body["errors"][0]["parameter"] == parameter


async def test_sharing_outside_of_the_business_needs_a_feature(caller: Any) -> None:
    """An account of another business, without and with the feature, which the API cannot give."""
    store = caller.emulator.store
    foreign = store.origin.foreign_account_id
    assert (await _grant(caller, foreign, "READ_ONLY")).codes == ["FEATURE_NOT_AVAILABLE"]
    store.accounts[caller.emulator.account_id].features.add("SHARE_AUDIENCE_OUTSIDE_BUSINESS")
    assert (await _grant(caller, foreign, "READ_ONLY")).status == 200


async def test_other_paths_of_version_five_are_refused(caller: Any) -> None:
    """Only what the specification has at that version is there."""
    path = f"/5/accounts/{caller.emulator.account_id}/custom_audiences"
    assert (await caller.call("GET", path)).codes == ["INVALID"]
