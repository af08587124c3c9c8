"""The users endpoint, over the wire."""

from __future__ import annotations

import json
from typing import Any

import pytest

H1, H2, H3 = "a1" * 32, "b2" * 32, "c3" * 32
YEARS = "2030-01-01T00:00:00Z"


def _operation(verb: str, *users: dict[str, list[str]], **times: str) -> dict[str, Any]:
    return {"operation_type": verb, "params": {"users": list(users), **times}}


def _keys(members: list[Any]) -> list[Any]:
    return [member["keys"] for member in members]


async def test_the_answer_counts_users_over_all_operations(caller: Any) -> None:
    """Updates and Deletes, known and unknown people: all that were received, twice."""
    reply = await caller.upload(
        [
            _operation("Update", {"email": [H1]}, {"email": [H1]}),
            _operation("Delete", {"email": [H3]}),
            _operation("Update", {"email": [H2], "handle": [H1, H2]}),
        ]
    )
    assert reply.status == 200
    assert reply.body == {
        "request": {
            "params": {
                "account_id": caller.emulator.account_id,
                "custom_audience_id": caller.emulator.audience_id,
            }
        },
        "data": {"success_count": 4, "total_count": 4},
    }


async def test_the_documented_example_is_taken(open_emulator: Any) -> None:
    """The example of the public documentation, in its time, with the public service's names."""
    hashes = [f"{number:064x}" for number in range(9)]
    times = {"effective_at": "2018-05-15T00:00:00Z", "expires_at": "2019-01-01T07:00:00Z"}
    body = [
        _operation(
            "Update",
            {"email": [hashes[0]], "handle": hashes[1:3]},
            {"email": [hashes[3]], "twitter_id": hashes[4:6]},
            **times,
        ),
        _operation(
            "Delete",
            {"device_id": [hashes[6]], "email": [hashes[0]], "handle": [hashes[7]], "twitter_id": [hashes[8]]},
            {"email": [hashes[3]], "twitter_id": hashes[7:9]},
            **times,
        ),
    ]
    async with open_emulator(profile="x", clock=lambda: 1_527_000_000.0) as caller:
        reply = await caller.upload(body)
        assert reply.body["data"] == {"success_count": 4, "total_count": 4}
        assert await caller.members() == []


async def test_operations_are_applied_in_order(caller: Any) -> None:
    """The last word in a request counts."""
    await caller.upload([_operation("Update", {"email": [H1]}), _operation("Delete", {"email": [H1]})])
    assert await caller.members() == []
    await caller.upload([_operation("Delete", {"email": [H1]}), _operation("Update", {"email": [H1]})])
    assert _keys(await caller.members()) == [{"email": [H1]}]


async def test_a_delete_matches_on_any_key(caller: Any) -> None:
    """Users that share a key with a deleted user go, too; the same hash in another field is another key."""
    await caller.upload(
        [
            _operation(
                "Update",
                {"email": [H1], "phone_number": [H3]},
                {"email": [H2], "phone_number": [H3]},
                {"handle": [H3]},
                {"partner_user_id": [H3]},
            )
        ]
    )
    await caller.upload([_operation("Delete", {"email": [H1], "phone_number": [H3]})])
    assert _keys(await caller.members()) == [{"handle": [H3]}, {"partner_user_id": [H3]}]


async def test_members_come_and_go_with_the_clock(caller: Any) -> None:
    """From `effective_at` to `expires_at`; 13 months when no expiry is given."""
    await caller.upload(
        [
            _operation("Update", {"email": [H1]}),
            _operation("Update", {"email": [H2]}, effective_at="2027-02-01", expires_at="2027-03-01"),
        ]
    )
    shown = []
    for moment in ("2027-01-31T23:59:59", "2027-02-01T00:00:00", "2027-03-01T00:00:00", "2028-02-15T07:59:59"):
        await caller.move_clock(set=_epoch(moment))
        shown.append([keys["email"][0][:2] for keys in _keys(await caller.members())])
    assert shown == [["a1"], ["a1", "b2"], ["a1"], ["a1"]]
    await caller.move_clock(advance=1)
    assert await caller.members() == []


