"""Requests as a service sees them: when they arrive, from which sender, and how many in the worst window."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter, deque
from collections.abc import AsyncIterator
from typing import Final

from audiencekit.delivery.limiter.boot import boot_seconds

_PATIENCE_SECONDS: Final = 120.0  # for processes to start, on a machine that has much else to do
_LOOK_SECONDS: Final = 0.05


class Arrivals:
    """The moments at which requests arrived, and the worst closed window so far."""

    def __init__(self, *, limit: int, window_seconds: float) -> None:
        self._limit, self._window_seconds = limit, window_seconds
        self._window: deque[float] = deque()
        self._heard: set[int] = set()
        self.worst_window = self.over_limit = 0
        self.by_process: Counter[int] = Counter()
        self.is_counting = False

    def add(self, process: int, moment: float) -> None:
        """Notes one request of `process` at `moment`, which is no earlier than those before."""
        self._window.append(moment)
        while self._window[0] < moment - self._window_seconds:
            self._window.popleft()
        self.worst_window = max(self.worst_window, len(self._window))
        self.over_limit += len(self._window) > self._limit
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
        """The port of a server that notes every line, which is the number of a process."""

        lines: set[asyncio.StreamWriter] = set()

        async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            lines.add(writer)
            with contextlib.suppress(ConnectionError):
                while line := await reader.readline():
                    self.add(int(line), boot_seconds())
            writer.close()

        server = await asyncio.start_server(listen, "127.0.0.1", 0)
        async with server:
            yield server.sockets[0].getsockname()[1]
            for line in lines:
                line.close()
            await asyncio.gather(*(line.wait_closed() for line in lines), return_exceptions=True)
