"""Events on their way to a real receiver: proven, signed, in order, again until they are taken, and replayed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest_asyncio
from aiohttp import web

from audiencekit.emulator.endpoints.webhooks import SIGNATURE_HEADER, sign
from tests.cases import each_case
from tests.emulator.endpoints.data_api_builder import ask, is_invalid
from tests.emulator.endpoints.test_stream_rules import change
from tests.emulator.endpoints.tweets_builder import write
from tests.moments import PATIENCE_SECONDS

BIO = {"event_type": "profile.update.bio", "payload": {"bio": "Spring is here"}}


class Receiver:
    """A listener with the secret. `statuses` are answered one after the other, then 200."""

    def __init__(self) -> None:
        self.secret = ""
        self.statuses: list[int] = []
        self.taken: asyncio.Queue[Any] = asyncio.Queue()
        self.challenges = 0
        self.signatures: list[bool] = []
        self.url = ""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """The proof, or a status."""
        if request.method == "GET":
            self.challenges += 1
            return web.json_response({"response_token": sign(self.secret, request.query["crc_token"].encode())})
        body = await request.read()
        self.signatures.append(request.headers[SIGNATURE_HEADER] == sign(self.secret, body))
        status = self.statuses.pop(0) if self.statuses else 200
        if status == 200:
            self.taken.put_nowait(json.loads(body))
        return web.Response(status=status, headers={"Location": self.url})

    async def next(self) -> Any:
        """The next event that it takes."""
        return await asyncio.wait_for(self.taken.get(), PATIENCE_SECONDS)


@pytest_asyncio.fixture
async def receiver() -> AsyncIterator[Receiver]:
    """One that listens on loopback."""
    made = Receiver()
    app = web.Application()
    app.router.add_route("*", "/hook", made.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.url = f"{site.name}/hook"
    yield made
    await runner.cleanup()


@pytest_asyncio.fixture
async def caller(open_emulator: Any, receiver: Receiver) -> AsyncIterator[Any]:
    """An emulator that delivers to it, and does not wait between two attempts."""
    async with open_emulator(webhooks={"12": receiver.url}, delivery_waits=(0.0, 0.0)) as running:
        receiver.secret = running.emulator.env["AUDIENCEKIT_CONSUMER_SECRET"]
        yield running


async def _link(caller: Any, webhook_id: str = "12", **query: str) -> None:
    assert (await ask(caller, "POST", f"/tweets/search/webhooks/{webhook_id}", query)).body["data"]["provisioned"]


async def _happen(caller: Any) -> None:
    base, data = caller.emulator.base_url, json.dumps(BIO).encode()
    assert (await caller.send("POST", "/__activity", base=base, data=data)).body == {"delivered": True}


async def _deliveries(caller: Any, count: int) -> Any:
    while True:
        made = (await caller.send("GET", "/__webhooks")).body["deliveries"]
        if len(made) == count and all(each["over"] for each in made):
            return made
        await asyncio.sleep(0)


async def test_posts_that_match_are_delivered(caller: Any, receiver: Receiver) -> None:
    """With the fields of the link, and the rules that matched; others, and those of before, are not."""
    await write(caller, "tweet", text="spring before the link")
    assert (await change(caller, add=[{"value": "spring -winter", "tag": "season"}])).status == 201
    await _link(caller, **{"tweet.fields": "author_id", "expansions": "author_id"})
    for text in ("autumn", "spring and winter", "spring is here"):
        tweet = (await write(caller, "tweet", text=text)).body["data"]["id_str"]
    event, user_id = await receiver.next(), caller.emulator.store.origin.user_id
    rule = event.pop("matching_rules")
    assert event == {
        "data": {"id": tweet, "text": "spring is here", "author_id": user_id, "edit_history_tweet_ids": [tweet]},
        "includes": {"users": [{"id": user_id, "name": "Local user", "username": "local_user"}]},
    }
    assert [each["tag"] for each in rule] == ["season"]
    assert (receiver.challenges, receiver.signatures, receiver.taken.empty()) == (1, [True], True)


async def test_a_scheduled_tweet_is_delivered_when_it_goes_out(caller: Any, receiver: Receiver) -> None:
    """By the emulator's clock, although no one asks for it."""
    await change(caller, add=[{"value": "spring"}])
    await _link(caller)
    await write(caller, "scheduled", text="spring later")
    await caller.move_clock(advance=86_400)
    assert (await receiver.next())["data"]["text"] == "spring later"


async def test_activity_is_delivered_to_linked_webhooks(caller: Any, receiver: Receiver) -> None:
    """As it is told on the stream."""
    await ask(caller, "POST", "/activity/subscriptions")
    await _happen(caller)
    await _link(caller)
    await _happen(caller)
    event = (await receiver.next())["data"]
    assert (event["event_type"], event["payload"]) == ("profile.update.bio", {"bio": "Spring is here"})
    assert receiver.taken.empty()


