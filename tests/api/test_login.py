"""The server that the browser comes back to, over real sockets."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pytest

from audiencekit.api.login import (
    OUT_OF_BAND,
    Callback,
    application_of,
    begin_authorization,
    finish,
    log_in,
    log_out,
    who_am_i,
)
from audiencekit.api.opening import open_client
from audiencekit.errors import CredentialsRefused, InputOutputFailed, RequestRefused, Unauthorized, UsageError
from audiencekit.limits import MAX_CALLBACK_BYTES
from audiencekit.personal import Secret
from tests.api.conftest import Person
from tests.cases import each_case

# --- The server that the browser comes back to, over real sockets ---

TOKEN = Secret("request-token-canary")
GOOD = f"GET /callback?state=STATE&oauth_token={TOKEN.unwrap()}&oauth_verifier=v-canary HTTP/1.1\r\nHost: a\r\n\r\n"


async def _ask(callback: Callback, request: str | bytes) -> str:
    """Return what comes back until the server closes; `STATE` in the request stands for that of the callback."""
    address = urlsplit(callback.url.unwrap())
    reader, writer = await asyncio.open_connection("127.0.0.1", address.port)
    state = address.query.removeprefix("state=")
    writer.write(request if isinstance(request, bytes) else request.replace("STATE", state).encode())
    if isinstance(request, bytes):
        writer.write_eof()
    answer = await reader.read()
    writer.close()
    return answer.decode()


async def test_the_answer_is_taken_and_not_shown() -> None:
    """The page holds neither the token nor the verifier, and is not kept by the browser."""
    async with Callback(timeout_seconds=10) as callback:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/callback\?state=[\w-]{43}", callback.url.unwrap())
        assert "state" not in repr(callback.url)
        callback.expect(TOKEN)
        page = await _ask(callback, GOOD)
        verifier = await callback.receive()
    assert verifier == Secret("v-canary")
    assert page.startswith("HTTP/1.1 200 OK\r\n")
    assert "Cache-Control: no-store" in page
    assert "Referrer-Policy: no-referrer" in page
    assert "canary" not in page


@each_case(
    "request_",
    [
        GOOD.replace("GET", "POST"),
        GOOD.replace("/callback", "/favicon.ico"),
        GOOD.replace("request-token-canary", "another"),
        GOOD.replace("request-token-canary", "ü"),
        GOOD.replace("oauth_verifier=v-canary", "oauth_verifier="),
        GOOD.replace("&oauth_verifier=v-canary", ""),
        GOOD.replace("oauth_token=request-token-canary", "denied=another"),
        GOOD.replace("state=STATE&", ""),
        GOOD.replace("state=STATE", "state="),
        GOOD.replace("state=STATE", "state=STATE-"),
        GOOD.replace("state=STATE", "state=ü"),
        GOOD.replace("state=STATE", "state=another&state=STATE"),
        GOOD.replace("oauth_verifier=v-canary", "oauth_verifier=v-canary&oauth_verifier=other"),
        f"GET /callback?denied={TOKEN.unwrap()} HTTP/1.1\r\n\r\n",
        GOOD.replace("/callback?", "//[callback?"),
        "GET / HTTP/1.1\r\n\r\n",
        "\r\n\r\n",
        "GET /callback?" + "a=1&" * 50 + " HTTP/1.1\r\n\r\n",
    ],
)
async def test_everything_else_is_not_found(request_: str) -> None:
    """And the answer can still come."""
    async with Callback(timeout_seconds=10) as callback:
        callback.expect(TOKEN)
        page = await _ask(callback, request_)
        assert page.startswith("HTTP/1.1 404 ")
        assert "canary" not in page
        await _ask(callback, GOOD)
        assert await callback.receive() == Secret("v-canary")


@each_case("request_", [b"", b"GET", b"a" * (MAX_CALLBACK_BYTES + 1)])
async def test_a_caller_that_is_no_browser_is_left(request_: bytes) -> None:
    """Without a word."""
    async with Callback(timeout_seconds=10) as callback:
        callback.expect(TOKEN)
        with contextlib.suppress(ConnectionError):
            assert await _ask(callback, request_) == ""
        await _ask(callback, GOOD)
        assert await callback.receive() == Secret("v-canary")


async def test_nothing_is_taken_before_it_is_expected() -> None:
    """Nor is the first answer overruled by a second."""
    async with Callback(timeout_seconds=10) as callback:
        assert (await _ask(callback, GOOD)).startswith("HTTP/1.1 404 ")
        callback.expect(TOKEN)
        await _ask(callback, GOOD)
        await _ask(callback, GOOD.replace("v-canary", "later"))
        assert await callback.receive() == Secret("v-canary")


async def test_a_no_is_an_answer() -> None:
    """As the service tells it: with the token that was denied."""
    async with Callback(timeout_seconds=10) as callback:
        callback.expect(TOKEN)
        await _ask(callback, f"GET /callback?state=STATE&denied={TOKEN.unwrap()} HTTP/1.1\r\n\r\n")
        with pytest.raises(CredentialsRefused, match="access was not given"):
            await callback.receive()


async def test_a_port_is_taken_once() -> None:
    """The failure says what to do; the port is free again afterwards."""
    async with Callback() as first:
        port = urlsplit(first.url.unwrap()).port
        assert port is not None
        with pytest.raises(InputOutputFailed, match=f"port {port}") as caught:
            async with Callback(port=port):
                pass
        assert "`pin=True`" in caught.value.hint
    async with Callback(port=port) as again:
        assert again.url.unwrap().startswith(f"http://127.0.0.1:{port}/callback?")
        assert again.url != first.url


# --- Logging in and out, against the emulator over sockets ---


async def _log_in(person: Person, decision: str = "approve", **options: Any) -> Any:
    """By a browser that comes back."""
    presses: list[asyncio.Task[None]] = []

    def show(page: str) -> None:
        presses.append(asyncio.create_task(person.come_back(page, decision)))

    settings = options.pop("settings", None) or person.settings()
    try:
        return await log_in(settings, show=show, **options)
    finally:
        await asyncio.gather(*presses)


def _file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "credentials.json"


async def test_a_browser_brings_a_token_that_works(person: Person, tmp_path: Path) -> None:
    """The token is readable by its owner only, the settings find it, and no page shows it."""
    done = await _log_in(person)
    assert (done.screen_name, done.kept_in, done.is_overruled) == ("local_user", "file", False)
    assert stat.S_IMODE(_file(tmp_path).stat().st_mode) == 0o600
    token = person.settings().require_secrets()["access_token"]
    assert token.unwrap() in person.emulator.store.tokens.access
    assert token.unwrap() != person.emulator.env["AUDIENCEKIT_ACCESS_TOKEN"]
    (page,) = person.pages
    assert "You are logged in. You can close this tab." in page
    assert not any(secret.unwrap() in page for secret in person.settings().require_secrets().values())
    async with open_client(person.settings()) as client:
        assert (await client.get_account()).data["id"] == person.emulator.account_id


async def test_a_pin_does_as_well(person: Person) -> None:
    """For a browser that is on another machine."""
    settings = person.settings()
    pending = await begin_authorization(settings, application_of(settings.secrets), OUT_OF_BAND)
    pin = await person.read_pin(pending.page(person.emulator.base_url))
    grant = await finish(settings, pending, pin)
    assert grant.credentials.access_token.unwrap() in person.emulator.store.tokens.access
    assert pin.unwrap() not in repr((pending, grant))


async def test_a_wrong_pin_is_refused_and_nothing_is_kept(person: Person, tmp_path: Path) -> None:
    """The PIN is not repeated."""
    with pytest.raises(CredentialsRefused, match="no token") as caught:
        await log_in(person.settings(), show=lambda page: None, ask_pin=lambda: Secret("0000000-canary"))
    assert "canary" not in str(caught.value)
    assert caught.value.__context__ is None
    assert not _file(tmp_path).exists()


async def test_a_user_who_says_no_is_not_logged_in(person: Person, tmp_path: Path) -> None:
    """Nor asked for anything more."""
    with pytest.raises(CredentialsRefused, match="access was not given"):
        await _log_in(person, "deny")
    assert "Access was not given. You can close this tab." in person.pages[0]
    assert not _file(tmp_path).exists()


async def test_login_does_not_wait_for_ever(person: Person) -> None:
    """The time is an argument."""
    with pytest.raises(CredentialsRefused, match="access was not allowed within 0 seconds"):
        await log_in(person.settings(), show=lambda page: None, callback=Callback(timeout_seconds=0))


async def test_an_application_is_needed(person: Person) -> None:
    """The error names the missing variables; without a base address there is no service to ask either."""
    with pytest.raises(CredentialsRefused, match="AUDIENCEKIT_CONSUMER_SECRET"):
        await log_in(person.settings(without="CONSUMER_SECRET"), show=lambda page: None)
    with pytest.raises(UsageError, match="base address"):
        await log_in(replace(person.settings(), base_url=None), show=lambda page: None)


async def test_a_wrong_application_is_refused(person: Person) -> None:
    """By the service, at the first leg."""
    with pytest.raises(Unauthorized):
        await log_in(person.settings(AUDIENCEKIT_CONSUMER_SECRET="invented"), show=lambda page: None)


async def test_a_typed_application_is_kept_with_its_token(person: Person) -> None:
    """And serves the next login, which keeps it too; logging out removes it."""
    env = person.emulator.env
    pair = (Secret(env["AUDIENCEKIT_CONSUMER_KEY"]), Secret(env["AUDIENCEKIT_CONSUMER_SECRET"]))

    def nothing() -> Any:
        return replace(person.settings(), secrets={})

    await _log_in(person, settings=nothing(), application=pair)
    for _ in range(2):
        assert nothing().require_secrets()["consumer_secret"] == pair[1]
        assert nothing().find_credentials().origins == {"application": "file", "token": "file"}
        await _log_in(person, settings=nothing())
    assert (await log_out(nothing())).invalidated is True
    assert nothing().find_credentials().secrets == {}


async def test_a_secret_of_the_environment_is_not_copied(person: Person, tmp_path: Path) -> None:
    """Only the key stays with the token, to tell whose it is."""
    await _log_in(person)
    (entry,) = json.loads(_file(tmp_path).read_text()).values()
    assert sorted(entry) == ["access_token", "access_token_secret", "consumer_key", "screen_name", "user_id"]


async def test_a_token_is_of_one_application_and_one_service(person: Person) -> None:
    """With another one it counts as none; a token of the environment comes before it."""
    await _log_in(person)
    with pytest.raises(CredentialsRefused, match="ACCESS_TOKEN"):
        person.settings(AUDIENCEKIT_CONSUMER_KEY="another").require_secrets()
    with pytest.raises(CredentialsRefused, match="ACCESS_TOKEN"):
        replace(person.settings(), base_url="http://127.0.0.1:1").require_secrets()
    with pytest.raises(CredentialsRefused, match="ACCESS_TOKEN_SECRET"):
        person.settings(AUDIENCEKIT_ACCESS_TOKEN="half").require_secrets()
    whole = person.settings(without="NOTHING")
    assert whole.require_secrets()["access_token"].unwrap() == person.emulator.env["AUDIENCEKIT_ACCESS_TOKEN"]
    assert (await _log_in(person, settings=whole)).is_overruled


async def test_logging_out_ends_the_token(person: Person) -> None:
    """At the service and here; logging out again reports that no login was stored."""
    await _log_in(person)
    token = person.settings().require_secrets()["access_token"].unwrap()
    done = await log_out(person.settings())
    assert (done.removed_from, done.invalidated) == (("file",), True)
    assert token not in person.emulator.store.tokens.access
    assert person.settings().find_credentials().origins == {"application": "environment"}
    assert (await log_out(person.settings())).removed_from == ()


async def test_a_token_that_was_revoked_is_removed(person: Person) -> None:
    """There is nothing to end."""
    await _log_in(person)
    person.emulator.store.tokens.access.clear()
    done = await log_out(person.settings())
    assert (done.removed_from, done.invalidated, done.failure) == (("file",), False, "")


@each_case("change", [{"AUDIENCEKIT_CONSUMER_SECRET": "x"}, {"AUDIENCEKIT_CONSUMER_KEY": "another"}])
async def test_a_login_that_cannot_be_ended_is_removed_and_said(person: Person, change: dict[str, str]) -> None:
    """Whatever the reason: a wrong application here."""
    await _log_in(person)
    done = await log_out(person.settings(**change))
    assert (done.removed_from, done.invalidated) == (("file",), None)
    assert done.failure


async def test_logging_out_needs_no_service(person: Person, tmp_path: Path) -> None:
    """When it is away, the token is removed here, and the failure is told."""
    await _log_in(person)
    content = _file(tmp_path).read_text().replace(person.emulator.base_url, "http://127.0.0.1:1")
    _file(tmp_path).write_text(content)
    done = await log_out(replace(person.settings(), base_url="http://127.0.0.1:1"))
    assert (done.removed_from, done.invalidated) == (("file",), None)
    assert "127.0.0.1:1" in done.failure


async def test_the_identity_has_the_origin_and_the_owner_of_the_credentials(person: Person) -> None:
    """Where the credentials are from, and what the service says of their owner."""
    await _log_in(person)
    who = await who_am_i(person.settings())
    assert (who.application, who.token, who.screen_name) == ("environment", "file", "local_user")
    assert (who.profile, who.account_id) == ("spec", person.emulator.account_id)
    assert who.user_id == person.emulator.store.origin.user_id
    assert "ACCOUNT_ADMIN" in (who.permissions or ())
    assert who.accounts == (person.emulator.account_id,)
    elsewhere = await who_am_i(replace(person.settings(), account_id=None))
    assert (elsewhere.permissions, elsewhere.user_id) == (None, who.user_id)


async def test_the_bearer_token_ends_too(person: Person) -> None:
    """The next call gets another; one that was revoked elsewhere fails once."""
    tokens = person.emulator.store.tokens
    async with open_client(person.settings(without="NOTHING")) as client:
        await client.call("get_posts", {"ids": "1"})
        first = tokens.bearer
        await client.invalidate_bearer()
        assert tokens.bearer is None
        await client.call("get_posts", {"ids": "1"})
        assert tokens.bearer not in (None, first)
        tokens.bearer = None
        with pytest.raises(Unauthorized):
            await client.call("get_posts", {"ids": "1"})
        await client.call("get_posts", {"ids": "1"})


async def test_a_callback_that_is_not_registered_is_refused(person: Person) -> None:
    """By the service, before any page is shown."""
    settings = person.settings()
    with pytest.raises((RequestRefused, Unauthorized)):
        await begin_authorization(settings, application_of(settings.secrets), Secret("https://shop.example/back"))


@each_case("may_write", [True, False])
async def test_a_token_can_be_asked_for_that_only_reads(person: Person, may_write: bool) -> None:
    """The service refuses what writes with it."""
    await _log_in(person, may_write=may_write)
    async with open_client(person.settings()) as client:
        assert (await client.get_account()).data["id"] == person.emulator.account_id
        if may_write:
            await client.create_custom_audience(name="new")
        else:
            with pytest.raises(Unauthorized, match="INSUFFICIENT_USER_AUTHORIZED_PERMISSION") as caught:
                await client.create_custom_audience(name="new")
            assert "may only read" in caught.value.hint


async def test_the_wrong_account_is_not_kept(person: Person, tmp_path: Path) -> None:
    """Its token is ended at the service, so that it cannot be used again."""
    asked = []

    def confirm(grant: Any) -> bool:
        assert not _file(tmp_path).exists()
        asked.append((grant.screen_name, grant.credentials.access_token.unwrap()))
        return False

    with pytest.raises(CredentialsRefused, match="not the right account: nothing was kept, and its token was ended"):
        await _log_in(person, confirm=confirm)
    ((name, token),) = asked
    assert name == "local_user"
    assert token not in person.emulator.store.tokens.access
    assert not _file(tmp_path).exists()


async def test_a_login_left_before_the_answer_keeps_nothing(person: Person, tmp_path: Path) -> None:
    """As if the answer were no."""
    before = set(person.emulator.store.tokens.access)

    def confirm(grant: Any) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await _log_in(person, confirm=confirm)
    assert set(person.emulator.store.tokens.access) == before
    assert not _file(tmp_path).exists()


async def test_the_right_account_is_kept(person: Person, tmp_path: Path) -> None:
    """After it was said to be."""
    await _log_in(person, confirm=lambda grant: True)
    assert _file(tmp_path).exists()


async def test_knowing_the_page_is_not_enough_to_answer_it(person: Person, tmp_path: Path) -> None:
    """The request token alone completes nothing: another user of the machine may have seen it."""

    async def attack(page: str) -> None:
        token = page.partition("oauth_token=")[2]
        requests = list(person.emulator.store.tokens.requests.values())
        port = requests[-1].callback.partition("127.0.0.1:")[2].partition("/")[0]
        address = f"http://127.0.0.1:{port}/callback?oauth_token={token}&oauth_verifier=ATTACKER"
        async with aiohttp.ClientSession() as session:
            for guess in ("", "&state=", f"&state={token}", "&state=x&state=y"):
                async with session.get(address + guess) as answer:
                    assert answer.status == 404
        await person.come_back(page)

    tasks: list[asyncio.Task[None]] = []
    done = await log_in(person.settings(), show=lambda page: tasks.append(asyncio.create_task(attack(page))))
    await asyncio.gather(*tasks)
    assert done.screen_name == "local_user"
