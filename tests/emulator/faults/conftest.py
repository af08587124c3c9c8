"""An emulator with faults, and a client that reads what comes over the wire byte by byte."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

from audiencekit.emulator.faults.orders import read_faults
from tests.moments import PATIENCE_SECONDS

BODY = [
    {"operation_type": "Update", "params": {"users": [{"email": ["a1" * 32]}, {"email": ["b2" * 32]}]}},
    {"operation_type": "Update", "params": {"users": [{"email": ["c3" * 32]}]}},
]


class Bench:
    """Calls an emulator whose faults are set at the third address, which no fault of connections reaches."""

    def __init__(self, caller: Any) -> None:
        self.caller, self.emulator = caller, caller.emulator

    async def door(self, method: str = "GET", order: Any = None) -> Any:
        """Return the answer of `/__faults`; it must not be a refusal."""
        data = None if order is None else json.dumps(order).encode()
        reply = await self.caller.send(method, "/__faults", base=self.emulator.base_url, data=data)
        assert reply.status == 200, reply.content
        return reply.body

    async def order(self, number: int, **more: Any) -> Any:
        """Adds one fault."""
        return await self.door("POST", {"fault": number, **more})

    async def fired(self) -> list[tuple[int, str, int | None, bool]]:
        """Return the faults that struck."""
        shown = (await self.door())["fired"]
        return [(each["fault"], each["where"], each["request"], each["applied"]) for each in shown]

    async def upload(self, body: Any = None) -> Any:
        """Status and answer of a users request."""
        return await self.caller.upload(BODY if body is None else body)

    async def log(self) -> list[Any]:
        """The operations that were applied."""
        reply = await self.caller.send("GET", "/__log", base=self.emulator.base_url)
        return [json.loads(line) for line in reply.content.splitlines()]

    def request(self, body: Any = None, *, url: str = "", **headers: str) -> bytes:
        """The bytes of a signed users request."""
        url = url or self.emulator.ads_url
        content = json.dumps(BODY if body is None else body).encode()
        fields = {
            "Host": urlsplit(url).netloc,
            "Content-Type": "application/json",
            "Content-Length": str(len(content)),
            **self.caller.sign("POST", url + self.caller.users),
            **headers,
        }
        lines = [f"POST {self.caller.users} HTTP/1.1", *(f"{name}: {text}" for name, text in fields.items())]
        return "\r\n".join([*lines, "", ""]).encode() + content

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A plain connection to the ads address."""
        address = urlsplit(self.emulator.ads_url)
        return await asyncio.open_connection(address.hostname, address.port, limit=2**24)

    async def exchange(self, *requests: bytes) -> bytes:
        """Everything that comes back on one connection until it is closed. A reset raises ConnectionResetError."""
        reader, writer = await self.connect()
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                for request in requests:
                    writer.write(request)
                return await reader.read()
        finally:
            writer.close()


BenchOpener = Callable[..., AbstractAsyncContextManager[Bench]]


@pytest.fixture
def open_bench(open_emulator: Any) -> BenchOpener:
    """Starts an emulator with faults, its clock at a standstill."""

    @asynccontextmanager
    async def start(*faults: Any, **options: Any) -> AsyncIterator[Bench]:
        async with open_emulator(faults=tuple(read_faults(list(faults))), **options) as caller:
            yield Bench(caller)

    return start


@pytest.fixture
async def bench(caller: Any) -> Bench:
    """A fresh emulator without faults."""
    return Bench(caller)
