"""The end of a delivery: the first error is kept, every wait ends at once, exchanges under way go on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from audiencekit.errors import AudiencekitError


class Stop:
    """Shared by all workers of a delivery."""

    def __init__(self) -> None:
        self._idle: set[asyncio.Task[None]] = set()
        self.error: AudiencekitError | None = None

    @property
    def is_called(self) -> bool:
        """Whether nothing more may begin."""
        return self.error is not None

    def call(self, error: AudiencekitError) -> None:
        """Keeps the first error, and ends every wait."""
        if self.error is not None:
            return
        self.error = error
        for worker in self._idle:
            worker.cancel()

    async def idly(self, wait: Callable[[], Awaitable[object]]) -> None:
        """Waits for something that is no exchange: a stop raises CancelledError out of it at once."""
        if self.is_called:
            raise asyncio.CancelledError
        worker = asyncio.current_task()
        assert worker is not None  # noqa: S101
        self._idle.add(worker)
        try:
            await wait()
        finally:
            self._idle.discard(worker)


async def end(tasks: list[asyncio.Task[None]]) -> None:
    """Cancels what is left of `tasks` and returns when all have ended."""
    left = [task for task in tasks if not task.done()]
    for task in left:
        task.cancel()
    if left:
        await asyncio.wait(left)


def take_back_cancellation() -> None:
    """The current task goes on, as one that was not cancelled."""
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()
