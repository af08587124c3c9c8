"""Do-not-reach lists and their users, over the wire."""

from __future__ import annotations

from typing import Any

import pytest

H1, H2, H3 = "a1" * 32, "b2" * 32, "c3" * 32


def _operation(verb: str, *users: dict[str, list[str]], **times: Any) -> dict[str, Any]:
    return {"operation_type": verb, "params": {"users": list(users), **times}}


async def _create(caller: Any, **query: str) -> Any:
    return await caller.call("POST", caller.account + "/do_not_reach_lists", query=query)


async def _open(caller: Any) -> tuple[str, str]:
    """A new list: its id, and the path of its users."""
    list_id = (await _create(caller)).body["data"]["id"]
    return list_id, caller.account.replace("/12/", "/12/batch/") + f"/do_not_reach_lists/{list_id}/users"


async def test_a_new_list_is_empty(caller: Any) -> None:
    """The record at creation, and the list of lists before and after."""
    path = caller.account + "/do_not_reach_lists"
    echo = {"params": {"account_id": caller.emulator.account_id}}
    assert (await caller.call("GET", path)).body == {"request": echo, "next_cursor": None, "data": []}
    record = (await _create(caller, description="opted out")).body["data"]
    assert record == {
        "targetable": False,
        "name": "Do Not Reach List",
        "description": "opted out",
        "id": record["id"],
        "reasons_not_targetable": ["PROCESSING", "TOO_SMALL"],
        "created_at": "2027-01-15T08:00:00Z",
        "list_size": None,
        "updated_at": "2027-01-15T08:00:00Z",
        "deleted": False,
    }
    assert (await caller.call("GET", path)).body == {"request": echo, "next_cursor": None, "data": [record]}


async def test_an_account_has_one_list_at_most(caller: Any) -> None:
    """A second one is refused until the first was deleted; deleted ones are shown on request."""
    path = caller.account + "/do_not_reach_lists"
    first = (await _create(caller)).body["data"]["id"]
    assert ((await _create(caller)).status, (await _create(caller)).codes) == (400, ["INVALID"])
    deleted = (await caller.call("DELETE", f"{path}/{first}")).body["data"]
    assert (deleted["id"], deleted["deleted"]) == (first, True)
    assert (await caller.call("DELETE", f"{path}/{first}")).codes == ["NOT_FOUND"]
    assert (await caller.call("GET", path)).body["data"] == []
    second = (await _create(caller)).body["data"]["id"]
    assert second != first
    listed = await caller.call("GET", path, query={"with_deleted": "true"})
    assert [(record["id"], record["deleted"]) for record in listed.body["data"]] == [(first, True), (second, False)]


async def test_the_answer_has_counts_for_each_operation(caller: Any) -> None:
    """Two lists in step with the operations; the echo has times and ids, never users."""
    list_id, path = await _open(caller)
    reply = await caller.upload(
        [
            _operation("Update", {"email": [H1]}, {"phone_number": [H2]}, expires_at="2027-06-01T00:00:00Z"),
            _operation("Delete", {"email": [H3]}),
        ],
        path=path,
    )
    ids = {"account_id": caller.emulator.account_id, "do_not_reach_list_id": list_id}
    assert reply.status == 200
    assert reply.body == {
        "data": [{"success_count": 2, "total_count": 2}, {"success_count": 1, "total_count": 1}],
        "request": [
            {"params": {**ids, "expires_at": "2027-06-01T00:00:00Z"}, "operation_type": "Update"},
            {"params": ids, "operation_type": "Delete"},
        ],
    }


async def test_users_are_on_the_list_and_in_no_audience(caller: Any) -> None:
    """The list's own members, from now to their expiry; an audience that has the same person keeps them."""
    list_id, path = await _open(caller)
    await caller.upload([_operation("Update", {"email": [H1]})])
    user = {"email": [H1], "phone_number": [H2]}
    await caller.upload([_operation("Update", user), _operation("Update", {"email": [H3]})], path=path)
    await caller.upload([_operation("Delete", {"email": [H3]})], path=path)
    assert await caller.members(list_id) == [{"keys": user, "expires_at": "2028-02-15T08:00:00Z"}]
    assert [member["keys"] for member in await caller.members()] == [{"email": [H1]}]
    assert [entry["list_id"] for entry in await caller.log()] == [caller.emulator.audience_id, *[list_id] * 3]
    await caller.upload([_operation("Delete", {"phone_number": [H2]})], path=path)
    assert await caller.members(list_id) == []


