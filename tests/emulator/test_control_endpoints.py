"""The emulator's own doors, over the wire."""

from __future__ import annotations

import json
from typing import Any

from tests.cases import each_case

# --- The emulator's own doors, over the wire ---

H1, H2, H3 = "a1" * 32, "b2" * 32, "c3" * 32
START = 1_800_000_000.25


def _update(*users: dict[str, list[str]], **times: str) -> dict[str, Any]:
    return {"operation_type": "Update", "params": {"users": list(users), **times}}


@each_case(
    "method, path, status",
    [
        ("GET", "/__log", 200),
        ("GET", "/__requests", 200),
        ("GET", "/__members/nothing", 404),
        ("GET", "/__members", 404),
        ("GET", "/__members/", 404),
        ("GET", "/__log/x", 404),
        ("POST", "/__log", 405),
        ("GET", "/__clock", 405),
        ("POST", "/__faults", 400),
        ("PUT", "/__faults", 405),
        ("GET", "/__faults/1", 404),
        ("GET", "/__", 404),
    ],
)
async def test_doors_need_no_signature(caller: Any, method: str, path: str, status: int) -> None:
    """The doors there are, and the ones there are not."""
    assert (await caller.send(method, path)).status == status


async def test_the_log_holds_what_was_applied(caller: Any) -> None:
    """Order, times with their defaults filled in, and users as received."""
    await caller.upload([_update({"email": [H1]}, {"partner_user_id": ["P 1"], "handle": [H2, H1]})])
    await caller.upload(
        [
            _update({"email": [H3]}, effective_at="2027-01-01", expires_at="2027-03-01T02:00:00+0200"),
            {"operation_type": "Delete", "params": {"users": [{"email": [H1]}]}},
        ]
    )
    reply = await caller.send("GET", "/__log")
    assert reply.headers["Content-Type"] == "application/x-ndjson"
    common = {"time": START, "list_id": caller.emulator.audience_id}
    assert [json.loads(line) for line in reply.content.splitlines()] == [
        {
            "seq": 1,
            **common,
            "operation_type": "Update",
            "effective_at": "2027-01-15T08:00:00Z",
            "expires_at": "2028-02-15T08:00:00Z",
            "users": [{"email": [H1]}, {"partner_user_id": ["P 1"], "handle": [H2, H1]}],
        },
        {
            "seq": 2,
            **common,
            "operation_type": "Update",
            "effective_at": "2027-01-01T00:00:00Z",
            "expires_at": "2027-03-01T00:00:00Z",
            "users": [{"email": [H3]}],
        },
        {
            "seq": 3,
            **common,
            "operation_type": "Delete",
            "effective_at": "2027-01-15T08:00:00Z",
            "expires_at": "2028-02-15T08:00:00Z",
            "users": [{"email": [H1]}],
        },
    ]


async def test_members_are_shown_with_keys_and_expiry(caller: Any) -> None:
    """All kinds of keys, each under its field."""
    user = {
        "email": [H1],
        "device_id": [H2],
        "handle": [H3, H1],
        "platform_id": [H1],
        "phone_number": [H1],
        "partner_user_id": ["é", "a"],
    }
    await caller.upload([_update(user, expires_at="2027-02-01")])
    (member,) = await caller.members()
    assert member["expires_at"] == "2027-02-01T00:00:00Z"
    assert {name: sorted(texts) for name, texts in member["keys"].items()} == {
        name: sorted(texts) for name, texts in user.items()
    }


async def test_many_members_are_shown_whole(open_emulator: Any) -> None:
    """A list that is sent in several parts is one JSON document."""
    async with open_emulator() as caller:
        users = [{"email": [f"{number:064x}"]} for number in range(10_001)]
        assert (await caller.upload([_update(*users)])).status == 200
        members = await caller.members()
        assert [member["keys"] for member in members] == users


async def test_requests_are_shown_with_arrival_size_and_status(caller: Any) -> None:
    """Every call to the API, refused ones too; the doors are not listed."""
    body = json.dumps([_update({"email": [H1]})], separators=(",", ":")).encode()
    await caller.upload(body)
    await caller.move_clock(advance=5)
    await caller.send("GET", caller.audiences + "?q=secret")
    assert (await caller.send("GET", "/__requests")).body == [
        {
            "seq": 1,
            "arrival": START,
            "method": "POST",
            "path": caller.users,
            "bytes": len(body),
            "status": 200,
        },
        {"seq": 2, "arrival": START + 5, "method": "GET", "path": caller.audiences, "bytes": 0, "status": 401},
    ]


async def test_the_clock_can_be_moved(caller: Any) -> None:
    """Advance and set answer with the new time, and every header goes by it."""
    assert (await caller.move_clock(advance=90.5)).body == {"now": START + 90.5}
    assert (await caller.move_clock(advance=-0.5)).body == {"now": START + 90}
    reply = await caller.move_clock(set=1_900_000_000)
    assert reply.body == {"now": 1_900_000_000}
    assert reply.headers["Date"] == "Sun, 17 Mar 2030 17:46:40 GMT"


@each_case(
    "order",
    [
        b"",
        b"[]",
        b"{}",
        b'{"advance":"5"}',
        b'{"advance":true}',
        b'{"advance":null}',
        b'{"advance":1e999}',
        b'{"advance":NaN}',
        b'{"advance":1,"advance":2}',
        b'{"advance":1,"set":2}',
        b'{"forward":1}',
        b'{"set":-1}',
        b'{"set":1e15}',
        b'{"advance":-1e12}',
    ],
)
async def test_a_clock_is_not_broken_by_rubbish(caller: Any, order: bytes) -> None:
    """An invalid order leaves the clock as it is."""
    assert (await caller.send("POST", "/__clock", data=order)).status == 400
    assert caller.emulator.clock.now() == START


# --- The way to the doors: from which address, and what is due before they answer ---

HASH_1 = "a1" * 32
BODY = [{"operation_type": "Update", "params": {"users": [{"email": [HASH_1]}]}}]


async def test_doors_are_at_every_address(caller: Any) -> None:
    """The same log, whichever address is asked."""
    await caller.upload(BODY)
    replies = [
        (await caller.send("GET", "/__log", base=base)).content
        for base in (caller.emulator.ads_url, caller.emulator.ads_sandbox_url, caller.emulator.base_url)
    ]
    assert len(set(replies)) == 1
    assert replies[0]


@each_case("host", ["audiences.example.com", "127.0.0.1.example.com:80", "10.0.0.1:80"])
async def test_doors_do_not_open_to_other_names(caller: Any, host: str) -> None:
    """A web page that reaches the port by a name of its own finds the doors shut."""
    assert (await caller.send("GET", "/__log", headers={"Host": host})).status == 403


async def test_a_body_is_applied_when_a_door_moves_the_clock_past_its_moment(caller: Any) -> None:
    """Before the door answers."""
    late = {"fault": 3, "delay_seconds": 60, "meanwhile": "status"}
    assert (await caller.send("POST", "/__faults", data=json.dumps([late]).encode())).status == 200
    await caller.upload(BODY)
    for seconds, applied in ((59, 0), (1, 1)):
        await caller.move_clock(advance=seconds)
        assert len(caller.emulator.store.operations) == applied
