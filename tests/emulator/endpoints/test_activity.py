"""Events that are told to subscribers and streams."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from audiencekit.emulator import Emulator, EmulatorOptions
from audiencekit.emulator.endpoints.activity import EVENT_TYPES, Activity, Event, Subscription, read_event
from tests.cases import each_case
from tests.emulator.conftest import Caller
from tests.emulator.endpoints.data_api_builder import ask, get_token, is_invalid


def _event(event_type: str = "profile.update.bio", user_id: str = "1", time: float = 0.0, **payload: str) -> Event:
    return Event(event_type, user_id, payload, time)


@each_case(
    "subscription, event, wanted",
    [
        (Subscription("1"), _event(), True),
        (Subscription("1"), _event(user_id="2"), False),
        (Subscription("1", "profile.update.bio"), _event(), True),
        (Subscription("1", "spaces.end"), _event(), False),
        (Subscription("1", keyword="SPRING"), _event(bio="It is spring"), True),
        (Subscription("1", keyword="summer"), _event(bio="It is spring"), False),
        (Subscription("1", direction="sent"), _event("dm.sent"), True),
        (Subscription("1", direction="sent"), _event("dm.received"), False),
        (Subscription("1", direction="received"), _event("dm.read"), True),
        (Subscription("1", direction="received"), _event("dm.sent"), False),
        (Subscription("1", direction="both"), _event("dm.sent"), True),
        (Subscription("1", direction="sent"), _event("spaces.start"), True),
    ],
)
def test_a_subscription_wants_what_passes_its_filters(subscription: Subscription, event: Event, wanted: bool) -> None:
    """Person, type, keyword in any case, and direction of what has one."""
    assert subscription.wants(event) is wanted


def test_the_types_are_the_stated_ones() -> None:
    """The ten of the specification's table (part 0, section 6), none of the earlier form."""
    stated = """
        profile.update.bio profile.update.verified profile.update.affiliate profile.update.screenname
        dm.received dm.sent dm.read dm.indicate_typing spaces.start spaces.end
    """
    assert set(EVENT_TYPES) == set(stated.split())


async def test_a_stream_is_told_what_is_wanted() -> None:
    """A stream hears events from its opening on; events without a subscription are told to no stream."""
    activity = Activity()
    assert not activity.publish(_event())
    activity.subscriptions.append(Subscription("1"))
    assert activity.publish(_event(time=10.0))
    stream, changed = activity.open_stream(float("inf")), None
    assert stream.take() == []
    changed = stream.changed()
    assert stream.changed() is changed
    activity.publish(_event(bio="new", time=20.0))
    assert changed.done()
    assert [json.loads(line)["data"]["payload"] for line in stream.take()] == [{"bio": "new"}]
    assert stream.take() == []


async def test_a_stream_can_be_told_what_was() -> None:
    """From a moment on, and never of more than the last five minutes."""
    activity = Activity()
    activity.subscriptions.append(Subscription("1"))
    for time in (0.0, 100.0, 350.0):
        activity.publish(_event(time=time))
    assert len(activity.open_stream(0.0).take()) == 2
    assert len(activity.open_stream(101.0).take()) == 1


async def test_a_stream_ends_for_its_reader_or_for_all() -> None:
    """A closed one is told nothing more; an ended one wakes its reader."""
    activity = Activity()
    activity.subscriptions.append(Subscription("1"))
    closed, open_ = activity.open_stream(float("inf")), activity.open_stream(float("inf"))
    closed.close()
    activity.publish(_event())
    assert (closed.take(), len(open_.take())) == ([], 1)
    changed = open_.changed()
    activity.end_streams()
    assert open_.ended
    assert changed.done()


@each_case(
    "order",
    [
        None,
        [],
        {},
        {"event_type": "ProfileBioUpdate"},
        {"event_type": ["spaces.start"]},
        {"event_type": "spaces.start", "colour": "red"},
        {"event_type": "spaces.start", "user_id": 7},
        {"event_type": "spaces.start", "user_id": "me"},
        {"event_type": "spaces.start", "payload": "text"},
    ],
)
def test_orders_that_are_none_are_refused(order: object) -> None:
    """With what was expected; the earlier names of types are none any more."""
    with pytest.raises(ValueError, match="Expected"):
        read_event(order, "1", 0.0)


def test_an_order_names_a_person_or_not() -> None:
    """Without one it happens to the application's own user."""
    assert read_event({"event_type": "spaces.start"}, "1", 5.0) == _event("spaces.start", "1", 5.0)
    order = {"event_type": "dm.sent", "user_id": "2", "payload": {"text": "hello"}}
    assert read_event(order, "1", 5.0) == _event("dm.sent", "2", 5.0, text="hello")


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
