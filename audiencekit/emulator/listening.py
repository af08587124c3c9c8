"""One address of the emulator: it listens, stops for a while, and listens again at the same port."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
import weakref
from collections.abc import Awaitable, Callable
from typing import Final

from aiohttp import web

from audiencekit.emulator.connections import ClientConnection

LOOPBACK: Final = "127.0.0.1"
_READ_BUFFER_BYTES: Final = 1_048_576
# Parameters of writes stand in the query: a post of 25,000 characters, each escaped as four bytes, must fit.
_MAX_LINE_BYTES: Final = 400_000
_SHUTDOWN_SECONDS: Final = 1.0
_REOPEN_PAUSE_SECONDS: Final = 0.02
_BACKLOG: Final = 128

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


class Listener:
    """Serves `handler` at one port of loopback; `admit` looks at each connection.

    `context` makes it https. So does `encrypt`, which chooses for each connection how.
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
        """The address, once it was opened."""
        return f"{'https' if self._encrypt or self._context else 'http'}://{LOOPBACK}:{self.port}"

    async def open(self, port: int) -> None:
        """Listen; 0 lets the system choose. Raises OSError when the port is taken."""
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
        """Reset every connection and refuse new ones for so long; it begins anew when that is under way."""
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
        """End everything."""
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
