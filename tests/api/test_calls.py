"""Paths: an id can never mean another path."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from audiencekit.api import calls
from audiencekit.api.calls import check_identifier, fill_path, find_endpoint, list_or_none
from audiencekit.api.catalogue import BY_NAME, ENDPOINTS
from audiencekit.api.client import AdsClient
from audiencekit.api.exchange import ApiRequest, ApiResponse
from audiencekit.errors import CredentialsRefused, MalformedAnswer, UsageError
from audiencekit.personal import Secret
from tests.cases import each_case

# --- Paths: an id can never mean another path ---

USERS = BY_NAME["add_custom_audience_users"]


@each_case(
    "version, path",
    [
        ("12", "/12/accounts/18ce54d4x5t/custom_audiences/1nmth/users"),
        ("13", "/13/accounts/18ce54d4x5t/custom_audiences/1nmth/users"),
    ],
)
def test_fill(version: str, path: str) -> None:
    """The version and both ids stand in their places (specification part 2, section 4.4)."""
    assert fill_path(USERS, version=version, account_id="18ce54d4x5t", custom_audience_id="1nmth") == path


@each_case(
    "identifier",
    [
        "",
        " ",
        "1nmth ",
        "1NMTH",
        "..",
        ".",
        "a/b",
        "a%2fb",
        "a?b",
        "a#b",
        "a\\b",
        "a\n",
        "\na",
        "{account_id}",
        "ä",
        "٣",
        "a" * 33,
        None,
        7,
        b"a",
        ["a"],
    ],
)
def test_an_invalid_id_is_refused(identifier: Any) -> None:
    """Anything but lower-case letters and digits is refused, and not repeated."""
    with pytest.raises(UsageError) as caught:
        fill_path(USERS, version="12", account_id="abc1", custom_audience_id=identifier)
    assert "custom_audience_id" in str(caught.value)
    with pytest.raises(UsageError):
        fill_path(USERS, version="12", account_id=identifier, custom_audience_id="abc1")


@each_case("version", ["", "v12", "12.0", "-1", "012", "12/../11", "١٢", "1234"])
def test_an_invalid_version_is_refused(version: str) -> None:
    """A version is a whole number of up to three digits."""
    with pytest.raises(UsageError):
        fill_path(USERS, version=version, account_id="abc1", custom_audience_id="abc1")


@given(st.text(max_size=40))
def test_any_accepted_id_is_one_segment(text: str) -> None:
    """An id that passes has no character with a meaning in a path."""
    try:
        check_identifier("custom_audience_id", text)
    except UsageError:
        return
    assert text.isascii()
    assert text.isalnum()


# --- The generic call: what goes out for each kind of endpoint, how its answer is read, and how pages are followed


class _Scripted:
    """A transport that answers from a list and keeps the requests."""

    def __init__(self, *documents: Any) -> None:
        self._documents = list(documents)
        self.requests: list[ApiRequest] = []

    async def exchange(self, request: ApiRequest) -> ApiResponse:
        self.requests.append(request)
        document = self._documents.pop(0)
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        return ApiResponse(status=200, body=body)


def _client(transport: Any, **options: Any) -> AdsClient:
    return AdsClient(transport, **{"account_id": "abc1", "clock": lambda: 1_790_000_000.0, **options})


async def test_answer_has_data_cursor_echo_and_total() -> None:
    """The same facts for every endpoint."""
    transport = _Scripted({"data": [1], "next_cursor": "c-2", "total_count": 7, "request": {"params": {}}})
    answer = await _client(transport).call("list_campaigns", {"count": 1, "with_draft": True, "q": None})
    assert (answer.data, answer.next_cursor, answer.total_count, answer.request) == ([1], "c-2", 7, {"params": {}})
    request = transport.requests[0]
    assert (request.method, request.path, request.base) == ("GET", "/12/accounts/abc1/campaigns", "ads_url")
    assert request.query == (("count", "1"), ("with_draft", "true"))


@each_case("name, base, version", [
    ("create_account", "ads_sandbox_url", "13"), ("list_recommendations", "ads_url", "5"),
    ("get_account", "ads_url", "13"),
])  # fmt: skip
async def test_sandbox_and_version(name: str, base: str, version: str) -> None:
    """Calls of the sandbox go to the sandbox only; a given version replaces 12 and no other."""
    transport = _Scripted({"data": {}})
    await _client(transport, version="13").call(name)
    assert transport.requests[0].base == base
    assert transport.requests[0].path.startswith(f"/{version}/accounts")


async def test_another_account_is_named_by_the_call() -> None:
    """The account of the client is the default; without either nothing is sent."""
    transport = _Scripted({"data": {}}, {"data": []})
    await _client(transport).call("get_account", {"account_id": "other2"})
    assert transport.requests[0].path == "/12/accounts/other2"
    with pytest.raises(CredentialsRefused):
        await _client(transport, account_id=None).call("get_account")
    assert len(transport.requests) == 1
    await _client(transport, account_id=None).call("list_accounts")
    assert transport.requests[1].path == "/12/accounts"


async def test_bearer_token_is_fetched_once() -> None:
    """By the key pair of the application; then every call of the v2 API carries it."""
    transport = _Scripted({"token_type": "bearer", "access_token": "AAAA%2F"}, {"data": []}, {"data": []})
    client = _client(transport)
    for _ in range(2):
        await client.call("get_posts", {"ids": "1", "tweet.fields": ["lang", "source"]})
    token, first, second = transport.requests
    assert (token.auth, token.path, token.form) == ("basic", "/oauth2/token", (("grant_type", "client_credentials"),))
    assert first.bearer == second.bearer == Secret("AAAA%2F")
    assert first.query == (("ids", "1"), ("tweet.fields", "lang,source"))
    assert "AAAA" not in repr(transport.requests)


async def test_v2_answers_may_have_problems_beside_data() -> None:
    """They are no failure there; without data, and for other endpoints, they are one."""
    problem = {"title": "Not Found Error", "status": 404}
    document = {"data": [{"id": "1"}], "includes": {"media": []}, "errors": [problem]}
    token = {"access_token": "t"}
    answer = await _client(_Scripted(token, document)).call("get_posts", {"ids": "1,2"})
    assert (answer.problems, answer.includes) == ([problem], {"media": []})
    with pytest.raises(MalformedAnswer):
        await _client(_Scripted(token, {"errors": [problem]})).call("get_posts", {"ids": "1,2"})
    with pytest.raises(MalformedAnswer):
        await _client(_Scripted(document)).call("list_campaigns")


async def test_credentials_are_answered_as_secrets() -> None:
    """Pairs and JSON alike; the callback goes in the header, the verifier in a form."""
    pairs = b"oauth_token=t-canary&oauth_token_secret=s-canary&oauth_callback_confirmed=true"
    transport = _Scripted(pairs, pairs.replace(b"oauth_callback_confirmed", b"user_id"), {"access_token": "t"})
    client = _client(transport)
    answer = await client.call("oauth_request_token", {"oauth_callback": "oob"})
    assert answer.data["oauth_token_secret"].unwrap() == "s-canary"
    assert answer.data["oauth_callback_confirmed"] == "true"
    await client.call("oauth_access_token", {"oauth_verifier": "v"})
    await client.call("oauth_invalidate_token")
    first, second, third = transport.requests
    assert (first.auth, first.oauth, first.query) == ("app", (("oauth_callback", "oob"),), ())
    assert (second.auth, second.form, second.path) == ("user", (("oauth_verifier", "v"),), "/oauth/access_token")
    assert (third.base, third.path) == ("base_url", "/1.1/oauth/invalidate_token")
    assert "canary" not in repr(answer)


async def test_stream_is_a_list_of_its_lines() -> None:
    """Empty lines keep it alive; a line that is no object is no answer."""
    lines = b'{"event":1}\r\n\r\n{"event":2}\r\n'
    transport = _Scripted({"access_token": "t"}, lines, b'{"event":1}\n[')
    client = _client(transport)
    assert (await client.call("open_activity_stream")).data == [{"event": 1}, {"event": 2}]
    with pytest.raises(MalformedAnswer):
        await client.call("open_activity_stream")


async def test_pages_for_a_browser_are_linked_not_called() -> None:
    """And only they."""
    client = _client(_Scripted())
    assert client.link("oauth_authorize", {"oauth_token": "a b"}) == "/oauth/authorize?oauth_token=a%20b"
    for name in ("oauth_authorize", "oauth_authenticate"):
        with pytest.raises(UsageError, match="browser"):
            await client.call(name, {"oauth_token": "t"})
    with pytest.raises(UsageError, match="no page for a browser"):
        client.link("list_campaigns", {})


async def test_draft_preview_answers_a_message() -> None:
    """In place of data (public service)."""
    answer = await _client(_Scripted({"message": "See"})).call("preview_draft_tweet", {"draft_tweet_id": 2**60})
    assert (answer.data, answer.message) == (None, "See")


async def test_items_run_over_all_pages() -> None:
    """The total is asked for once, since it does not go with a cursor."""
    transport = _Scripted({"data": [1, 2], "next_cursor": "c1"}, {"data": [], "next_cursor": "c2"}, {"data": [3]})
    items = _client(transport).items("list_campaigns", {"with_total_count": True})
    assert [item async for item in items] == [1, 2, 3]
    sent = [dict(request.query) for request in transport.requests]
    assert sent == [{"with_total_count": "true"}, {"cursor": "c1"}, {"cursor": "c2"}]


@each_case("cursor", ["a b", "a\r\nb", "a\u0000", "\ud800", "\u202e", "ä"])
async def test_a_cursor_is_visible_ascii(cursor: str) -> None:
    """It goes into an address; half a character would not even do that."""
    with pytest.raises(MalformedAnswer, match="cannot be followed"):
        _ = [page async for page in _client(_Scripted({"data": [], "next_cursor": cursor})).pages("list_campaigns")]


async def test_pages_that_never_end_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a bound on their number, for a service whose tokens are always new."""
    monkeypatch.setattr(calls, "MAX_PAGES", 3)
    transport = _Scripted(*({"data": [], "next_cursor": f"c{number}"} for number in range(9)))
    with pytest.raises(MalformedAnswer, match="more than 3 pages"):
        _ = [page async for page in _client(transport).pages("list_campaigns")]
    assert len(transport.requests) == 3