async def test_a_delivery_that_is_not_taken_is_made_again(caller: Any, receiver: Receiver) -> None:
    """The same bytes, in order, three times in all; a redirect is not followed; then a replay brings it back."""
    await ask(caller, "POST", "/activity/subscriptions")
    await _link(caller)
    receiver.statuses = [500, 302]
    await _happen(caller)
    await receiver.next()
    receiver.statuses = [503, 429, 500]
    await _happen(caller)
    made = await _deliveries(caller, 2)
    assert [each["attempts"] for each in made] == [[500, 302, 200], [503, 429, 500]]
    assert (await ask(caller, "POST", "/webhooks/replay", {"webhook_id": "12"})).body["data"]["job_id"]
    await receiver.next()
    await receiver.next()
    assert [each["replay"] for each in await _deliveries(caller, 4)] == [False, False, True, True]
    assert all(receiver.signatures)


async def test_a_replay_is_of_the_minutes_that_it_names(caller: Any, receiver: Receiver) -> None:
    """In the query or as JSON; without them, of the last day."""
    await ask(caller, "POST", "/activity/subscriptions")
    await _link(caller)
    for _ in range(2):
        await _happen(caller)
        await receiver.next()
        await caller.move_clock(advance=3_600)
    order = {"webhook_id": "12", "from_date": "202701150800", "to_date": "202701150830"}
    assert (await ask(caller, "POST", "/webhooks/replay", data=json.dumps(order).encode())).status == 200
    assert (await receiver.next())["data"]["created_at"] == "2027-01-15T08:00:00Z"
    assert (await ask(caller, "POST", "/webhooks/replay")).status == 200
    assert [(await receiver.next())["data"]["created_at"] for _ in range(2)] == [
        "2027-01-15T08:00:00Z",
        "2027-01-15T09:00:00Z",
    ]
    await caller.move_clock(advance=2 * 86_400)
    assert (await ask(caller, "POST", "/webhooks/replay")).status == 200
    assert receiver.taken.empty()


@each_case(
    "query, status",
    [
        ({"webhook_id": "13"}, 404),
        ({"from_date": "2027"}, 400),
        ({"from_date": "202713010000"}, 400),
        ({"from_date": "202701150900", "to_date": "202701150800"}, 400),
        ({"unknown": "1"}, 400),
    ],
)
async def test_faulty_replays_are_problems(caller: Any, query: dict[str, str], status: int) -> None:
    """An unlinked webhook, minutes that are none, and their order."""
    await _link(caller)
    reply = await ask(caller, "POST", "/webhooks/replay", query)
    assert (reply.status, is_invalid(reply)) == (status, status == 400)


async def test_a_receiver_without_the_secret_is_told_nothing(caller: Any, receiver: Receiver) -> None:
    """It is challenged before each attempt."""
    receiver.secret = "another"
    await ask(caller, "POST", "/activity/subscriptions")
    await _link(caller)
    await _happen(caller)
    (made,) = await _deliveries(caller, 1)
    assert (made["attempts"], receiver.challenges, receiver.signatures) == ([None] * 3, 3, [])


@each_case("order", [{"12": "http://shop.example/"}, {"12": "ftp://127.0.0.1/"}, {"x": "http://127.0.0.1/"}, {"1" * 20: "http://127.0.0.1/"},
     {"12": "http://a:b@127.0.0.1/"}, {"12": 7}, ["12"]])  # fmt: skip
async def test_receivers_are_on_this_machine(caller: Any, order: Any) -> None:
    """Unless their host is allowed; a faulty order changes nothing."""
    before = (await caller.send("GET", "/__webhooks")).body["receivers"]
    reply = await caller.send("POST", "/__webhooks", data=json.dumps(order).encode())
    assert (reply.status, reply.codes) == (400, ["INVALID_PARAMETER"])
    assert (await caller.send("GET", "/__webhooks")).body["receivers"] == before


async def test_other_hosts_can_be_allowed(open_emulator: Any, receiver: Receiver) -> None:
    """By an option; a receiver can be given while the emulator runs."""
    async with open_emulator(webhook_hosts=frozenset({"shop.example"})) as caller:
        order = json.dumps({"7": "http://shop.example/hook", "8": receiver.url}).encode()
        assert (await caller.send("POST", "/__webhooks", data=order)).body["receivers"]["8"] == receiver.url
        receiver.secret = caller.emulator.env["AUDIENCEKIT_CONSUMER_SECRET"]
        await ask(caller, "POST", "/activity/subscriptions")
        await _link(caller, "8")
        await _happen(caller)
        assert await receiver.next()


async def test_links_rules_and_posts_survive_a_restart(open_emulator: Any, receiver: Receiver, tmp_path: Path) -> None:
    """Nothing is delivered a second time by itself; a replay brings posts of before, and new ones follow."""
    options = {"webhooks": {"12": receiver.url}, "state": tmp_path / "state"}
    async with open_emulator(**options) as caller:
        receiver.secret = caller.emulator.env["AUDIENCEKIT_CONSUMER_SECRET"]
        await change(caller, add=[{"value": "spring"}])
        await _link(caller)
        await write(caller, "tweet", text="spring one")
        before = await receiver.next()
    async with open_emulator(**options) as caller:
        await write(caller, "tweet", text="spring two")
        assert (await receiver.next())["data"]["text"] == "spring two"
        assert receiver.taken.empty()
        assert (await ask(caller, "POST", "/webhooks/replay")).status == 200
        assert await receiver.next() == before
        assert (await receiver.next())["data"]["text"] == "spring two"


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
