"""A file elsewhere that can be read at any place: one version of it, pinned at first sight, until the end."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from concurrent.futures import Future
from typing import BinaryIO, Final, TypeVar

from audiencekit.errors import AudiencekitError
from audiencekit.sources.remote.address import SourceAddress
from audiencekit.sources.remote.connection import Connection, Version, changed
from audiencekit.sources.remote.loopthread import LoopThread
from audiencekit.sources.remote.prefetch import PIECE_BYTES, PrefetchedPieces
from audiencekit.sources.remote.retries import Patience

T = TypeVar("T")
_BEGINNING_BYTES: Final = PIECE_BYTES  # kept, since every look at a file begins there


class RemoteFile:
    """The file at `address`. It opens again and again, and refuses when it is another file."""

    seekable = True

    def __init__(
        self, address: SourceAddress, connect: Callable[[], Connection], patience: Patience | None = None
    ) -> None:
        self._address, self._connect, self._patience = address, connect, patience or Patience()
        self.repeatable = not address.query
        with Handle(self._connect, self._patience) as handle:
            self._version = handle.version
            self._beginning = handle.beginning(_BEGINNING_BYTES)

    @property
    def is_pinned(self) -> bool:
        """Whether its place marks versions: else no piece of it may be trusted to belong to another."""
        return bool(self._version.mark)

    @property
    def size_bytes(self) -> int:
        """Bytes at first sight."""
        return self._version.size_bytes

    @property
    def identity(self) -> str:
        """That of the address."""
        return self._address.identity

    def open(self) -> BinaryIO:
        """The file, at its first byte. A connection is made when more is read than was kept of its beginning."""
        return Handle(self._connect, self._patience, self._version, self._beginning)

    def check_unchanged(self, handle: BinaryIO) -> None:
        """Raises SourceRefused when another version lies there by now."""
        if isinstance(handle, Handle) and handle.look() != self._version:
            raise changed()


class Handle(io.RawIOBase, BinaryIO):
    """An open file elsewhere: its `beginning` is known already, all the rest is read in pieces, ahead."""

    def __init__(
        self,
        connect: Callable[[], Connection],
        patience: Patience,
        version: Version | None = None,
        beginning: bytes = b"",
    ) -> None:
        super().__init__()
        self._connect, self._patience, self._beginning = connect, patience, beginning
        self._loop: LoopThread | None = None
        self._connection: asyncio.Task[Connection] | None = None
        self._position = 0
        self.version = version or self._first_look()
        self._pieces = PrefetchedPieces(self.version.size_bytes, self._begin)

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Go on reading elsewhere."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self.version.size_bytes}[whence]
        if start + offset < 0:
            raise ValueError("a place before the first byte")
        self._position = start + offset
        return self._position

    def tell(self) -> int:
        """The place of the next byte."""
        return self._position

    def read(self, size: int = -1, /) -> bytes:
        """`size` bytes, fewer only at the end. Raises SourceRefused and InputOutputFailed."""
        left = max(self.version.size_bytes - self._position, 0)
        missing = left if size < 0 else min(size, left)
        if self._position + missing <= len(self._beginning):
            data = self._beginning[self._position : self._position + missing]
        else:
            data = b"".join(self._parts(missing))
        self._position += len(data)
        return data

    def beginning(self, size: int) -> bytes:
        """The first `size` bytes, and nothing ahead of them: a look may be all that is wanted."""
        length = min(size, self.version.size_bytes)
        return self._awaited(self._begin(0, length)) if length else b""

    def look(self) -> Version:
        """The version that lies there now. Raises SourceRefused and InputOutputFailed."""
        return self._awaited(self._running().begin(self._look()))

    def close(self) -> None:
        """Give up the connection."""
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.close()
        super().close()

    def _parts(self, missing: int) -> list[bytes]:
        parts, at = [], self._position
        while missing:
            number, start = divmod(at, PIECE_BYTES)
            piece = self._awaited(self._pieces.piece(number))[start : start + missing]
            parts.append(piece)
            at, missing = at + len(piece), missing - len(piece)
        return parts

    def _first_look(self) -> Version:
        try:
            return self.look()
        except BaseException:
            self.close()
            raise

    def _running(self) -> LoopThread:
        if self._loop is None:
            self._loop = LoopThread()
        return self._loop

    def _begin(self, offset: int, length: int) -> Future[bytes]:
        return self._running().begin(self._read(offset, length))

    def _awaited(self, coming: Future[T]) -> T:
        failure: AudiencekitError
        try:
            return self._running().wait(coming)
        except AudiencekitError as error:
            failure = error.bare()  # its frames hold pieces of the file
        raise failure

    async def _look(self) -> Version:
        return await self._patience.look(await self._connected())

    async def _read(self, offset: int, length: int) -> bytes:
        return await self._patience.read(await self._connected(), offset, length, self.version)

    async def _connected(self) -> Connection:
        """The connection, made once; it is left by the loop."""
        if self._connection is None:
            self._connection = asyncio.create_task(self._enter())
        return await asyncio.shield(self._connection)

    async def _enter(self) -> Connection:
        connection: Connection = await self._running().stack.enter_async_context(self._connect())
        return connection
