"""Every endpoint of the catalogue from the client, over a socket, to the state of the emulator and back.

The calls are made of the catalogue: the smallest good one of each row, in an account that has one of everything.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import aiohttp
import pytest
import pytest_asyncio

from audiencekit.api.catalogue import BY_NAME, ENDPOINTS, Endpoint
from audiencekit.api.client import AdsClient
from audiencekit.api.hosts import ServiceAddresses
from audiencekit.api.oauth import Credentials, ServiceClock
from audiencekit.api.transport import HttpTransport
from audiencekit.emulator.endpoints.activity import Event
from audiencekit.errors import Unauthorized
from audiencekit.personal import Secret
from audiencekit.profile import SPEC
from tests.cases import each_case
from tests.emulator.conftest import START
from tests.emulator.test_body_rules import BODIES
from tests.emulator.test_parameter_rules import complete
from tests.emulator.world import World, left_as_it_was, open_world, snapshot

pytestmark = pytest.mark.asyncio(loop_scope="module")

ADS_ROWS = [row for row in ENDPOINTS if (row.auth, row.answer) == ("user", "json")]
# Calls that change nothing although they are not GET; a preview of a draft shows itself elsewhere.
ASKED = {"estimate_audience", "preview_draft_tweet"}
# Lists that are empty in an account that nothing was sent from.
EMPTY = {"remove_features", "list_features", "list_custom_audience_targeted"}

# Calls whose smallest form changes nothing.
MORE = {
    "update_tax_settings": ("tax_category",),
    "update_tweet_name": ("name",),
    "update_user_settings": ("contact_phone",),
}
# Objects that must be there first, or, where the account has one already and can have only one, must not.
_PERMISSION = ("DELETE", "custom_audiences/{custom_audience_id}/permissions/{custom_audience_permission_id}")
_CRITERION = "line_item_id={line_item_id}&operator_type=EQ&targeting_type=BROAD_KEYWORD&targeting_value=tea"
FIRST = {
    "create_custom_audience_permission": _PERMISSION,
    "create_tailored_audience_permission": _PERMISSION,
    "create_do_not_reach_list": ("DELETE", "do_not_reach_lists/{do_not_reach_list_id}"),
    "create_promoted_account": ("DELETE", "promoted_accounts/{promoted_account_id}"),
    "create_promoted_tweets": ("DELETE", "promoted_tweets/{promoted_tweet_id}"),
    "create_scheduled_promoted_tweet": ("DELETE", "scheduled_promoted_tweets/{scheduled_promoted_tweet_id}"),
    "list_targeting_criteria": ("POST", f"targeting_criteria?{_CRITERION}"),
}


def _connect(world: World, token: tuple[str, str] | None = None) -> AdsClient:
    """A client of the emulator of `world`; `token` takes the place of its own."""
    emulator = world.caller.emulator
    names = ("consumer_key", "consumer_secret", "access_token", "access_token_secret")
    values = {name: emulator.env[f"AUDIENCEKIT_{name.upper()}"] for name in names}
    values |= dict(zip(names[2:], token, strict=True)) if token else {}
    transport = HttpTransport(
        credentials=Credentials(**{name: Secret(text) for name, text in values.items()}),
        addresses=ServiceAddresses(
            SPEC, {name: getattr(emulator, name) for name in ("ads_url", "ads_sandbox_url", "base_url")}
        ),
        clock=ServiceClock(wall=emulator.clock.now),
    )
    return AdsClient(transport, account_id=emulator.account_id, clock=lambda: START)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared() -> AsyncIterator[World]:
    """A world for all calls that leave it good for the next."""
    async with open_world() as opened:
        yield opened


@each_case("row", ADS_ROWS)
async def test_calls_reach_the_state_and_come_back(shared: World, row: Endpoint) -> None:
    """Calls that change the state are seen in it, calls that ask change nothing; both answer with the state."""
    async with left_as_it_was(shared) as world:
        given = complete(world, row, *MORE.get(row.name, ()))
        await _prepare(world, row, given)
        before = snapshot(world.caller)
        async with _connect(world) as client:
            answer = await client.call(row.name, given, BODIES[row.name](world)[-1] if row.body else None)
        assert (snapshot(world.caller) != before) is (row.method != "GET" and row.name not in ASKED)
        assert answer.status == 200
        assert answer.data or answer.message or row.name in EMPTY
        _check_ids(row, given, answer.data)


async def _prepare(world: World, row: Endpoint, given: dict[str, str]) -> None:
    if row.name in FIRST:
        method, path = FIRST[row.name]
        reply = await world.caller.call(method, f"{world.caller.account}/{path.format_map(world.values)}")
        assert reply.status == 200
    if row.name == "remove_features":
        async with _connect(world) as client:
            await client.call("add_features", given)
    if row.method != "GET":
        # A changed object is then younger than before.
        await world.caller.move_clock(advance=1)


def _check_ids(row: Endpoint, given: dict[str, str], data: Any) -> None:
    """The answer is about the ids of the path."""
    name = row.path.rpartition("/")[2].strip("{}")
    if name in given and name.endswith("_id") and name != "user_id" and isinstance(data, dict):
        assert given[name] in data.values()


async def _request_token(world: World, client: AdsClient) -> None:
    answer = await client.call("oauth_request_token", {"oauth_callback": "oob"})
    assert answer.data["oauth_token"].unwrap() in world.caller.emulator.store.tokens.requests


async def _page(world: World, client: AdsClient, name: str, callback: str) -> tuple[Secret, Secret, str]:
    """A pending authorization that was approved on the page `name`: its pair, and where it led to or what it showed."""
    answer = await client.call("oauth_request_token", {"oauth_callback": callback})
    token, secret = answer.data["oauth_token"], answer.data["oauth_token_secret"]
    url = world.caller.emulator.base_url + client.link(name, {"oauth_token": token.unwrap()})
    async with aiohttp.ClientSession() as session:
        async with session.get(url, allow_redirects=False) as page:
            assert page.status in (200, 302)
        form = {"oauth_token": token.unwrap(), "decision": "approve"}
        url = world.caller.emulator.base_url + "/oauth/authorize"
        async with session.post(url, data=form, allow_redirects=False) as page:
            return token, secret, page.headers["Location"]


async def _authorize(world: World, client: AdsClient) -> None:
    token, _, location = await _page(world, client, "oauth_authorize", "http://127.0.0.1:1/")
    assert f"oauth_token={token.unwrap()}" in location


async def _authenticate(world: World, client: AdsClient) -> None:
    world.caller.emulator.store.tokens.logged_in = None
    token, _, _ = await _page(world, client, "oauth_authenticate", "http://127.0.0.1:1/")
    assert world.caller.emulator.store.tokens.requests[token.unwrap()].verifier


async def _log_in(world: World, client: AdsClient) -> tuple[str, str]:
    token, secret, location = await _page(world, client, "oauth_authorize", "http://127.0.0.1:1/")
    verifier = parse_qs(urlsplit(location).query)["oauth_verifier"][0]
    async with _connect(world, (token.unwrap(), secret.unwrap())) as pending:
        answer = await pending.call("oauth_access_token", {"oauth_verifier": verifier})
    return answer.data["oauth_token"].unwrap(), answer.data["oauth_token_secret"].unwrap()


async def _access_token(world: World, client: AdsClient) -> None:
    token, secret = await _log_in(world, client)
    assert world.caller.emulator.store.tokens.access[token] == secret


async def _invalidate_token(world: World, client: AdsClient) -> None:
    pair = await _log_in(world, client)
    async with _connect(world, pair) as other:
        await other.call("oauth_invalidate_token")
        assert pair[0] not in world.caller.emulator.store.tokens.access
        with pytest.raises(Unauthorized):
            await other.call("list_accounts")


async def _bearer(world: World, client: AdsClient) -> None:
    answer = await client.call("oauth2_token", {"grant_type": "client_credentials"})
    assert answer.data["access_token"].unwrap() == world.caller.emulator.store.tokens.bearer


async def _invalidate_bearer(world: World, client: AdsClient) -> None:
    await client.invalidate_bearer()
    assert world.caller.emulator.store.tokens.bearer is None


async def _posts(world: World, client: AdsClient) -> None:
    tweet = world.values["tweet_id"]
    answer = await client.call("get_posts", {"ids": [tweet], "tweet.fields": ["author_id"]})
    assert [(post["id"], post["author_id"]) for post in answer.data] == [(tweet, world.values["user_id"])]


async def _link(world: World, client: AdsClient) -> None:
    answer = await client.call("link_webhook_to_filtered_stream", {"webhook_id": "1234567890123456789"})
    assert answer.data == {"provisioned": True}


async def _subscribe(world: World, client: AdsClient) -> None:
    subscriptions = world.caller.emulator.store.activity.subscriptions
    before = len(subscriptions)
    await client.call("create_activity_subscription", {"direction": "sent"})
    assert [each.direction for each in subscriptions[before:]] == ["sent"]


async def _stream(world: World, client: AdsClient) -> None:
    activity = world.caller.emulator.store.activity
    await client.call("create_activity_subscription")
    reading = asyncio.create_task(client.call("open_activity_stream"))
    event = Event("profile.update.bio", world.caller.emulator.store.origin.user_id, {"bio": "words"}, START)
    while not activity._streams:
        await asyncio.sleep(0)
    assert activity.publish(event)
    activity.end_streams()
    assert "words" in str((await reading).data)


async def _replay(world: World, client: AdsClient) -> None:
    first, second = [await client.call("replay_webhook") for _ in range(2)]
    assert first.data["job_id"] != second.data["job_id"]


async def _change_rules(world: World, client: AdsClient) -> None:
    answer = await client.call("change_stream_rules", {"add": [{"value": "spring"}]})
    rules = world.caller.emulator.store.stream_rules.rules
    assert [rules[rule["id"]].value for rule in answer.data] == ["spring"]
    again = await client.call("change_stream_rules", {"add": [{"value": "spring"}]})
    assert [problem["title"] for problem in again.problems] == ["DuplicateRule"]
    await client.call("change_stream_rules", {"delete": {"values": ["spring"]}})
    assert answer.data[0]["id"] not in rules


async def _list_rules(world: World, client: AdsClient) -> None:
    await client.call("change_stream_rules", {"add": [{"value": "autumn"}]})
    assert [rule["value"] for rule in (await client.call("list_stream_rules")).data] == ["autumn"]


OTHERS: dict[str, Callable[[World, AdsClient], Awaitable[None]]] = {
    "oauth_request_token": _request_token,
    "oauth_authorize": _authorize,
    "oauth_authenticate": _authenticate,
    "oauth_access_token": _access_token,
    "oauth_invalidate_token": _invalidate_token,
    "oauth2_token": _bearer,
    "oauth2_invalidate_token": _invalidate_bearer,
    "get_posts": _posts,
    "link_webhook_to_filtered_stream": _link,
    "create_activity_subscription": _subscribe,
    "open_activity_stream": _stream,
    "replay_webhook": _replay,
    "list_stream_rules": _list_rules,
    "change_stream_rules": _change_rules,
}


@each_case("name", OTHERS)
async def test_authorization_and_the_data_api_too(shared: World, name: str) -> None:
    """Each in its own way."""
    async with _connect(shared) as client:
        await OTHERS[name](shared, client)


async def test_every_endpoint_is_called() -> None:
    """122 of 122, and those that the specification names."""
    assert {row.name for row in ADS_ROWS} | OTHERS.keys() == BY_NAME.keys()
    assert len(ADS_ROWS) + len(OTHERS) == len(ENDPOINTS) == 122 + 14