def _epoch(moment: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(moment + "+00:00").timestamp()


GOOD = json.dumps([_operation("Update", {"email": [H1]})]).encode()


@pytest.mark.parametrize(
    ("body", "member"),
    [
        (b"", "errors"),
        (b"{}", "errors"),
        (b"[]", "errors"),
        (GOOD + b"]", "errors"),
        (GOOD.replace(b'"params"', b'"params": {}, "params"'), "errors"),
        (GOOD.replace(b'"email"', b'"email": ["x"], "email"'), "errors"),
        (b"[NaN]", "errors"),
        (GOOD[:-1] + b", null]", "operation_errors"),
        (GOOD[:-1] + b", " + GOOD[1:].replace(H1.encode(), H1.upper().encode()), "operation_errors"),
        (GOOD[:-1] + b", " + GOOD[1:].replace(b"users", b"user"), "operation_errors"),
        (b"[" + b",".join([GOOD[1:-1]] * 2_501) + b"]", "errors"),
    ],
)
async def test_nothing_of_a_faulty_request_is_applied(caller: Any, body: bytes, member: str) -> None:
    """One fault anywhere, and members and log are as before; the answer quotes no value."""
    await caller.upload([_operation("Update", {"email": [H2]}, expires_at=YEARS)])
    reply = await caller.upload(body)
    assert reply.status == 400
    assert set(reply.body) == {member, "request"}
    assert isinstance(reply.body["request"], dict if member == "errors" else list)
    assert len(await caller.log()) == 1
    assert _keys(await caller.members()) == [{"email": [H2]}]
    assert H1 not in reply.content.decode().lower()


async def test_the_number_of_operations_is_exact(caller: Any) -> None:
    """2,500 operations are applied."""
    body = b"[" + b",".join([GOOD[1:-1]] * 2_500) + b"]"
    assert (await caller.upload(body)).body["data"]["total_count"] == 2_500
    assert len(await caller.log()) == 2_500


@pytest.mark.parametrize(
    ("media_type", "status"),
    [
        ("application/json", 200),
        ("Application/JSON; charset=UTF-8", 200),
        ('application/json;charset="utf-8"', 200),
        ("application/json; charset=latin-1", 415),
        ("application/json; boundary=x", 415),
        ("text/plain", 415),
        ("text/json", 415),
        ("application/octet-stream", 415),
    ],
)
async def test_a_body_is_declared_as_json(caller: Any, media_type: str, status: int) -> None:
    """Any other media type answers 415."""
    assert (await caller.upload(GOOD, media_type=media_type)).status == status


async def test_the_endpoint_takes_no_query(caller: Any) -> None:
    """Parameters belong into the body."""
    reply = await caller.upload(GOOD, path=caller.users + "?expires_at=2027-02-01")
    assert (reply.status, reply.codes) == (400, ["INVALID_PARAMETER"])


async def test_lists_are_apart(caller: Any) -> None:
    """An upload to one audience does nothing to another."""
    other = (await caller.call("POST", caller.audiences, query={"name": "other"})).body["data"]["id"]
    await caller.upload(GOOD, path=f"{caller.audiences}/{other}/users")
    assert await caller.members() == []
    assert _keys(await caller.members(other)) == [{"email": [H1]}]
    assert [line["list_id"] for line in await caller.log()] == [other]


async def test_upper_case_hashes_are_a_switch(open_emulator: Any) -> None:
    """Refused by default; when taken, the same people as in lower case, logged as received."""
    body = [_operation("Update", {"email": [H1.upper()]}), _operation("Update", {"email": [H1]})]
    async with open_emulator() as caller:
        assert (await caller.upload(body)).status == 400
    async with open_emulator(accept_upper_case=True) as caller:
        assert (await caller.upload(body)).status == 200
        assert _keys(await caller.members()) == [{"email": [H1]}]
        assert [line["users"] for line in await caller.log()] == [[{"email": [H1.upper()]}], [{"email": [H1]}]]


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
async def test_a_sink_counts_and_applies_nothing(open_emulator: Any, separators: tuple[str, str]) -> None:
    """The right counts, however the JSON is written; no members, no log; faults are still refused."""
    operations = [
        _operation("Update", {"email": [H1]}, {"email": [H2], "partner_user_id": ["{p}"]}),
        _operation("Delete", {"handle": [H1, H2]}),
    ]
    async with open_emulator(sink=True) as caller:
        body = json.dumps(operations, separators=separators).encode()
        assert (await caller.upload(body)).body["data"] == {"success_count": 3, "total_count": 3}
        assert await caller.members() == []
        assert await caller.log() == []
        assert (await caller.upload(body[:-1])).status == 400
        assert (await caller.upload([_operation("Update")])).status == 400
        assert (await caller.send("POST", caller.users, data=body)).status == 401
        assert [entry["status"] for entry in (await caller.send("GET", "/__requests")).body] == [200, 400, 400, 401]
