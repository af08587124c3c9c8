"""An event loop in a thread of its own: sources are read by a thread, and connections are awaited."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import AsyncExitStack, suppress
from typing import Any, Final, TypeVar

from audiencekit.sources.patience import WAIT_ON, result_of

T = TypeVar("T")
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
        """The result of `work`, to come."""
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
