"""Tokens, from the first request to their end, over the wire."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import pytest

from audiencekit.emulator.calls import Address
from audiencekit.emulator.routes import ROUTES
from audiencekit.emulator.routing import Credential
from tests.cases import each_case

# --- Tokens, from the first request to their end, over the wire ---

CALLBACK = "http://127.0.0.1:9/back?state=1"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


async def _signed(caller: Any, path: str, *, url: str = "", **changes: Any) -> Any:
    """A call to the base address, signed as `changes` say."""
    base = caller.emulator.base_url
    headers = caller.sign("POST", base + (url or path), **changes)
    return await caller.send("POST", path, base=base, headers=headers)


def _pairs(reply: Any) -> dict[str, str]:
    assert (reply.status, reply.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    return dict(parse_qsl(reply.content.decode(), strict_parsing=True))


async def _request_token(caller: Any, callback: str | None = CALLBACK, query: str = "") -> Any:
    path = "/oauth/request_token" + query
    return await _signed(caller, path, callback_uri=callback, resource_owner_key=None, resource_owner_secret=None)


async def _begin(caller: Any, callback: str = CALLBACK) -> tuple[str, str]:
    """A request token and its secret."""
    pairs = _pairs(await _request_token(caller, callback))
    return pairs["oauth_token"], pairs["oauth_token_secret"]


async def _decide(caller: Any, token: str, decision: str = "approve") -> Any:
    form = urlencode({"oauth_token": token, "decision": decision}).encode()
    return await caller.send("POST", "/oauth/authorize", base=caller.emulator.base_url, data=form, headers=FORM)


async def _exchange(caller: Any, token: str, secret: str, verifier: str | None) -> Any:
    keys = {"resource_owner_key": token, "resource_owner_secret": secret}
    return await _signed(caller, "/oauth/access_token", verifier=verifier, **keys)


async def _page(caller: Any, name: str, **query: str) -> Any:
    return await caller.send("GET", f"/oauth/{name}?{urlencode(query)}", base=caller.emulator.base_url)


async def _log_in(caller: Any) -> tuple[str, str]:
    """An access token and its secret, by way of the page."""
    token, secret = await _begin(caller)
    location = (await _decide(caller, token)).headers["Location"]
    pairs = _pairs(await _exchange(caller, token, secret, dict(parse_qsl(urlsplit(location).query))["oauth_verifier"]))
    return pairs["oauth_token"], pairs["oauth_token_secret"]


async def access_token(caller: Any, query: str) -> dict[str, str]:
    """Return oauthlib's credentials for an access token that was asked for with `query`."""
    pairs = _pairs(await _request_token(caller, CALLBACK, query))
    location = (await _decide(caller, pairs["oauth_token"])).headers["Location"]
    verifier = dict(parse_qsl(urlsplit(location).query))["oauth_verifier"]
    made = _pairs(await _exchange(caller, pairs["oauth_token"], pairs["oauth_token_secret"], verifier))
    return {"resource_owner_key": made["oauth_token"], "resource_owner_secret": made["oauth_token_secret"]}


async def test_three_legs_lead_to_a_token_that_works(caller: Any) -> None:
    """Request token, page, callback, access token, a call to the ads API."""
    pairs = _pairs(await _request_token(caller))
    assert list(pairs) == ["oauth_token", "oauth_token_secret", "oauth_callback_confirmed"]
    assert pairs["oauth_callback_confirmed"] == "true"
    token, secret = pairs["oauth_token"], pairs["oauth_token_secret"]
    page = await _page(caller, "authorize", oauth_token=token, screen_name='a"<b>')
    assert page.headers["Content-Type"].startswith("text/html")
    assert token in page.content.decode()
    assert "<b>" not in page.content.decode()
    approved = await _decide(caller, token)
    assert approved.status == 302
    location = urlsplit(approved.headers["Location"])
    query = dict(parse_qsl(location.query))
    assert (location.netloc, query["state"], query["oauth_token"]) == ("127.0.0.1:9", "1", token)
    access = _pairs(await _exchange(caller, token, secret, query["oauth_verifier"]))
    env = caller.emulator.env
    assert list(access) == ["oauth_token", "oauth_token_secret", "user_id", "screen_name"]
    assert access["user_id"] == env["AUDIENCEKIT_ACCESS_TOKEN"].partition("-")[0]
    assert access["oauth_token"] != env["AUDIENCEKIT_ACCESS_TOKEN"]
    keys = {"resource_owner_key": access["oauth_token"], "resource_owner_secret": access["oauth_token_secret"]}
    headers = caller.sign("GET", caller.emulator.ads_url + caller.account, **keys)
    assert (await caller.send("GET", caller.account, headers=headers)).status == 200


