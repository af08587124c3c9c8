"""Faults of the network: a proxy on loopback, an https address with bad handshakes, and lost connections."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from audiencekit.emulator.connections import ClientConnection, Handler, Listener
from audiencekit.emulator.encryption import make_certificates
from audiencekit.emulator.faults.catalogue import Site
from audiencekit.emulator.faults.effects import Cut, Detour, Handshake, Hold, Outage, Place, Situation
from audiencekit.emulator.faults.orders import Register

# --- A proxy on loopback that leads to the emulator's addresses, or fails ---

_LOOPBACK: Final = "127.0.0.1"
_HEAD_BYTES: Final = 65_536
_PART_BYTES: Final = 65_536


class Proxy:
    """Tunnels (CONNECT) and forwards plain calls, to `ports` only; fault 35 affects these requests."""

    def __init__(self, register: Register, ports: Callable[[], set[int]], own: ssl.SSLContext) -> None:
        self._register, self._ports, self._own = register, ports, own
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self) -> str:
        """Listen, and return the address."""
        self._server = await asyncio.start_server(self._accept, _LOOPBACK, 0, limit=_HEAD_BYTES)
        return f"http://{_LOOPBACK}:{self._server.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        """Stop, and close the connections through it."""
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
        """Show another certificate; a client that continues after that gets 403."""
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await writer.start_tls(self._own)
        await _answer(writer, 403)


def _once(fields: bytes) -> bytes:
    """Return the header of the only call of its connection: the next may have another address."""
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


# --- The faults of a connection, before its first request ---


def inject_connection_fault(
    connection: ClientConnection, faults: Register, now: float, stop: Callable[[Outage], None]
) -> None:
    """Inject the faults of connections into a new one; `stop` ends the emulator for an outage."""
    met = faults.meet(Situation(place=Place.CONNECT, now=now))
    match met and met[0]:
        case Cut():
            connection.abort()
        case Hold(seconds):
            connection.stop_reading(seconds)
        case Outage() as outage:
            stop(outage)


# --- The addresses that only faults need: https with certificates of our choice, and a proxy ---


class FaultSites:
    """The additional addresses of faults: opened when a fault first needs them, and open until the emulator ends."""

    def __init__(
        self,
        register: Register,
        handler: Handler,
        admit: Callable[[ClientConnection], None],
        end: asyncio.Event,
        ports: Callable[[], set[int]],
    ) -> None:
        self._register, self._handler, self._admit, self._end, self._ports = register, handler, admit, end, ports
        self._closers: list[Listener | Handshakes | Proxy] = []
        self.ports: set[int] = set()  # of the https address
        self._shown: dict[str, str] = {}
        self._opening = asyncio.Lock()
        self._contexts: dict[str, ssl.SSLContext] = {}

    async def prepare(self) -> dict[str, str]:
        """Open the addresses that the present faults need; return them, and the authority to trust."""
        async with self._opening:
            https, proxy = self._register.needs(Site.HTTPS), self._register.needs(Site.PROXY)
            if (https or proxy) and not self._contexts:
                self._make_contexts()
            if https and "https_url" not in self._shown:
                await self._open_https()
            if proxy and "proxy_url" not in self._shown:
                await self._open_proxy()
        return dict(self._shown)

    def _make_contexts(self) -> None:
        made = make_certificates()
        self._contexts = made.contexts
        self._shown["authority"] = made.authority

    async def _open_https(self) -> None:
        handshakes = Handshakes(self._register, self._contexts)
        listener = Listener(self._handler, self._admit, self._end, handshakes.make)
        await listener.open(0)
        self._closers += [handshakes, listener]
        self._shown["https_url"] = listener.url
        self.ports.add(listener.port)

    async def _open_proxy(self) -> None:
        proxy = Proxy(self._register, self._ports, self._contexts["self_signed"])
        self._shown["proxy_url"] = await proxy.open()
        self._closers.append(proxy)

    async def close(self) -> None:
        """Close the open addresses."""
        while self._closers:
            await self._closers.pop().close()


# --- Handshakes of the https address, each with the ordered certificate or failure ---

# A fatal alert as it is written before anything was agreed (RFC 8446, sections 5.1 and 6).
_ALERT: Final = b"\x15\x03\x03\x00\x02\x02%c"


class Handshakes:
    """Makes encrypted connections, with the faults of each."""

    def __init__(self, register: Register, contexts: Mapping[str, ssl.SSLContext]) -> None:
        self._register, self._contexts = register, contexts
        self._tasks: set[asyncio.Task[None]] = set()

    def make(self, connection: ClientConnection) -> asyncio.Protocol:
        """Return the protocol of a new transport, which `connection` takes over after a good handshake."""
        met = self._register.meet(Situation(place=Place.CONNECT), site=Site.HTTPS)
        effect = met[0] if met is not None and isinstance(met[0], Handshake) else Handshake()
        if effect.alert is not None:
            return _Alert(_ALERT % effect.alert)
        return _Upgrade(connection, self._contexts[effect.certificate or "good"], self._hold_task)

    def _hold_task(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """End the handshakes under way."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


class _Alert(asyncio.Protocol):
    """Answers the first bytes with an alert."""

    def __init__(self, record: bytes) -> None:
        self._record = record
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(self._record)
            self._transport.close()


class _Upgrade(asyncio.Protocol):
    """Encrypts a transport, and hands it over to its connection."""

    def __init__(
        self, connection: ClientConnection, context: ssl.SSLContext, hold_task: Callable[[asyncio.Task[None]], None]
    ) -> None:
        self._connection, self._context, self._hold_task = connection, context, hold_task

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            # Bytes that come before the encryption is there would otherwise reach the wrong protocol.
            transport.pause_reading()
            self._hold_task(asyncio.get_running_loop().create_task(self._encrypt(transport)))

    async def _encrypt(self, transport: asyncio.Transport) -> None:
        # A client that does not trust the certificate ends the handshake: that is what it is for.
        with contextlib.suppress(OSError):
            loop = asyncio.get_running_loop()
            encrypted = await loop.start_tls(transport, self._connection, self._context, server_side=True)
            if encrypted is not None:
                self._connection.connection_made(encrypted)
