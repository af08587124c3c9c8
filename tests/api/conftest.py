"""Loopback listeners that answer as a script says, invented credentials, and transports to them."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import aiohttp
import pytest

from audiencekit.api.hosts import ServiceAddresses
from audiencekit.api.oauth import Credentials, ServiceClock
from audiencekit.api.transport import HttpTransport, Timeouts
from audiencekit.emulator import Emulator, EmulatorOptions
from audiencekit.personal import Secret
from audiencekit.profile import SPEC
from audiencekit.settings import Settings, load_settings

NOW = 1_790_000_000.25

Script = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Listener:
    """A server on loopback. `requests` are (head, body) in order of arrival, `received` counts bytes."""

    def __init__(self, script: Script | None) -> None:
        self._script = script
        self.requests: list[tuple[str, bytes]] = []
        self.connections = 0
        self.open_now = 0
        self.most_open = 0
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def read_request(self, reader: asyncio.StreamReader) -> tuple[str, bytes]:
        """The next request of a connection, kept in `requests` as well."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("ascii")
        length = int(header(head, "content-length") or 0)
        request = head, await reader.readexactly(length)
        self.requests.append(request)
        return request

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open_now += 1
        self.most_open = max(self.most_open, self.open_now)
        try:
            if self._script is not None:
                await self._script(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self.open_now -= 1
            writer.close()


def header(head: str, name: str) -> str | None:
    """One header of a request as it arrived."""
    for line in head.split("\r\n")[1:]:
        key, _, value = line.partition(":")
        if key.lower() == name:
            return value.strip()
    return None


def http_answer(status: int = 200, body: bytes = b"{}", headers: Mapping[str, str] | None = None) -> bytes:
    """A whole answer as bytes; Content-Length is added unless given."""
    lines = {"Content-Length": str(len(body)), **(headers or {})}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status} Any\r\n{head}\r\n".encode() + body


@asynccontextmanager
async def _listening(script: Script | None, **options: Any) -> AsyncIterator[Listener]:
    listener = Listener(script)
    server = await asyncio.start_server(listener.serve, "127.0.0.1", 0, **options)
    listener.port = server.sockets[0].getsockname()[1]
    try:
        yield listener
    finally:
        server.close()


@pytest.fixture
def listening() -> Callable[..., Any]:
    """Opens a Listener: `async with listening(script) as listener`."""
    return _listening


@pytest.fixture
def answering() -> Callable[..., Any]:
    """Opens a Listener that reads every request whole and answers each with the next of the given bytes, then last."""

    @asynccontextmanager
    async def open_listener(*answers: bytes) -> AsyncIterator[Listener]:
        numbers = count()

        async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while True:
                await listener.read_request(reader)
                writer.write(answers[min(next(numbers), len(answers) - 1)])
                await writer.drain()

        async with _listening(script) as listener:
            yield listener

    return open_listener


@pytest.fixture
def answer_bytes() -> Callable[..., bytes]:
    """Builds a whole answer: status, body, headers."""
    return http_answer


@pytest.fixture
def read_header() -> Callable[[str, str], str | None]:
    """Finds a header in the head of a request."""
    return header


@pytest.fixture
def credentials() -> Credentials:
    """Invented, with characters that need escaping."""
    return Credentials(
        consumer_key=Secret("invented-key"),
        consumer_secret=Secret("invented consumer+secret"),
        access_token=Secret("1-invented-token"),
        access_token_secret=Secret("invented&token/secret"),
    )


@pytest.fixture
def make_transport(credentials: Credentials) -> Callable[..., HttpTransport]:
    """Builds a transport to a listener, with the clock standing still and nonces that count."""

    def make(listener: Listener, **options: Any) -> HttpTransport:
        numbers = count(1)
        addresses = options.pop("addresses", {"ads_url": listener.url})
        options = {
            "credentials": credentials,
            "addresses": ServiceAddresses(SPEC, addresses) if isinstance(addresses, dict) else addresses,
            "clock": ServiceClock(wall=lambda: NOW, elapsed=lambda: 0.0),
            "nonce": lambda: f"nonce{next(numbers)}",
            "timeouts": Timeouts(connect=60, read=60, total=60),
            **options,
        }
        return HttpTransport(**options)

    return make


@pytest.fixture(autouse=True)
def _no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)


@pytest.fixture
async def emulator() -> AsyncIterator[Any]:
    """A fresh one, by the real clock, by which the client signs."""
    async with Emulator(EmulatorOptions()) as running:
        yield running


class Person:
    """The person at the browser."""

    def __init__(self, emulator: Any, directory: Path) -> None:
        self.emulator, self._directory = emulator, directory
        self.pages: list[str] = []  # what came back from the callback

    def settings(self, *, without: str = "ACCESS_TOKEN", **more: str) -> Settings:
        """The environment of the emulator without its token, or whatever begins with `without`."""
        env = {name: text for name, text in self.emulator.env.items() if not name.startswith(f"AUDIENCEKIT_{without}")}
        return load_settings({**env, **more}, directory=self._directory, state_dir=self._directory / "state")

    async def decide(self, page: str, decision: str = "approve") -> str:
        """The answer of the page to the press of a button: where it leads to, or what it shows."""
        token = parse_qs(urlsplit(page).query)["oauth_token"][0]
        form = {"oauth_token": token, "decision": decision}
        async with aiohttp.ClientSession() as session:
            url = self.emulator.base_url + "/oauth/authorize"
            async with session.post(url, data=form, allow_redirects=False) as answer:
                return answer.headers.get("Location") or await answer.text()

    async def come_back(self, page: str, decision: str = "approve") -> None:
        """Presses the button, and follows the page to the program."""
        location = await self.decide(page, decision)
        async with aiohttp.ClientSession() as session, session.get(location) as answer:
            self.pages.append(await answer.text())

    async def read_pin(self, page: str) -> Secret:
        """Presses the button, and copies the number."""
        found = re.search(r"<code>(\d+)</code>", await self.decide(page))
        assert found is not None
        return Secret(found[1])


@pytest.fixture
def person(emulator: Any, tmp_path: Path) -> Person:
    """A user of the emulator, and an empty state directory."""
    return Person(emulator, tmp_path)
