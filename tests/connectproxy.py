"""A proxy as companies have it: it knows names of hosts that its clients do not, tunnels to them, and listens."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

Reader, Writer = asyncio.StreamReader, asyncio.StreamWriter
_ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"


class ConnectProxy:
    """`names` are hosts with the port of loopback that each stands for; every other host is refused.

    `heads` are the requests that came, `tunnelled` the bytes that clients sent behind them. With `opens` it ends TLS
    by a certificate of its own, to read along; with `refusal` it answers that status to all.
    """

    def __init__(self, names: Mapping[str, int], *, opens: ssl.SSLContext | None = None, refusal: int = 0) -> None:
        self._names, self._opens, self._refusal = names, opens, refusal
        self.heads: list[str] = []
        self.tunnelled = bytearray()
        self.port = 0
        self._tasks = set[asyncio.Task[None]]()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def accept(self, reader: Reader, writer: Writer) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._serve(reader, writer)
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def end(self) -> None:
        """Cut the connections that still go through it."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: Reader, writer: Writer) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("ascii")
            self.heads.append(head)
            method, target, _ = head.split(" ", 2)
            port = self._names.get(target)
            if self._refusal or method != "CONNECT" or port is None:
                writer.write(f"HTTP/1.1 {self._refusal or 403} No\r\nContent-Length: 0\r\n\r\n".encode())
            else:
                writer.write(_ESTABLISHED)
                await self._tunnel(reader, writer, port)
            writer.close()
            await writer.wait_closed()

    async def _tunnel(self, reader: Reader, writer: Writer, port: int) -> None:
        if self._opens is not None:
            await writer.start_tls(self._opens)
            self.tunnelled += await reader.read()
            return
        await copying(reader, writer, await asyncio.open_connection("127.0.0.1", port), self.tunnelled)


async def copying(reader: Reader, writer: Writer, far: tuple[Reader, Writer], seen: bytearray | None = None) -> None:
    """Carries bytes both ways until one end closes, and closes both; `seen` gets those from the near one."""
    tasks = [asyncio.ensure_future(_copy(reader, far[1], seen)), asyncio.ensure_future(_copy(far[0], writer, None))]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        far[1].transport.abort()
        writer.close()


async def _copy(reader: Reader, writer: Writer, seen: bytearray | None) -> None:
    while part := await reader.read(65_536):
        if seen is not None:
            seen += part
        writer.write(part)
        await writer.drain()


@asynccontextmanager
async def proxying(proxy: ConnectProxy) -> AsyncIterator[ConnectProxy]:
    """The proxy at work, on a port of loopback."""
    server = await asyncio.start_server(proxy.accept, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        await proxy.end()
