"""A file of a server that gives no pieces of one version: one answer, read once and in a stream."""

from __future__ import annotations

import io
from typing import BinaryIO

import aiohttp

from audiencekit.errors import AudiencekitError, InputOutputFailed
from audiencekit.sources.bytes.standardinput import StandardInput
from audiencekit.sources.remote.address import SourceAddress
from audiencekit.sources.remote.connection import Lost
from audiencekit.sources.remote.loopthread import LoopThread
from audiencekit.sources.remote.retries import Patience
from audiencekit.sources.remote.web import Way, WebConnection


class WebStream(StandardInput):
    """The file at `address`, which comes as standard input does: once, its beginning kept."""

    def __init__(self, address: SourceAddress, way: Way, patience: Patience | None) -> None:
        live = Streaming(address, way, patience or Patience())
        super().__init__(live)
        self.size_bytes = live.size_bytes
        self.identity = address.identity
        self.repeatable = not address.query


class Streaming(io.RawIOBase, BinaryIO):
    """The answer as it comes. `size_bytes` is 0 when the server does not say it."""

    def __init__(self, address: SourceAddress, way: Way, patience: Patience) -> None:
        super().__init__()
        self._loop = LoopThread()
        self._connection = WebConnection(address, way)
        self._rest = b""
        try:
            self._answer = self._loop.run(patience.again(self._begin))
        except BaseException:
            self.close()
            raise
        self.size_bytes = self._answer.content_length or 0

    def read(self, size: int = -1, /) -> bytes:
        """`size` bytes, fewer only at the end. Raises InputOutputFailed for an answer that ends early."""
        failure: AudiencekitError
        try:
            return self._loop.run(self._take(size))
        except Lost as lost:
            hint = "run again: the server gives no parts of a file, so that the reading cannot go on where it ended"
            failure = InputOutputFailed(f"cannot be read: {lost}", hint=hint)
        raise failure

    def close(self) -> None:
        """Give up the connection."""
        self._loop.close()
        super().close()

    async def _begin(self) -> aiohttp.ClientResponse:
        await self._loop.stack.aclose()  # of an attempt before
        connection = await self._loop.stack.enter_async_context(self._connection)
        return await connection.begin_whole(self._loop.stack)

    async def _take(self, size: int) -> bytes:
        parts, missing = [], size
        while missing:
            part = self._rest or await self._connection.next_part(self._answer)
            if not part:
                break
            taken = part if missing < 0 else part[:missing]
            self._rest = part[len(taken) :]
            parts.append(taken)
            missing -= len(taken) if missing > 0 else 0
        return b"".join(parts)
