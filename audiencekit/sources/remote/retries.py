"""How often and after which waits a piece of a file is asked for again, from where the last attempt came to."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt

from audiencekit.errors import InputOutputFailed, SourceRefused
from audiencekit.sources.remote.connection import Connection, Lost, Version

T = TypeVar("T")
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
        """The version that lies there. Raises InputOutputFailed when all attempts were in vain."""
        return await self.again(connection.look)

    async def read(self, connection: Connection, offset: int, length: int, version: Version) -> bytes:
        """`length` bytes from `offset` on: an attempt goes on where the last one ended."""
        taken = bytearray()

        async def rest() -> None:
            await connection.read(offset + len(taken), length - len(taken), version, taken)
            if len(taken) < length:
                raise Lost("fewer bytes came than were said")
            if len(taken) > length:
                raise SourceRefused("more bytes came than were asked for: none of them can be trusted")

        await self.again(rest)
        return bytes(taken)

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