@each_case("document", [
    {"data": {}, "next_cursor": None}, {"data": [], "next_cursor": ""}, {"data": [], "next_cursor": 7},
    {"data": [], "next_cursor": "c" * 1025},
])  # fmt: skip
async def test_pages_that_cannot_be_followed(document: Any) -> None:
    """No list, or a token that is none."""
    with pytest.raises(MalformedAnswer):
        _ = [item async for item in _client(_Scripted(document)).items("list_campaigns")]


async def test_an_endpoint_without_pages_is_not_followed() -> None:
    """Nothing is sent."""
    for name in (row.name for row in ENDPOINTS if not row.is_paged):
        with pytest.raises(UsageError, match="pages"):
            _ = [page async for page in _client(_Scripted()).pages(name)]


def test_unknown_names_have_hints() -> None:
    """Names that are like it; the name itself is not repeated."""
    with pytest.raises(UsageError) as caught:
        find_endpoint("list_campaign")
    assert "list_campaigns" in caught.value.hint
    with pytest.raises(UsageError) as caught:
        find_endpoint("zebra@example.com")
    assert "zebra" not in str(caught.value) + caught.value.hint


def test_a_text_is_no_list() -> None:
    """It would be taken for its characters."""
    assert (list_or_none("ids", ["a"]), list_or_none("ids", ())) == (["a"], None)
    with pytest.raises(UsageError, match="ids is a list"):
        list_or_none("ids", "abc")
