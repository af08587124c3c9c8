"""A running emulator with a clock of its own, and a client that signs with oauthlib: the independent signer."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import aiohttp
import pytest
from multidict import CIMultiDictProxy
from oauthlib.oauth1 import Client  # type: ignore[import-untyped]
from yarl import URL

from audiencekit.emulator import Emulator, EmulatorOptions

START = 1_800_000_000.25  # 2027-01-15T08:00:00Z and a quarter of a second


@dataclass(frozen=True)
class Reply:
    """The answer to one call."""

    status: int
    headers: CIMultiDictProxy[str]
    content: bytes

    @property
    def body(self) -> Any:
        """The JSON of the answer."""
        return json.loads(self.content)

    @property
    def codes(self) -> list[Any]:
        """The codes under `errors`."""
        return [error["code"] for error in self.body["errors"]]


class Caller:
    """Signs calls as the application and user of one emulator, by its own clock."""

    def __init__(self, emulator: Emulator, session: aiohttp.ClientSession) -> None:
        self.emulator, self.session = emulator, session
        self.account = f"/12/accounts/{emulator.account_id}"
        self.audiences = f"{self.account}/custom_audiences"
        self.users = f"{self.audiences}/{emulator.audience_id}/users"

    def sign(self, method: str, url: str, **changes: Any) -> dict[str, str]:
        """The Authorization header of a call; `changes` go to oauthlib."""
        env = self.emulator.env
        settings: dict[str, Any] = {
            "client_secret": env["AUDIENCEKIT_CONSUMER_SECRET"],
            "resource_owner_key": env["AUDIENCEKIT_ACCESS_TOKEN"],
            "resource_owner_secret": env["AUDIENCEKIT_ACCESS_TOKEN_SECRET"],
            "timestamp": str(int(self.emulator.clock.now())),
            **changes,
        }
        key = settings.pop("client_key", env["AUDIENCEKIT_CONSUMER_KEY"])
        return dict(Client(key, **settings).sign(url, method)[1])

    async def send(
        self,
        method: str,
        path: str,
        *,
        base: str = "",
        data: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """An unsigned call."""
        # aiohttp warns of large bodies that are not files.
        data = io.BytesIO(data) if isinstance(data, bytes) else data
        url = URL((base or self.emulator.ads_url) + path, encoded=True)
        async with self.session.request(method, url, data=data, headers=headers, allow_redirects=False) as answer:
            return Reply(answer.status, answer.headers, await answer.read())

    async def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        base: str = "",
        data: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """A signed call."""
        path = f"{path}?{urlencode(query)}" if query else path
        signed = self.sign(method, (base or self.emulator.ads_url) + path)
        return await self.send(method, path, base=base, data=data, headers={**signed, **(headers or {})})

    async def upload(self, body: Any, *, path: str = "", media_type: str = "application/json") -> Reply:
        """A signed users request; `body` is JSON to be written, or bytes as they are."""
        data = body if isinstance(body, bytes) else json.dumps(body, separators=(",", ":")).encode()
        return await self.call("POST", path or self.users, data=data, headers={"Content-Type": media_type})

    async def log(self) -> list[Any]:
        """The operations that were applied."""
        reply = await self.send("GET", "/__log")
        return [json.loads(line) for line in reply.content.splitlines()]

    async def members(self, audience_id: str = "") -> list[Any]:
        """The members of a list, in a fixed order, after a check of their count."""
        reply = await self.send("GET", f"/__members/{audience_id or self.emulator.audience_id}")
        assert reply.body["count"] == len(reply.body["members"])
        return sorted(reply.body["members"], key=json.dumps)

    def spend_quota(self, requests: int) -> None:
        """Count so many requests in each window that is open."""
        windows = self.emulator._request_handler._authenticator._rate_limits._open
        windows.update({key: (opened, requests) for key, (opened, _) in windows.items()})

    async def move_clock(self, **order: float) -> Reply:
        """Turns the clock."""
        return await self.send("POST", "/__clock", data=json.dumps(order).encode())


Opener = Callable[..., AbstractAsyncContextManager[Caller]]


@pytest.fixture
def open_emulator() -> Opener:
    """Starts an emulator whose clock stands still, with options of the test's choice."""

    @asynccontextmanager
    async def start(**options: Any) -> AsyncIterator[Caller]:
        settings = EmulatorOptions(**{"clock": lambda: START, **options})
        async with Emulator(settings) as emulator, aiohttp.ClientSession() as session:
            yield Caller(emulator, session)

    return start


@pytest.fixture
async def caller(open_emulator: Opener) -> AsyncIterator[Caller]:
    """A client of a fresh emulator."""
    async with open_emulator() as running:
        yield running