async def test_a_pin_is_shown_when_there_is_no_callback(caller: Any) -> None:
    """Seven digits; /oauth/authenticate is not for such an application."""
    token, secret = await _begin(caller, "oob")
    assert (await _page(caller, "authenticate", oauth_token=token)).status == 403
    page = (await _decide(caller, token)).content.decode()
    pin = re.search(r"<code>(\d{7})</code>", page)
    assert pin
    assert "oauth_token" in _pairs(await _exchange(caller, token, secret, pin[1]))


async def test_a_verifier_is_needed_and_good_once(caller: Any) -> None:
    """Without approval, without it, with a wrong one, and a second time."""
    token, secret = await _begin(caller)
    assert (await _exchange(caller, token, secret, "early")).codes == [32]
    verifier = dict(parse_qsl(urlsplit((await _decide(caller, token)).headers["Location"]).query))["oauth_verifier"]
    for wrong in (None, "wrong"):
        assert (await _exchange(caller, token, secret, wrong)).codes == [32]
    assert (await _exchange(caller, token, "wrong", verifier)).codes == [32]
    assert (await _exchange(caller, token, secret, verifier)).status == 200
    assert (await _exchange(caller, token, secret, verifier)).codes == [89]


async def test_a_verifier_can_stand_in_the_query(caller: Any) -> None:
    """The specification does not say where it goes."""
    token, secret = await _begin(caller)
    verifier = dict(parse_qsl(urlsplit((await _decide(caller, token)).headers["Location"]).query))["oauth_verifier"]
    keys = {"resource_owner_key": token, "resource_owner_secret": secret}
    assert (await _signed(caller, f"/oauth/access_token?oauth_verifier={verifier}", **keys)).status == 200


async def test_a_user_who_says_no_ends_the_authorization(caller: Any) -> None:
    """The application hears of it; the request token is worth nothing."""
    token, secret = await _begin(caller)
    denied = await _decide(caller, token, "deny")
    assert denied.headers["Location"] == f"{CALLBACK}&denied={token}"
    assert (await _exchange(caller, token, secret, "x")).codes == [89]
    pin_token, _ = await _begin(caller, "oob")
    assert (await _decide(caller, pin_token, "deny")).status == 200
    for name in ("authorize", "authenticate"):
        assert (await _page(caller, name, oauth_token=token)).status == 401
    assert (await _decide(caller, token)).status == 401
    assert (await _page(caller, "authorize")).status == 401


async def test_a_known_application_is_not_asked_about_again(caller: Any) -> None:
    """/oauth/authenticate goes straight back, unless `force_login`; /oauth/authorize always asks."""
    first, _ = await _begin(caller)
    assert (await _page(caller, "authenticate", oauth_token=first)).status == 200
    await _decide(caller, first)
    second, secret = await _begin(caller)
    assert (await _page(caller, "authorize", oauth_token=second)).status == 200
    assert (await _page(caller, "authenticate", oauth_token=second, force_login="true")).status == 200
    back = await _page(caller, "authenticate", oauth_token=second)
    verifier = dict(parse_qsl(urlsplit(back.headers["Location"]).query))["oauth_verifier"]
    assert (back.status, (await _exchange(caller, second, secret, verifier)).status) == (302, 200)


async def test_an_application_without_sign_in_is_asked_about_each_time(open_emulator: Any) -> None:
    """Its setting is off (specification part 0, section 4.3)."""
    async with open_emulator(sign_in=False) as caller:
        first, _ = await _begin(caller)
        await _decide(caller, first)
        second, _ = await _begin(caller)
        assert (await _page(caller, "authenticate", oauth_token=second)).status == 200


@each_case(
    "callback, status, code",
    [
        (None, 400, 38),
        ("https://example.com/", 403, 415),
        ("ftp://127.0.0.1/", 403, 415),
        ("http://127.0.0.1.example.com/", 403, 415),
        ("http://[", 403, 415),
        ("OOB", 403, 415),
    ],
)
async def test_callbacks_that_are_not_registered_are_refused(
    caller: Any, callback: str | None, status: int, code: int
) -> None:
    """A program on this host, or `oob`; always sent."""
    refused = await _request_token(caller, callback)
    assert (refused.status, refused.codes) == (status, [code])


