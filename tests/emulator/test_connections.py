"""Connections between the wire and the server, in memory."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from audiencekit.emulator.connections import ClientConnection
from audiencekit.emulator.envelope import Piece


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
    await connection.write([Piece(b"a"), Piece(b"b", 0.001)])
    assert transport.done == [b"a", b"b", "closed"]
    end.set()
    await connection.write([Piece(b"c")])
    assert transport.done == [b"a", b"b", "closed", "closed"]


async def test_requests_are_counted(end: asyncio.Event) -> None:
    """How many there were before."""
    connection, _, _ = _open(end)
    assert [connection.count_request() for _ in range(3)] == [0, 1, 2]