@pytest.mark.parametrize(
    ("operation", "parameter"),
    [
        (_operation("Update", {"handle": [H1]}), "users"),
        (_operation("Update", {"partner_user_id": ["p"]}), "users"),
        (_operation("Update", {"email": [H1[:-1]]}), "email"),
        (_operation("Update", {"email": [H1.upper()]}), "email"),
        (_operation("Update", {"email": [H1]}, effective_at="2027-02-01T00:00:00Z"), "params"),
        (_operation("Update", {"email": [H1]}, expires_at="2027-01-15T08:00:00Z"), "expires_at"),
        (_operation("Update", {"email": [H1]}, expires_at="2028-02-15T08:00:00Z"), "expires_at"),
        (_operation("Update", {"email": [H1]}, expires_at=1_900_000_000), "expires_at"),
        (_operation("Update"), "users"),
        (_operation("Create", {"email": [H1]}), "operation_type"),
        ({"operation_type": "Update"}, "params"),
        ({"operation_type": "Update", "params": {}}, "users"),
    ],
)
async def test_a_faulty_operation_refuses_the_request(caller: Any, operation: Any, parameter: str) -> None:
    """The fault stands at the place of its operation; the good one beside it is not applied."""
    list_id, path = await _open(caller)
    reply = await caller.upload([_operation("Update", {"email": [H2]}), operation], path=path)
    assert reply.status == 400
    assert [[problem["parameter"] for problem in found] for found in reply.body["operation_errors"]] == [
        [],
        [parameter],
    ]
    assert len(reply.body["request"]) == 2
    assert await caller.members(list_id) == []
    assert await caller.log() == []


async def test_an_expiry_just_under_thirteen_months_is_taken(caller: Any) -> None:
    """One second before the refused one."""
    _, path = await _open(caller)
    operation = _operation("Update", {"email": [H1]}, expires_at="2028-02-15T07:59:59Z")
    assert (await caller.upload([operation], path=path)).status == 200


async def test_requests_have_the_limits_of_audience_users(caller: Any) -> None:
    """2,500 operations, JSON only, a window of its own of 1,500 requests."""
    _, path = await _open(caller)
    operation = _operation("Update", {"email": [H1]})
    full = await caller.upload([operation] * 2_500, path=path)
    assert (full.status, full.headers["x-rate-limit-limit"], full.headers["x-rate-limit-remaining"]) == (
        200,
        "1500",
        "1499",
    )
    assert len(full.body["data"]) == 2_500
    assert (await caller.upload([operation] * 2_501, path=path)).codes == ["REQUEST_TOO_COMPLEX"]
    assert (await caller.upload(operation, path=path)).codes == ["INVALID_PARAMETER"]
    assert (await caller.upload([operation], path=path, media_type="text/plain")).status == 415
    assert (await caller.upload([operation])).headers["x-rate-limit-remaining"] == "1499"


async def test_an_unknown_list_takes_no_users(caller: Any) -> None:
    """Unknown, deleted, and an audience's id."""
    list_id, path = await _open(caller)
    await caller.call("DELETE", f"{caller.account}/do_not_reach_lists/{list_id}")
    for each in (list_id, "nothing", caller.emulator.audience_id):
        reply = await caller.upload([_operation("Update", {"email": [H1]})], path=path.replace(list_id, each))
        assert (reply.status, reply.body["errors"][0]["parameter"]) == (404, "do_not_reach_list_id")


async def test_a_sink_counts_and_applies_nothing(open_emulator: Any) -> None:
    """The same answer, no members."""
    async with open_emulator(sink=True) as caller:
        list_id, path = await _open(caller)
        reply = await caller.upload([_operation("Update", {"email": [H1]})], path=path)
        assert reply.body["data"] == [{"success_count": 1, "total_count": 1}]
        assert await caller.members(list_id) == []


async def test_the_size_of_a_list_is_counted_later(open_emulator: Any) -> None:
    """Six hours on, the people who were found."""
    async with open_emulator(match_rate=1.0) as caller:
        _, path = await _open(caller)
        users = [{"email": [f"{number:064x}"]} for number in range(150)]
        await caller.upload([_operation("Update", *users)], path=path)
        await caller.move_clock(advance=6 * 3_600)
        (record,) = (await caller.call("GET", caller.account + "/do_not_reach_lists")).body["data"]
        assert (record["targetable"], record["reasons_not_targetable"], record["list_size"]) == (True, [], 150)
        # A count falls due that no call asks for before the next change.
        await caller.upload([_operation("Update", {"email": [H1]})], path=path)
        await caller.move_clock(advance=6 * 3_600)
        await caller.upload([_operation("Delete", *users)], path=path)
        (record,) = (await caller.call("GET", caller.account + "/do_not_reach_lists")).body["data"]
        assert record["list_size"] == 151