@each_case("access, status", [("read", 200), ("write", 200), ("all", 400)])
async def test_an_access_type_is_one_of_two(caller: Any, access: str, status: int) -> None:
    """By the specification's name and by the public one."""
    for name in ("platform_auth_access_type", "x_auth_access_type"):
        assert (await _request_token(caller, query=f"?{name}={access}")).status == status


async def test_the_first_step_is_signed_by_the_application(caller: Any) -> None:
    """A wrong secret, no signature, a token where there is none, a signature that is used twice."""
    none: dict[str, Any] = {"resource_owner_key": None, "resource_owner_secret": None}
    path, base = "/oauth/request_token", caller.emulator.base_url
    assert (await _signed(caller, path, callback_uri="oob", client_secret="x", **none)).codes == [32]
    assert (await caller.send("POST", path, base=base)).codes == [215]
    assert (await _signed(caller, path, callback_uri="oob")).codes == [215]
    headers = caller.sign("POST", base + path, callback_uri="oob", **none)
    replies = [await caller.send("POST", path, base=base, headers=headers) for _ in range(2)]
    assert [reply.status for reply in replies] == [200, 401]


@each_case("suffix", ["", ".json"])
async def test_an_invalidated_token_is_refused(caller: Any, suffix: str) -> None:
    """401 with code 89 from then on; another token is not touched, and a new one can be had."""
    token, secret = await _log_in(caller)
    keys = {"resource_owner_key": token, "resource_owner_secret": secret}
    path = "/1.1/oauth/invalidate_token" + suffix
    reply = await _signed(caller, path, **keys)
    assert (reply.status, reply.body) == (200, {"access_token": token})
    assert (await _signed(caller, path, **keys)).codes == [89]
    headers = caller.sign("GET", caller.emulator.ads_url + caller.account, **keys)
    assert (await caller.send("GET", caller.account, headers=headers)).codes == [89]
    assert (await caller.call("GET", caller.account)).status == 200
    assert (await _log_in(caller))[0] != token


def _basic(caller: Any, **changes: str) -> dict[str, str]:
    env = {**caller.emulator.env, **changes}
    pair = ":".join(quote(env[f"AUDIENCEKIT_CONSUMER_{name}"]) for name in ("KEY", "SECRET"))
    return {**FORM, "Authorization": "Basic " + base64.b64encode(pair.encode()).decode()}


async def _bearer(caller: Any, headers: dict[str, str], data: bytes = b"grant_type=client_credentials") -> Any:
    return await caller.send("POST", "/oauth2/token", base=caller.emulator.base_url, data=data, headers=headers)


async def test_a_bearer_token_is_the_same_until_it_is_invalidated(caller: Any) -> None:
    """Only the token itself can be invalidated, once; the next one is another."""
    first = await _bearer(caller, _basic(caller))
    token = first.body["access_token"]
    assert first.body == {"token_type": "bearer", "access_token": token}
    assert (await _bearer(caller, _basic(caller))).body == first.body
    path = "/oauth2/invalidate_token?" + urlencode({"access_token": token})
    assert (await _signed(caller, "/oauth2/invalidate_token?access_token=other")).codes == [89]
    assert (await _signed(caller, "/oauth2/invalidate_token")).codes == [89]
    assert (await _signed(caller, path)).body == {"access_token": token}
    assert (await _signed(caller, path)).codes == [89]
    assert (await _bearer(caller, _basic(caller))).body["access_token"] != token


async def test_a_bearer_token_needs_the_applications_secret(caller: Any) -> None:
    """Another key or secret, no header, nonsense, a signature: 403 with code 99."""
    wrong = [
        _basic(caller, AUDIENCEKIT_CONSUMER_KEY="x"),
        _basic(caller, AUDIENCEKIT_CONSUMER_SECRET="x"),
        FORM,
        {**FORM, "Authorization": "Basic é"},
        {**FORM, "Authorization": "Basic /w=="},
        {**FORM, "Authorization": _basic(caller)["Authorization"].replace("Basic", "Bearer")},
        {**FORM, **caller.sign("POST", caller.emulator.base_url + "/oauth2/token")},
    ]
    for headers in wrong:
        refused = await _bearer(caller, headers)
        assert (refused.status, refused.codes) == (403, [99])


