"""Connections between the wire and the server, in memory."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest
from aiohttp import web

from audiencekit.emulator.answers import Chunk
from audiencekit.emulator.connections import LOOPBACK, ClientConnection, Listener
from tests.cases import each_case
from tests.virtualtime import run_virtually

# --- Connections between the wire and the server, in memory ---


class Transport(asyncio.Transport):
    """Remembers what was done to it."""

    def __init__(self) -> None:
        super().__init__()
        self.done: list[Any] = []

    def write(self, data: Any) -> None:
        self.done.append(bytes(data))

    def close(self) -> None:
        self.done.append("closed")

    def abort(self) -> None:
        self.done.append("aborted")

    def pause_reading(self) -> None:
        self.done.append("paused")

    def is_closing(self) -> bool:
        return "aborted" in self.done

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self

    def setsockopt(self, *option: Any) -> None:
        self.done.append("linger")


class Server(asyncio.Protocol):
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.told.append("made")

    def data_received(self, data: bytes) -> None:
        self.told.append(data)

    def connection_lost(self, error: Exception | None) -> None:
        self.told.append("lost")


@pytest.fixture
def end() -> asyncio.Event:
    """Set when the emulator ends."""
    return asyncio.Event()


def _open(end: asyncio.Event) -> tuple[ClientConnection, Server, Transport]:
    server, transport = Server(), Transport()
    connection = ClientConnection(server, lambda connection: server.told.append("admitted"), end)
    connection.connection_made(transport)
    return connection, server, transport


async def test_the_server_is_told_everything(end: asyncio.Event) -> None:
    """After the connection was looked at."""
    connection, server, _ = _open(end)
    connection.data_received(b"a")
    connection.connection_lost(None)
    assert server.told == ["made", "admitted", b"a", "lost"]


async def test_bytes_that_come_too_early_are_kept(end: asyncio.Event) -> None:
    """With the last of a handshake may come the first of a request."""
    server = Server()
    connection = ClientConnection(server, lambda connection: None, end)
    connection.data_received(b"a")
    connection.data_received(b"b")
    connection.connection_made(Transport())
    connection.data_received(b"c")
    assert server.told == ["made", b"ab", b"c"]


async def test_a_reset_is_one(end: asyncio.Event) -> None:
    """Once, and not when the connection is gone."""
    connection, _, transport = _open(end)
    connection.abort()
    assert transport.done == ["linger", "aborted"]
    connection.connection_lost(None)
    connection.abort()
    assert transport.done == ["linger", "aborted"]


async def test_a_pause_ends_with_the_connection_the_emulator_or_what_is_awaited(end: asyncio.Event) -> None:
    """Whichever comes first; and no pause is none."""
    connection, _, _ = _open(end)
    await connection.pause(0)
    done = asyncio.get_running_loop().create_future()
    pauses = [asyncio.ensure_future(connection.pause(None)), asyncio.ensure_future(connection.pause(None, until=done))]
    await asyncio.sleep(0)
    done.set_result(None)
    await pauses[1]
    assert not pauses[0].done()
    connection.connection_lost(None)
    await pauses[0]
    other, _, _ = _open(end)
    pause = asyncio.ensure_future(other.pause(3_600))
    await asyncio.sleep(0)
    end.set()
    await pause


async def test_pieces_go_out_until_the_connection_is_gone(end: asyncio.Event) -> None:
    """Then it is closed."""
    connection, _, transport = _open(end)
    await connection.write([Chunk(b"a"), Chunk(b"b", 0.001)])
    assert transport.done == [b"a", b"b", "closed"]
    end.set()
    await connection.write([Chunk(b"c")])
    assert transport.done == [b"a", b"b", "closed", "closed"]


async def test_requests_are_counted(end: asyncio.Event) -> None:
    """How many there were before."""
    connection, _, _ = _open(end)
    assert [connection.count_request() for _ in range(3)] == [0, 1, 2]


# --- One address that listens, stops, and listens again ---


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


@each_case("again", ["close", "stop"])
@each_case("steps", range(10))
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
