"""The run of one task: the id that all tries share, and the work that a signal of Airflow drains. Knows no Airflow."""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from collections.abc import Coroutine, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from audiencekit.process.cancellation import interruptible
from audiencekit.process.loop_signals import all_held_back
from audiencekit.runs.store import RUN_ID_TIME

_DIGITS: Final = 16


def run_id_of(context: Mapping[str, Any]) -> str:
    """The id of the task's run, from the ids of its DAG, its DAG run and itself, and its map index.

    It begins with the time that the DAG run is for, by which people find it.
    """
    task, dag_run = context["ti"], context["dag_run"]
    names = json.dumps([task.dag_id, task.task_id, task.run_id, task.map_index])
    return f"{_time_of(dag_run)}-{hashlib.sha256(names.encode()).hexdigest()[:_DIGITS]}"


def _time_of(dag_run: Any) -> str:
    # Airflow 3 gives every DAG run a time to run after, and not every one a logical date; 2.11 knows the latter only.
    time: datetime = getattr(dag_run, "run_after", None) or dag_run.logical_date
    return time.astimezone(UTC).strftime(RUN_ID_TIME)


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
