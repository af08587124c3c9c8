"""A proxy on loopback that leads to the emulator's own addresses, or gets in the way."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Callable
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from audiencekit.emulator.faults.effects import Detour
from audiencekit.emulator.faults.fault import Place, Situation
from audiencekit.emulator.faults.kinds import Site
from audiencekit.emulator.faults.register import Register

_LOOPBACK: Final = "127.0.0.1"
_HEAD_BYTES: Final = 65_536
_PART_BYTES: Final = 65_536


class Proxy:
    """Tunnels (CONNECT) and forwards plain calls, to `ports` only; fault 35 strikes what is asked of it."""

    def __init__(self, register: Register, ports: Callable[[], set[int]], own: ssl.SSLContext) -> None:
        self._register, self._ports, self._own = register, ports, own
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self) -> str:
        """Listen, and return the address."""
        self._server = await asyncio.start_server(self._accept, _LOOPBACK, 0, limit=_HEAD_BYTES)
        return f"http://{_LOOPBACK}:{self._server.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        """Stop, and end what goes through it."""
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
                await self._serve(reader, writer)
        finally:
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        line, _, rest = head.partition(b"\r\n")
        method, target, _ = line.decode("latin-1").split(" ")
        met = self._register.meet(Situation(place=Place.CONNECT), site=Site.PROXY)
        detour = met[0] if met else None
        if isinstance(detour, Detour) and detour.status is not None:
            await _answer(writer, detour.status)
            return
        port = urlsplit(target if "//" in target else f"//{target}").port
        if port not in self._ports():
            await _answer(writer, 403)
        elif method == "CONNECT" and detour is not None:
            await self._read_along(writer)
        elif method == "CONNECT":
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await _relay(reader, writer, port, b"")
        else:
            parts = urlsplit(target)
            path = parts.path + (f"?{parts.query}" if parts.query else "")
            await _relay(reader, writer, port, f"{method} {path} HTTP/1.1\r\n".encode("latin-1") + _once(rest))

    async def _read_along(self, writer: asyncio.StreamWriter) -> None:
        """Show a certificate of its own; a client that goes on after that is told 403."""
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await writer.start_tls(self._own)
        await _answer(writer, 403)


def _once(fields: bytes) -> bytes:
    """Return the header of a call that is the only one of its connection: the next may go elsewhere."""
    kept = [line for line in fields.split(b"\r\n") if not line.lower().startswith((b"connection:", b"proxy-"))]
    return b"\r\n".join([b"Connection: close", *kept])


async def _answer(writer: asyncio.StreamWriter, status: int) -> None:
    demand = 'Proxy-Authenticate: Basic realm="emulator"\r\n' if status == 407 else ""
    head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n{demand}Content-Length: 0\r\nConnection: close\r\n\r\n"
    writer.write(head.encode())
    writer.close()
    await writer.wait_closed()


async def _relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int, first: bytes) -> None:
    far_reader, far_writer = await asyncio.open_connection(_LOOPBACK, port)
    try:
        far_writer.write(first)
        ways = [asyncio.ensure_future(_copy(reader, far_writer)), asyncio.ensure_future(_copy(far_reader, writer))]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
        writer.close()
        await writer.wait_closed()
    finally:
        far_writer.transport.abort()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while part := await reader.read(_PART_BYTES):
        writer.write(part)
        await writer.drain()
    await writer.drain()