@each_case(
    "data, media_type",
    [
        (b"", FORM["Content-Type"]),
        (b"grant_type=password", FORM["Content-Type"]),
        (b"grant_type=client_credentials", "text/plain"),
    ],
)
async def test_a_bearer_token_has_one_grant_type(caller: Any, data: bytes, media_type: str) -> None:
    """In a form body, and no other."""
    refused = await _bearer(caller, {**_basic(caller), "Content-Type": media_type}, data)
    assert (refused.status, refused.codes) == (403, [170])


async def test_authorization_is_rate_limited(caller: Any) -> None:
    """Each endpoint by itself: 429 with code 88, and 403 with code 99 for bearer tokens, until the window is over."""
    assert (await _bearer(caller, _basic(caller))).headers["x-rate-limit-remaining"] == "299"
    caller.spend_quota(299)
    assert (await _bearer(caller, _basic(caller))).status == 200
    refused = await _bearer(caller, _basic(caller))
    assert (refused.status, refused.codes, refused.headers["x-rate-limit-remaining"]) == (403, [99], "0")
    assert (await _page(caller, "authorize", oauth_token="x")).headers["x-rate-limit-remaining"] == "299"
    caller.spend_quota(300)
    limited = await _page(caller, "authorize", oauth_token="x")
    assert (limited.status, limited.codes) == (429, [88])
    await caller.move_clock(advance=900)
    assert (await _bearer(caller, _basic(caller))).status == 200


@each_case("path", ["/oauth/authorize", "/oauth/request_token", "/oauth2/token"])
async def test_authorization_is_at_the_base_address(caller: Any, path: str) -> None:
    """And nowhere else."""
    for base in (caller.emulator.ads_url, caller.emulator.ads_sandbox_url):
        assert (await caller.send("POST", path, base=base)).status == 404


async def test_tokens_survive_a_restart(open_emulator: Any, tmp_path: Path) -> None:
    """Access tokens, pending and invalidated ones, and the bearer token; later ones are others than before."""
    keys = [{}, {}]
    async with open_emulator(state=tmp_path / "state") as caller:
        for each in keys:
            each["resource_owner_key"], each["resource_owner_secret"] = await _log_in(caller)
        await _signed(caller, "/1.1/oauth/invalidate_token", **keys[0])
        pending, secret = await _begin(caller)
        known, _ = await _begin(caller)
        await _page(caller, "authenticate", oauth_token=known)
        bearer = (await _bearer(caller, _basic(caller))).body
    async with open_emulator(state=tmp_path / "state") as caller:
        statuses = []
        for each in keys:
            headers = caller.sign("GET", caller.emulator.ads_url + caller.account, **each)
            statuses.append((await caller.send("GET", caller.account, headers=headers)).status)
        assert statuses == [401, 200]
        assert (await _bearer(caller, _basic(caller))).body == bearer
        location = (await _decide(caller, pending)).headers["Location"]
        verifier = dict(parse_qsl(urlsplit(location).query))["oauth_verifier"]
        access = _pairs(await _exchange(caller, pending, secret, verifier))
        assert access["oauth_token"] not in [each["resource_owner_key"] for each in keys]
        assert (await _page(caller, "authorize", oauth_token=known)).status == 401


PAGES = [("GET", "authorize"), ("GET", "authenticate"), ("POST", "authorize")]


@each_case("method, name", PAGES)
async def test_pages_are_for_browsers(caller: Any, method: str, name: str) -> None:
    """None of the headers of data: with them a browser keeps the page as a file instead of showing it."""
    token, _ = await _begin(caller)
    asked = {"oauth_token": token, "decision": "deny"}
    for given in (asked, {"oauth_token": "none"}):
        if method == "GET":
            reply = await _page(caller, name, **given)
        else:
            data = urlencode(given).encode()
            base = caller.emulator.base_url
            reply = await caller.send(method, f"/oauth/{name}", base=base, data=data, headers=FORM)
        assert reply.headers["Content-Type"].startswith("text/html")
        assert not {"content-disposition", "x-access-level", "x-current-api-version"} & set(
            map(str.lower, reply.headers)
        )


@each_case("where", ["query", "header"])
@each_case("bad", ["\r\nSet-Cookie: a=b", "\n", "\r", "\0", " ", "\t", "é", "\u2028"])
async def test_a_callback_is_an_address_and_nothing_more(caller: Any, bad: str, where: str) -> None:
    """Refused at the first step: what it says becomes a header of the answer to a browser."""
    callback = f"http://127.0.0.1:9/back{bad}"
    query = f"?{urlencode({'oauth_callback': callback})}" if where == "query" else ""
    reply = await _request_token(caller, None if query else callback, query)
    assert (reply.status, reply.body["errors"][0]["code"]) == (400, 44)


