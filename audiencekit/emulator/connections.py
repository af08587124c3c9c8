"""Listening sockets, and the connections that they accept."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import ssl
import struct
import weakref
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final

from aiohttp import web

from audiencekit.emulator.answers import Chunk

# --- One address of the emulator, which can stop for a while and listen again at the same port ---

LOOPBACK: Final = "127.0.0.1"
_READ_BUFFER_BYTES: Final = 1_048_576
# Parameters of writes stand in the query: a post of 25,000 characters, each escaped as four bytes, must fit.
_MAX_LINE_BYTES: Final = 400_000
_SHUTDOWN_SECONDS: Final = 1.0
_REOPEN_PAUSE_SECONDS: Final = 0.02
_BACKLOG: Final = 128

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


class Listener:
    """Serves `handler` at one port of loopback; `admit` is called with each connection.

    `context` makes it https. `encrypt` does, too, and chooses the protocol for each connection.
    """

    def __init__(
        self,
        handler: Handler,
        admit: Callable[[ClientConnection], None],
        end: asyncio.Event,
        encrypt: Callable[[ClientConnection], asyncio.Protocol] | None = None,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self._admit, self._end, self._encrypt, self._context = admit, end, encrypt, context
        self._web = web.Server(
            handler,
            access_log=None,
            logger=_make_silent_logger(),
            auto_decompress=False,
            read_bufsize=_READ_BUFFER_BYTES,
            max_line_size=_MAX_LINE_BYTES,
            lingering_time=_SHUTDOWN_SECONDS,
        )
        self._connections: weakref.WeakSet[ClientConnection] = weakref.WeakSet()
        self._listening: asyncio.Server | None = None
        self._return: asyncio.Task[None] | None = None
        self.port = 0

    @property
    def url(self) -> str:
        """The address, once it is open."""
        return f"{'https' if self._encrypt or self._context else 'http'}://{LOOPBACK}:{self.port}"

    async def open(self, port: int) -> None:
        """Listen; for port 0 the system chooses one. Raises OSError when the port is taken."""
        loop = asyncio.get_running_loop()
        # Known before it listens, which is awaited: an end that comes meanwhile is to find it.
        self._listening = await loop.create_server(
            self._make_connection, LOOPBACK, port,
            backlog=_BACKLOG, reuse_address=True, ssl=self._context, start_serving=False,
        )  # fmt: skip
        self.port = self._listening.sockets[0].getsockname()[1]
        try:
            await self._listening.start_serving()
        except OSError:
            self._listening.close()
            self._listening = None
            raise

    def _make_connection(self) -> asyncio.Protocol:
        connection = ClientConnection(self._web(), self._admit, self._end)
        self._connections.add(connection)
        return connection if self._encrypt is None else self._encrypt(connection)

    def stop_for(self, seconds: float) -> None:
        """Reset every connection and refuse new ones for so long; a second call restarts the time."""
        if self._listening is not None:
            self._listening.close()
            self._listening = None
        for connection in list(self._connections):
            connection.abort()
        if self._return is not None:
            self._return.cancel()
        self._return = asyncio.get_running_loop().create_task(self._open_again(seconds))

    async def _open_again(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        while self._listening is None:
            try:
                await self.open(self.port)
            except OSError:  # another process has the port for a moment
                await asyncio.sleep(_REOPEN_PAUSE_SECONDS)

    async def close(self) -> None:
        """Close the sockets and all connections."""
        if self._return is not None:
            self._return.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._return
        if self._listening is not None:
            self._listening.close()
        self._web.pre_shutdown()
        await self._web.shutdown(_SHUTDOWN_SECONDS)


def _make_silent_logger() -> logging.Logger:
    # aiohttp quotes the bytes that it could not read as HTTP. A logger outside the tree takes them nowhere.
    logger = logging.Logger("audiencekit.emulator.http")
    logger.addHandler(logging.NullHandler())
    return logger


# --- Connections of clients, which faults can cut and hold ---

_LINGER_NOT: Final = struct.pack("ii", 1, 0)


class ClientConnection(asyncio.Protocol):
    """One connection. `admit` is called when it is made; `end` is set when the emulator ends."""

    def __init__(self, server: asyncio.Protocol, admit: Callable[[ClientConnection], None], end: asyncio.Event) -> None:
        self._server, self._admit, self._end = server, admit, end
        self._transport: asyncio.Transport | None = None
        self._gone = asyncio.Event()
        self._requests = 0
        self._early = b""
        self._writable = asyncio.Event()
        self._writable.set()

    @classmethod
    def of(cls, request: web.BaseRequest) -> ClientConnection | None:
        """Return the connection of a request; None when it is gone already."""
        connection = request.transport.get_protocol() if request.transport is not None else None
        return connection if isinstance(connection, cls) else None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            self._transport = transport
        self._server.connection_made(transport)
        self._admit(self)
        if self._early:
            self._server.data_received(self._early)

    def data_received(self, data: bytes) -> None:
        if self._transport is None:  # the first bytes may come with the end of a handshake
            self._early += data
        else:
            self._server.data_received(data)

    def eof_received(self) -> bool | None:
        return self._server.eof_received()

    def connection_lost(self, error: Exception | None) -> None:
        self._gone.set()
        self._server.connection_lost(error)

    def pause_writing(self) -> None:
        self._writable.clear()
        self._server.pause_writing()

    def resume_writing(self) -> None:
        self._writable.set()
        self._server.resume_writing()

    def count_request(self) -> int:
        """Count a request; return how many came before it on the connection."""
        self._requests += 1
        return self._requests - 1

    def abort(self) -> None:
        """Reset the connection: bytes that were not sent yet are lost."""
        if self._transport is None or self._gone.is_set():
            return
        # Closed like this, a socket sends a reset, and no farewell.
        with contextlib.suppress(OSError):
            self._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_NOT)
        self._transport.abort()

    def stop_reading(self, seconds: float | None) -> None:
        """Stop reading: nothing happens on the connection; after `seconds`, if given, it is reset."""
        if self._transport is not None:
            self._transport.pause_reading()
        if seconds is not None:
            asyncio.get_running_loop().call_later(seconds, self.abort)

    @property
    def is_over(self) -> bool:
        """Whether the connection is gone, or the emulator ends."""
        return self._gone.is_set() or self._end.is_set()

    async def pause(self, seconds: float | None, until: asyncio.Future[Any] | None = None) -> None:
        """Wait so many seconds (None: for ever), or until `until` is done, the client is gone or the emulator ends."""
        if seconds is not None and seconds <= 0:
            return
        watches = [asyncio.ensure_future(self._gone.wait()), asyncio.ensure_future(self._end.wait())]
        try:
            await asyncio.wait(
                [*watches, *([until] if until else [])], timeout=seconds, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            for watch in watches:
                watch.cancel()

    async def write(self, chunks: Iterable[Chunk]) -> None:
        """Send chunks past the server, each after its pause, and close."""
        for content, pause_seconds in chunks:
            await self.pause(pause_seconds)
            if self._transport is None or self._transport.is_closing() or self._end.is_set():
                break
            self._transport.write(content)
            await self._drain()
        if self._transport is not None:
            self._transport.close()

    async def _drain(self) -> None:
        """Wait until the client has taken most of the sent bytes: an endless answer must not pile up here."""
        await asyncio.sleep(0)
        if not self._writable.is_set():
            await self.pause(None, until=asyncio.ensure_future(self._writable.wait()))
