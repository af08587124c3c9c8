"""Requests as a service sees them: when they come, from which sender, and how many in the worst window."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterator
from typing import Final

_PATIENCE_SECONDS: Final = 120.0  # for processes to start, on a machine that has much else to do
_LOOK_SECONDS: Final = 0.05


class Arrivals:
    """The moments of requests, and the worst closed window so far."""

    def __init__(self, *, limit: int, window_seconds: float) -> None:
        self._limit, self._window_seconds = limit, window_seconds
        self._moments: list[float] = []
        self._heard: set[int] = set()
        self.by_process: Counter[int] = Counter()
        self.is_counting = False

    @property
    def worst_window(self) -> int:
        """The most requests in any closed window."""
        return max(self._windows(), default=0)

    @property
    def over_limit(self) -> int:
        """The requests that the service would have answered with 429."""
        return sum(count > self._limit for count in self._windows())

    def _windows(self) -> Iterator[int]:
        """For each request the count of the window that ends with it."""
        window: deque[float] = deque()
        for moment in sorted(self._moments):
            window.append(moment)
            while window[0] < moment - self._window_seconds:
                window.popleft()
            yield len(window)

    def add(self, process: int, moment: float) -> None:
        """Notes one request of `process` at `moment`, by the boot clock."""
        self._moments.append(moment)
        self._heard.add(process)
        self.by_process[process] += self.is_counting

    def forget(self, process: int) -> None:
        """Counts as not heard from until it sends again."""
        self._heard.discard(process)

    async def heard_from(self, processes: int) -> None:
        """Returns when each of so many processes has sent something. Raises TimeoutError when that takes minutes."""
        async with asyncio.timeout(_PATIENCE_SECONDS):
            while len(self._heard) < processes:
                await asyncio.sleep(_LOOK_SECONDS)

    @contextlib.asynccontextmanager
    async def serve(self) -> AsyncIterator[int]:
        """The port of a server that notes every line: the number of a process, and the moment at which it sent it.

        By the clock of this process, requests that came while it had no processor would all have come at once.
        """

        lines: set[asyncio.StreamWriter] = set()

        async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            lines.add(writer)
            with contextlib.suppress(ConnectionError):
                while line := await reader.readline():
                    process, moment = line.split()
                    self.add(int(process), float(moment))
            writer.close()

        server = await asyncio.start_server(listen, "127.0.0.1", 0)
        async with server:
            yield server.sockets[0].getsockname()[1]
            for line in lines:
                line.close()
            await asyncio.gather(*(line.wait_closed() for line in lines), return_exceptions=True)
