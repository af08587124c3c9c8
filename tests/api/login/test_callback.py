"""The server that the browser comes back to, over real sockets."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from audiencekit.api.login.callback import Callback
from audiencekit.errors import CredentialsRefused, InputOutputFailed
from audiencekit.limits import MAX_CALLBACK_BYTES
from audiencekit.personal import Secret

TOKEN = Secret("request-token-canary")
GOOD = f"GET /callback?oauth_token={TOKEN.unwrap()}&oauth_verifier=v-canary HTTP/1.1\r\nHost: a\r\n\r\n"


async def _ask(callback: Callback, request: str | bytes) -> str:
    """What comes back until the server closes."""
    port = int(callback.url.split(":")[2].split("/")[0])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request if isinstance(request, bytes) else request.encode())
    if isinstance(request, bytes):
        writer.write_eof()
    answer = await reader.read()
    writer.close()
    return answer.decode()


async def test_the_answer_is_taken_and_not_shown() -> None:
    """The page holds neither the token nor the verifier, and is not kept by the browser."""
    async with Callback() as callback:
        assert callback.url.startswith("http://127.0.0.1:")
        callback.expect(TOKEN)
        page = await _ask(callback, GOOD)
        verifier = await callback.receive(timeout_seconds=10)
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
        GOOD.replace("/callback?", "//[callback?"),
        "GET / HTTP/1.1\r\n\r\n",
        "\r\n\r\n",
        "GET /callback?" + "a=1&" * 50 + " HTTP/1.1\r\n\r\n",
    ],
    ids=["method", "path", "token", "not-ascii", "empty", "missing", "denied", "address", "root", "nothing", "many"],
)
async def test_everything_else_is_not_found(request_: str) -> None:
    """And the answer can still come."""
    async with Callback() as callback:
        callback.expect(TOKEN)
        page = await _ask(callback, request_)
        assert page.startswith("HTTP/1.1 404 ")
        assert "canary" not in page
        await _ask(callback, GOOD)
        assert await callback.receive(timeout_seconds=10) == Secret("v-canary")


@pytest.mark.parametrize("request_", [b"", b"GET", b"a" * (MAX_CALLBACK_BYTES + 1)], ids=["none", "half", "endless"])
async def test_who_is_no_browser_is_left(request_: bytes) -> None:
    """Without a word."""
    async with Callback() as callback:
        callback.expect(TOKEN)
        with contextlib.suppress(ConnectionError):
            assert await _ask(callback, request_) == ""
        await _ask(callback, GOOD)
        assert await callback.receive(timeout_seconds=10) == Secret("v-canary")


async def test_nothing_is_taken_before_it_is_expected() -> None:
    """Nor is the first answer overruled by a second."""
    async with Callback() as callback:
        assert (await _ask(callback, GOOD)).startswith("HTTP/1.1 404 ")
        callback.expect(TOKEN)
        await _ask(callback, GOOD)
        await _ask(callback, GOOD.replace("v-canary", "later"))
        assert await callback.receive(timeout_seconds=10) == Secret("v-canary")


async def test_a_no_is_an_answer() -> None:
    """As the service tells it: with the token that was denied."""
    async with Callback() as callback:
        callback.expect(TOKEN)
        await _ask(callback, f"GET /callback?denied={TOKEN.unwrap()} HTTP/1.1\r\n\r\n")
        with pytest.raises(CredentialsRefused, match="access was not given"):
            await callback.receive(timeout_seconds=10)


async def test_a_port_is_taken_once() -> None:
    """The failure says what to do; the port is free again afterwards."""
    async with Callback() as first:
        port = int(first.url.split(":")[2].split("/")[0])
        with pytest.raises(InputOutputFailed, match=f"port {port}") as caught:
            async with Callback(port=port):
                pass
        assert "--pin" in caught.value.hint
    async with Callback(port=port) as again:
        assert again.url == f"http://127.0.0.1:{port}/callback"
