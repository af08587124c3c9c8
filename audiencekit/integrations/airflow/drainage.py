"""Work that a task can be asked to end: what is under way is finished, nothing new begins. Knows no Airflow."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from audiencekit.process.event_loop import all_held_back, interruptible

T = TypeVar("T")


class Drainage:
    """Runs one coroutine in an event loop of its own, in a thread of its own.

    The thread of the task only waits: Airflow ends a task by a signal there, and what the handler raises must not break
    into a request that is on its way.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a signal may come while `drain` holds it
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None
        self._is_called = False

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Return or raise as `work` does. An interruption of the wait calls `drain`, and is raised after the end."""
        with ThreadPoolExecutor(1, "audiencekit-task") as pool:
            try:
                return self._begin(pool, work).result()
            except BaseException:
                self.drain()
                raise

    def _begin(self, pool: ThreadPoolExecutor, work: Coroutine[Any, Any, T]) -> Future[T]:
        # A handler that raises while the thread starts would leave a thread behind that no one waits for.
        with all_held_back():
            return pool.submit(asyncio.run, self._hold(work))

    def drain(self) -> None:
        """Ask the work to end, as the first SIGTERM does on the command line; a second call changes nothing."""
        with self._lock:
            if self._is_called:
                return
            if self._loop is not None and self._task is not None:
                self._loop.call_soon_threadsafe(self._task.cancel)
            self._is_called = True

    async def _hold(self, work: Coroutine[Any, Any, T]) -> T:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101
        with self._lock:
            self._loop, self._task = asyncio.get_running_loop(), task
            if self._is_called:
                task.cancel()
        try:
            return await interruptible(work)
        finally:
            with self._lock:
                self._loop = None
