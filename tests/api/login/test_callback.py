"""The server that the browser comes back to, over real sockets."""

from __future__ import annotations

import asyncio
import contextlib
import re
from urllib.parse import urlsplit

import pytest

from audiencekit.api.login.callback import Callback
from audiencekit.errors import CredentialsRefused, InputOutputFailed
from audiencekit.limits import MAX_CALLBACK_BYTES
from audiencekit.personal import Secret

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


@pytest.mark.parametrize(
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
    ids=[
        "method",
        "path",
        "token",
        "not-ascii",
        "empty",
        "missing",
        "denied",
        "no-state",
        "empty-state",
        "longer-state",
        "other-state",
        "two-states",
        "two-verifiers",
        "denied-without-state",
        "address",
        "root",
        "nothing",
        "many",
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


@pytest.mark.parametrize("request_", [b"", b"GET", b"a" * (MAX_CALLBACK_BYTES + 1)], ids=["none", "half", "endless"])
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
