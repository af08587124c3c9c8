"""Subscriptions and the activity stream over the wire."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from audiencekit.emulator import Emulator, EmulatorOptions
from tests.cases import each_case
from tests.emulator.conftest import Caller
from tests.emulator.endpoints.data_api_builder import ask, get_token, is_invalid

# --- Subscriptions and the activity stream over the wire ---

BIO = {"event_type": "profile.update.bio", "payload": {"bio": "Spring is here"}}


async def _happen(caller: Any, **order: Any) -> Any:
    data = json.dumps(order).encode()
    return await caller.send("POST", "/__activity", base=caller.emulator.base_url, data=data)


@asynccontextmanager
async def _stream(caller: Any, query: str = "") -> AsyncIterator[Any]:
    headers = {"Authorization": f"Bearer {await get_token(caller)}"}
    url = f"{caller.emulator.base_url}/2/activity/stream{query}"
    async with caller.session.get(url, headers=headers) as response:
        assert response.status == 200
        yield response.content


async def test_a_stream_tells_what_happens(caller: Any) -> None:
    """One JSON object a line, as it happens, until the stream is ended."""
    subscribed = (await ask(caller, "POST", "/activity/subscriptions")).body["data"]
    user_id = caller.emulator.store.origin.user_id
    assert (subscribed["event_type"], subscribed["filter"]) == (None, {"user_id": user_id})
    async with _stream(caller) as lines, _stream(caller) as others:
        assert (await _happen(caller, **BIO)).body == {"delivered": True}
        told = {
            "event_type": "profile.update.bio",
            "filter": {"user_id": user_id},
            "payload": {"bio": "Spring is here"},
            "created_at": "2027-01-15T08:00:00Z",
        }
        for reader in (lines, others):
            assert json.loads(await reader.readline()) == {"data": told}
        assert (await _happen(caller, event_type="spaces.end", user_id="7")).body == {"delivered": False}
        await _happen(caller, event_type="spaces.start")
        assert json.loads(await lines.readline())["data"]["event_type"] == "spaces.start"
        await caller.send("DELETE", "/__activity", base=caller.emulator.base_url)
        assert await lines.read() == b""


@each_case("in_body", [False, True])
async def test_filters_stand_in_the_query_or_in_the_body(caller: Any, in_body: bool) -> None:
    """With the same meaning."""
    filters = {"user_id": "7", "keyword": "spring", "direction": "sent"}
    if in_body:
        data = json.dumps({"event_type": "dm.sent", "filter": filters}).encode()
        reply = await ask(caller, "POST", "/activity/subscriptions", data=data)
    else:
        reply = await ask(caller, "POST", "/activity/subscriptions", {"event_type": "dm.sent", **filters})
    assert (reply.body["data"]["event_type"], reply.body["data"]["filter"]) == ("dm.sent", filters)
    for order, delivered in (
        ({"event_type": "dm.sent", "user_id": "7", "payload": {"text": "In spring"}}, True),
        ({"event_type": "dm.sent", "user_id": "7", "payload": {"text": "In winter"}}, False),
        ({"event_type": "dm.sent", "payload": {"text": "In spring"}}, False),
        ({"event_type": "dm.received", "user_id": "7", "payload": {"text": "In spring"}}, False),
    ):
        assert (await _happen(caller, **order)).body == {"delivered": delivered}


async def test_a_stream_can_begin_some_minutes_ago(caller: Any) -> None:
    """One to five of them."""
    await ask(caller, "POST", "/activity/subscriptions", {"direction": "both"})
    await _happen(caller, **BIO)
    await caller.move_clock(advance=120)
    for minutes, told in ((1, False), (2, True), (5, True)):
        async with _stream(caller, f"?backfill_minutes={minutes}") as lines:
            await _happen(caller, event_type="spaces.start")
            first = json.loads(await lines.readline())["data"]["event_type"]
            assert (first == "profile.update.bio") is told
    for minutes in ("0", "6", "1.5", "two", ""):
        assert is_invalid(await ask(caller, "GET", "/activity/stream", {"backfill_minutes": minutes}))
    assert is_invalid(await ask(caller, "GET", "/activity/stream", {"colour": "red"}))


async def test_a_reader_who_leaves_is_forgotten(caller: Any) -> None:
    """Later events are not collected for them."""
    await ask(caller, "POST", "/activity/subscriptions")
    async with _stream(caller):
        assert len(caller.emulator.store.activity._streams) == 1
    await _happen(caller, **BIO)
    while caller.emulator.store.activity._streams:
        await asyncio.sleep(0)


async def test_a_stream_ends_with_the_emulator() -> None:
    """As a stream that came to its end, not as one that broke."""
    async with aiohttp.ClientSession() as session:
        async with Emulator(EmulatorOptions()) as emulator:
            headers = {"Authorization": f"Bearer {await get_token(Caller(emulator, session))}"}
            response = await session.get(f"{emulator.base_url}/2/activity/stream", headers=headers)
        assert await response.read() == b""


@each_case(
    "query",
    [
        {"direction": "sideways"},
        {"event_type": "ProfileBioUpdate"},
        {"user_id": "me"},
        {"colour": "red"},
    ],
)
async def test_wrong_filters_are_problems(caller: Any, query: dict[str, str]) -> None:
    """In the query."""
    assert is_invalid(await ask(caller, "POST", "/activity/subscriptions", query))
    assert not caller.emulator.store.activity.subscriptions


@each_case(
    "body",
    [
        b"[]",
        b"{",
        b'{"filter": 1}',
        b'{"colour": "red"}',
        b'{"filter": {"user_id": 7}}',
        b'{"keyword": ""}',
        b'{"keyword": "a", "filter": {"keyword": "b"}}',
    ],
)
async def test_wrong_bodies_are_problems(caller: Any, body: bytes) -> None:
    """Too."""
    assert is_invalid(await ask(caller, "POST", "/activity/subscriptions", data=body))


async def test_orders_of_the_door_are_checked(caller: Any) -> None:
    """400 says what was expected; nothing happens."""
    assert (await _happen(caller, event_type="ProfileBioUpdate")).codes == ["INVALID_PARAMETER"]
    reply = await caller.send("POST", "/__activity", base=caller.emulator.base_url, data=b"{")
    assert reply.codes == ["INVALID_PARAMETER"]
    assert (await caller.send("GET", "/__activity", base=caller.emulator.base_url)).status == 405


# --- Webhooks over the wire ---


@each_case("webhook_id", ["1", "1234567890123456789"])
async def test_a_webhook_is_linked(caller: Any, webhook_id: str) -> None:
    """By its number of up to 19 digits, with fields and expansions; again, it is the same."""
    query = {"tweet.fields": "created_at", "expansions": "attachments.media_keys", "media.fields": "url"}
    for _ in range(2):
        reply = await ask(caller, "POST", f"/tweets/search/webhooks/{webhook_id}", query)
        assert (reply.status, reply.body) == (200, {"data": {"provisioned": True}})


@each_case("path", ["a", "12345678901234567890", "-1", "1?tweet.fields=source", "1?colour=red"])
async def test_an_invalid_link_is_a_problem(caller: Any, path: str) -> None:
    """A number that is none, and a field that was removed."""
    assert is_invalid(await ask(caller, "POST", f"/tweets/search/webhooks/{path}"))


async def test_a_webhook_is_asked_to_repeat(caller: Any) -> None:
    """Each time another job."""
    jobs = [(await ask(caller, "POST", "/webhooks/replay")).body["data"] for _ in range(2)]
    assert {job["created_at"] for job in jobs} == {"2027-01-15T08:00:00Z"}
    assert len({job["job_id"] for job in jobs}) == 2