# --- The rights of an access token: those that were asked for when its authorization began ---

# Nothing of the user's is changed by these, although their method is POST: a token is ended, an estimate is made.
ENDS = {"/1.1/oauth/invalidate_token", "/1.1/oauth/invalidate_token.json", "/oauth2/invalidate_token"}
ESTIMATE = "/12/accounts/{account_id}/audience_estimate"

Answer = tuple[int, str]


@pytest.mark.parametrize("name", ["platform_auth_access_type", "x_auth_access_type"])
@pytest.mark.parametrize("access", ["read", "write"])
async def test_a_token_may_do_what_was_asked_for(caller: Any, name: str, access: str) -> None:
    """One that may only read is refused what writes, and says so in its answers; it can be ended all the same."""
    keys = await access_token(caller, f"?{name}={access}")

    async def call(method: str, path: str, base: str = "") -> Any:
        base = base or caller.emulator.ads_url
        return await caller.send(method, path, base=base, headers=caller.sign(method, base + path, **keys))

    level = {"read": "read", "write": "read-write"}[access]
    listed = await call("GET", caller.audiences)
    assert (listed.status, listed.headers["x-access-level"]) == (200, level)
    one = f"{caller.audiences}/{caller.emulator.audience_id}"
    for method, path in (("POST", f"{caller.audiences}?name=x"), ("PUT", f"{one}?name=y"), ("DELETE", one)):
        reply = await call(method, path)
        if access == "write":
            assert reply.status in (200, 201)
            continue
        code = reply.body["errors"][0]["code"]
        assert (reply.status, code) == (403, "INSUFFICIENT_USER_AUTHORIZED_PERMISSION")
        assert reply.headers["x-access-level"] == "read"
    assert (await call("POST", "/1.1/oauth/invalidate_token", caller.emulator.base_url)).status == 200
    assert (await call("GET", caller.audiences)).status == 401


def _endpoints() -> Iterator[tuple[str, str, Address]]:
    """Method, path and address of all that take the token of a user; the ends of tokens are tried above."""
    rows = [route for route in ROUTES if route.credential is Credential.USER]
    assert {route.path for route in rows} >= {*ENDS, ESTIMATE}
    return ((route.method, route.path, min(route.addresses)) for route in rows if route.path not in ENDS)


async def _answers(caller: Any, keys: dict[str, str], *, writing: bool) -> dict[tuple[str, str], Answer]:
    """The status, and the level of access that is named, of every endpoint that writes, or of every other."""
    emulator = caller.emulator
    bases = {Address.ADS: emulator.ads_url, Address.SANDBOX: emulator.ads_sandbox_url, Address.BASE: emulator.base_url}
    answers = {}
    for method, pattern, address in _endpoints():
        if (method != "GET" and pattern != ESTIMATE) is not writing:
            continue
        known = pattern.replace("{account_id}", emulator.account_id).replace(
            "{custom_audience_id}", emulator.audience_id
        )
        path = re.sub(r"\{\w+\}", "8", known)
        reply = await caller.send(
            method, path, base=bases[address], headers=caller.sign(method, bases[address] + path, **keys)
        )
        answers[method, pattern] = reply.status, reply.headers.get("x-access-level", "")
    return answers


async def test_a_token_that_reads_writes_nowhere(caller: Any) -> None:
    """Every endpoint that writes refuses it; every other answers it as it answers a token that may write."""
    keys = await access_token(caller, "?platform_auth_access_type=read")
    refused = await _answers(caller, keys, writing=True)
    assert len(refused) > 50
    assert {key: answer for key, answer in refused.items() if answer != (403, "read")} == {}
    reading, full = [await _answers(caller, each, writing=False) for each in (keys, {})]
    assert len(reading) > 50
    assert reading == {key: (status, "read") for key, (status, _) in full.items()}
    assert {level for _, level in full.values()} == {"read-write"}


async def test_it_stays_one_over_a_restart(open_emulator: Any, tmp_path: Path) -> None:
    """Of the emulator, with its state file."""
    async with open_emulator(state=tmp_path / "state") as caller:
        keys = await access_token(caller, "?platform_auth_access_type=read")
    async with open_emulator(state=tmp_path / "state") as caller:
        path = f"{caller.audiences}?name=x"
        headers = caller.sign("POST", caller.emulator.ads_url + path, **keys)
        assert (await caller.send("POST", path, headers=headers)).status == 403
