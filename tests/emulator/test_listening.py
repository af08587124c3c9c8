"""One address that listens, stops, and listens again."""

from __future__ import annotations

import asyncio
import socket

import pytest
from aiohttp import web

from audiencekit.emulator.listening import LOOPBACK, Listener
from tests.virtualtime import run_virtually


async def _answer(request: web.BaseRequest) -> web.StreamResponse:
    return web.Response(text="here")


async def _ask(port: int) -> bytes:
    reader, writer = await asyncio.open_connection(LOOPBACK, port)
    writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    try:
        return await reader.read()
    finally:
        writer.close()


async def _ask_until_heard(port: int) -> bytes:
    while True:
        try:
            return await _ask(port)
        except ConnectionRefusedError:
            await asyncio.sleep(0)


async def test_it_stops_and_comes_back_at_its_port() -> None:
    """Connections that were open are reset."""
    listener = Listener(_answer, lambda line: None, asyncio.Event())
    await listener.open(0)
    try:
        assert listener.url == f"http://{LOOPBACK}:{listener.port}"
        reader, writer = await asyncio.open_connection(LOOPBACK, listener.port)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert (await reader.readline()).endswith(b"200 OK\r\n")
        listener.stop_for(3_600)
        with pytest.raises(ConnectionResetError):
            await reader.read()
        writer.close()
        with pytest.raises(ConnectionRefusedError):
            await _ask(listener.port)
        listener.stop_for(0)
        assert (await _ask_until_heard(listener.port)).endswith(b"here")
    finally:
        await listener.close()
    with pytest.raises(ConnectionRefusedError):
        await _ask(listener.port)


@pytest.mark.parametrize("again", ["close", "stop"])
@pytest.mark.parametrize("steps", range(10))
async def test_it_ends_while_it_comes_back(steps: int, again: str) -> None:
    """However far it has come: nothing listens any more."""
    listener = Listener(_answer, lambda line: None, asyncio.Event())
    await listener.open(0)
    listener.stop_for(0)
    for _ in range(steps):
        await asyncio.sleep(0)
    if again == "close":
        await listener.close()
    else:
        listener.stop_for(3_600)
    with pytest.raises(ConnectionRefusedError):
        await _ask(listener.port)
    await listener.close()


def test_it_closes_while_it_is_stopped() -> None:
    """And does not come back."""

    async def main() -> None:
        listener = Listener(_answer, lambda line: None, asyncio.Event())
        await listener.open(0)
        listener.stop_for(60)
        await asyncio.sleep(30)
        await listener.close()
        await asyncio.sleep(90)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((LOOPBACK, listener.port))

    run_virtually(main())
