"""A file elsewhere that can be read at any place: one version of it, pinned at first sight, until the end."""

from __future__ import annotations

import asyncio
import io
import random
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final, Protocol, TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt

from audiencekit.errors import AudiencekitError, InputOutputFailed, SourceRefused
from audiencekit.sources.bytes.files import WAIT_ON, result_of
from audiencekit.sources.remote.addresses import SharedByFiles, SourceAddress

PIECE_BYTES: Final = 2_097_152
# Readers of columns go forward at several places at once.
KEPT_PIECES: Final = 32
AHEAD: Final = 4  # behind a piece that is read in order
MOST_AT_ONCE: Final = 6  # on their way


class PrefetchedPieces:
    """Pieces of a file of `size_bytes`, by number. `begin` asks for so many bytes from an offset on.

    A piece that is dropped is emptied: asyncio ties its future into a circle, which waits long for the collector.
    """

    def __init__(self, size_bytes: int, begin: Callable[[int, int], Future[bytearray]]) -> None:
        self._size_bytes, self._begin = size_bytes, begin
        self._pieces: OrderedDict[int, Future[bytearray]] = OrderedDict()

    def piece(self, number: int) -> Future[bytearray]:
        """Return a future of the bytes of a piece. The next pieces are requested, too, if the one before was read."""
        found = self._ask_for(number)
        self._pieces.move_to_end(number)
        if number == 0 or number - 1 in self._pieces:
            for following in range(number + 1, number + 1 + AHEAD):
                if following * PIECE_BYTES < self._size_bytes and self._on_their_way() < MOST_AT_ONCE:
                    self._ask_for(following)
        while len(self._pieces) > KEPT_PIECES:
            _empty(self._pieces.popitem(last=False)[1])
        return found

    def drop(self) -> None:
        """Drop all pieces."""
        while self._pieces:
            _empty(self._pieces.popitem()[1])

    def _ask_for(self, number: int) -> Future[bytearray]:
        if number not in self._pieces:
            offset = number * PIECE_BYTES
            self._pieces[number] = self._begin(offset, min(PIECE_BYTES, self._size_bytes - offset))
        return self._pieces[number]

    def _on_their_way(self) -> int:
        return sum(not piece.done() for piece in self._pieces.values())


def _empty(piece: Future[bytearray]) -> None:
    if not piece.cancel() and piece.exception() is None:
        piece.result().clear()


T = TypeVar("T")
_BEGINNING_BYTES: Final = PIECE_BYTES  # kept, since every look at a file begins there


class RemoteFile:
    """The file at `address`. It opens again and again, and refuses when it is another file."""

    seekable = True

    def __init__(
        self,
        address: SourceAddress,
        connect: Callable[[], Connection],
        shared: SharedByFiles,
        patience: Patience | None = None,
    ) -> None:
        self._address, self._connect, self._shared = address, connect, shared
        self._patience = patience or Patience()
        self.repeatable = not address.query
        with Handle(self._connect, self._patience) as handle:
            self._version = handle.version
            self._shared.keep_beginning(self._of_version, handle.beginning(_BEGINNING_BYTES))

    @property
    def is_pinned(self) -> bool:
        """Whether its place marks versions: else no piece of it may be trusted to belong to another."""
        return bool(self._version.mark)

    @property
    def size_bytes(self) -> int:
        """Return the size when the file was opened, in bytes."""
        return self._version.size_bytes

    @property
    def identity(self) -> str:
        """The identity of the address."""
        return self._address.identity

    @property
    def _of_version(self) -> str:
        return f"{self.identity} {self._version.mark}"

    def open(self) -> BinaryIO:
        """The file, at its first byte. A connection is made when more is read than was kept of its beginning."""
        return Handle(self._connect, self._patience, self._version, self._shared.beginning_of(self._of_version))

    def check_unchanged(self, handle: BinaryIO) -> None:
        """Raise SourceRefused if the present version is another one."""
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
        self._pieces = PrefetchedPieces(0, self._begin)  # until the size is known
        self.version = version or self._first_look()
        self._pieces = PrefetchedPieces(self.version.size_bytes, self._begin)

    def readable(self) -> bool:
        """True."""
        return True

    def seekable(self) -> bool:
        """True."""
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
        if not length:
            return b""
        piece = self._awaited(self._begin(0, length))
        data = bytes(piece)
        piece.clear()  # as one that is dropped
        return data

    def look(self) -> Version:
        """Return the present version. Raises SourceRefused and InputOutputFailed."""
        return self._awaited(self._running().begin(self._look()))

    def close(self) -> None:
        """Give up the connection, and what was read."""
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.close()
        self._pieces.drop()
        self._beginning = b""
        super().close()

    def _parts(self, missing: int) -> list[bytearray]:
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

    def _begin(self, offset: int, length: int) -> Future[bytearray]:
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

    async def _read(self, offset: int, length: int) -> bytearray:
        return await self._patience.read(await self._connected(), offset, length, self.version)

    async def _connected(self) -> Connection:
        """The connection, made once; it is left by the loop."""
        if self._connection is None:
            self._connection = asyncio.create_task(self._enter())
        return await asyncio.shield(self._connection)

    async def _enter(self) -> Connection:
        connection: Connection = await self._running().stack.enter_async_context(self._connect())
        return connection


