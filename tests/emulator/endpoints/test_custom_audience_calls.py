"""Custom audiences, over the wire."""

from __future__ import annotations

from typing import Any

from tests.cases import each_case


async def _create(caller: Any, name: str, **more: str) -> Any:
    return await caller.call("POST", caller.audiences, query={"name": name, **more})


async def test_a_new_audience_is_empty_and_not_targetable(caller: Any) -> None:
    """The record at creation, and its echo."""
    reply = await _create(caller, "Été 2027", description="a list")
    record = reply.body["data"]
    assert reply.status == 200
    assert reply.body["request"]["params"] == {
        "account_id": caller.emulator.account_id,
        "name": "Été 2027",
        "description": "a list",
    }
    assert record.pop("id") != caller.emulator.audience_id
    assert record == {
        "targetable": False,
        "name": "Été 2027",
        "targetable_types": ["CRM", "EXCLUDED_CRM"],
        "audience_type": "CRM",
        "description": "a list",
        "permission_level": "READ_WRITE",
        "owner_account_id": caller.emulator.account_id,
        "is_owner": True,
        "reasons_not_targetable": ["PROCESSING", "TOO_SMALL"],
        "created_at": "2027-01-15T08:00:00Z",
        "updated_at": "2027-01-15T08:00:00Z",
        "partner_source": "OTHER",
        "deleted": False,
        "audience_size": None,
    }


async def test_a_created_audience_can_be_shown(caller: Any) -> None:
    """The list shows the audience that was created."""
    record = (await _create(caller, "one")).body["data"]
    shown = await caller.call("GET", f"{caller.audiences}/{record['id']}")
    assert shown.body == {
        "request": {"params": {"account_id": caller.emulator.account_id, "custom_audience_id": record["id"]}},
        "data": record,
    }


async def test_a_name_is_required_and_unique_for_good(caller: Any) -> None:
    """No name, an empty one, one that exists, one that was deleted."""
    assert (await caller.call("POST", caller.audiences)).codes == ["MISSING_PARAMETER"]
    assert (await _create(caller, "")).codes == ["INVALID_PARAMETER"]
    made = (await _create(caller, "once")).body["data"]
    assert (await _create(caller, "once")).status == 400
    await caller.call("DELETE", f"{caller.audiences}/{made['id']}")
    refused = await _create(caller, "once")
    assert (refused.status, refused.body["errors"][0]["parameter"]) == (400, "name")
    assert (await _create(caller, "Once")).status == 200


async def test_a_deleted_audience_is_gone_unless_asked_for(caller: Any) -> None:
    """404 afterwards, for every verb; with `with_deleted` it is shown as deleted."""
    path = f"{caller.audiences}/{caller.emulator.audience_id}"
    await caller.move_clock(advance=60)
    deleted = (await caller.call("DELETE", path)).body["data"]
    assert (deleted["deleted"], deleted["reasons_not_targetable"]) == (True, ["TOO_SMALL"])
    assert (deleted["updated_at"], deleted["audience_size"]) == ("2027-01-15T08:01:00Z", None)
    for method in ("GET", "PUT", "DELETE"):
        reply = await caller.call(method, path)
        assert (reply.status, reply.codes) == (404, ["NOT_FOUND"])
        assert reply.body["errors"][0]["parameter"] == "custom_audience_id"
    assert (await caller.upload([{}])).status == 404
    assert (await caller.call("GET", path, query={"with_deleted": "true"})).body["data"] == deleted
    assert (await caller.call("GET", path, query={"with_deleted": "false"})).status == 404
    assert (await caller.call("GET", caller.audiences)).body["data"] == []
    listed = await caller.call("GET", caller.audiences, query={"with_deleted": "true"})
    assert listed.body["data"] == [deleted]


async def test_an_unknown_audience_is_not_found(caller: Any) -> None:
    """404 that names the audience and the account."""
    reply = await caller.call("GET", f"{caller.audiences}/nothing")
    assert reply.status == 404
    message = f"Custom Audience nothing was not found for Account {caller.emulator.account_id}"
    assert reply.body["errors"] == [{"code": "NOT_FOUND", "message": message, "parameter": "custom_audience_id"}]


async def test_name_and_description_can_be_changed(caller: Any) -> None:
    """Each by itself; an empty description takes the old one away; an empty name is refused."""
    path = f"{caller.audiences}/{caller.emulator.audience_id}"
    await caller.move_clock(advance=1)
    for query, name, description in (
        ({"name": "new"}, "new", None),
        ({"description": "words"}, "new", "words"),
        ({"name": "new", "description": ""}, "new", None),
        ({}, "new", None),
    ):
        record = (await caller.call("PUT", path, query=query)).body["data"]
        assert (record["name"], record["description"]) == (name, description)
    assert (record["created_at"], record["updated_at"]) == ("2027-01-15T08:00:00Z", "2027-01-15T08:00:01Z")
    await _create(caller, "taken")
    assert (await caller.call("PUT", path, query={"name": ""})).status == 400
    assert (await caller.call("PUT", path, query={"name": "taken", "description": "x"})).status == 400
    unchanged = (await caller.call("GET", path)).body["data"]
    assert (unchanged["name"], unchanged["description"]) == ("new", None)


@each_case(
    "query, names",
    [
        ({"q": "sum"}, ["Summer", "summit"]),
        ({"q": "SUMMER"}, ["Summer"]),
        ({"q": "mit"}, []),
        ({"permission_scope": "OWNER", "q": "w"}, ["winter"]),
        ({"permission_scope": "SHARED"}, []),
    ],
)
async def test_lists_can_be_narrowed(caller: Any, query: dict[str, str], names: list[str]) -> None:
    """By the beginning of the name, in any case, and by ownership."""
    for name in ("Summer", "winter", "summit"):
        await _create(caller, name)
    reply = await caller.call("GET", caller.audiences, query=query)
    assert [record["name"] for record in reply.body["data"]] == names
    assert reply.body["request"]["params"] == {"account_id": caller.emulator.account_id, **query}


async def test_lists_can_be_narrowed_by_ids(caller: Any) -> None:
    """The order is that of the list; ids that are not there are passed over."""
    ids = [(await _create(caller, name)).body["data"]["id"] for name in "abc"]
    wanted = f"{ids[2]},nothing,{ids[0]}"
    reply = await caller.call("GET", caller.audiences, query={"custom_audience_ids": wanted})
    assert [record["id"] for record in reply.body["data"]] == [ids[0], ids[2]]
    assert reply.body["request"]["params"]["custom_audience_ids"] == wanted.split(",")


@each_case("method", ["POST", "PUT", "DELETE", "GET"])
async def test_unknown_parameters_are_refused(caller: Any, method: str) -> None:
    """A misspelled parameter is not ignored."""
    path = caller.audiences if method == "POST" else f"{caller.audiences}/{caller.emulator.audience_id}"
    query = {"name": "n", "descripton": "x"} if method == "POST" else {"descripton": "x"}
    assert (await caller.call(method, path, query=query)).codes == ["INVALID_PARAMETER"]