@dataclass(frozen=True, slots=True)
class Version:
    """The version of a file that was seen first, and is read to its end: its size and how its place marks it."""

    size_bytes: int
    mark: str


class Connection(AbstractAsyncContextManager[Any], Protocol):
    """A connection to a place, made when it is entered."""

    async def look(self) -> Version:
        """Return the present version. Raises SourceRefused, InputOutputFailed and Lost."""

    async def read(self, offset: int, length: int, version: Version, into: bytearray) -> None:
        """Add `length` bytes of `version` from `offset` on.

        Raises Lost when they came in part, or not at all; SourceRefused when another version lies there.
        """


class Lost(Exception):
    """An attempt that another one may mend. The text says what happened, in our words."""


def changed() -> SourceRefused:
    """The refusal of a file that is another one by now."""
    return SourceRefused("the file changed while it was read", hint="run again when nothing writes to it")


def missing(hint: str = "") -> SourceRefused:
    """The refusal of a file that is not there."""
    return SourceRefused("there is no such file", hint=hint)


_LEAVE_SECONDS: Final = 5.0  # for a peer that says no good-bye


class LoopThread:
    """A loop that runs until it is closed. What was entered into `stack` is left then."""

    def __init__(self) -> None:
        self.stack = AsyncExitStack()
        self._wait_on: Callable[[], None] = WAIT_ON.get()
        self._begun: set[Future[Any]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def begin(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Return a future of the result of `work`."""
        coming = asyncio.run_coroutine_threadsafe(work, self._loop)
        self._begun.add(coming)
        coming.add_done_callback(self._begun.discard)
        return coming

    def wait(self, coming: Future[T]) -> T:
        """The result. Raises what the work raises, and what ends the wait."""
        return result_of(coming, self._wait_on)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`, awaited."""
        coming = self.begin(work)
        try:
            return self.wait(coming)
        finally:
            coming.cancel()

    def close(self) -> None:
        """End what is under way, then the connections, then the thread."""
        if self._loop.is_closed():
            return
        for coming in tuple(self._begun):
            coming.cancel()
        asyncio.run_coroutine_threadsafe(self._leave(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _leave(self) -> None:
        # Connections have tasks of their own, by which they end in order: they come last.
        with suppress(TimeoutError):
            async with asyncio.timeout(_LEAVE_SECONDS):
                await self.stack.aclose()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self._loop.shutdown_asyncgens()


ATTEMPTS: Final = 5
_FIRST_WAIT_SECONDS: Final = 0.5
_LONGEST_WAIT_SECONDS: Final = 8.0


@dataclass(frozen=True, slots=True)
class Patience:
    """Attempts, and the sleep and the chance between them."""

    attempts: int = ATTEMPTS
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    randomness: random.Random = field(default_factory=random.Random)

    async def look(self, connection: Connection) -> Version:
        """Return the present version. Raises InputOutputFailed after the last attempt failed."""
        return await self.again(connection.look)

    async def read(self, connection: Connection, offset: int, length: int, version: Version) -> bytearray:
        """`length` bytes from `offset` on: an attempt goes on where the last one ended."""
        taken = bytearray()

        async def rest() -> None:
            await connection.read(offset + len(taken), length - len(taken), version, taken)
            if len(taken) < length:
                raise Lost("fewer bytes came than were said")
            if len(taken) > length:
                raise SourceRefused("more bytes came than were asked for: none of them can be trusted")

        await self.again(rest)
        return taken

    async def again(self, work: Callable[[], Awaitable[T]]) -> T:
        """The result of `work`, after as many attempts as it takes. Raises InputOutputFailed for too many."""
        attempts = AsyncRetrying(
            sleep=self.sleep,
            stop=stop_after_attempt(self.attempts),
            wait=self._wait_seconds,
            retry=retry_if_exception_type(Lost),
            reraise=True,
        )
        try:
            return await attempts(work)
        except Lost as lost:
            why = str(lost)
        raise InputOutputFailed(f"cannot be read: {why}, {self.attempts} times", hint="run again later")

    def _wait_seconds(self, state: RetryCallState) -> float:
        longest = min(_LONGEST_WAIT_SECONDS, _FIRST_WAIT_SECONDS * 2**state.attempt_number)
        return self.randomness.uniform(longest / 2, longest)
