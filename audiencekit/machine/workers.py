"""Work done side by side, its results in order."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

T = TypeVar("T")
U = TypeVar("U")


def in_order(work: Callable[[T], U], items: Iterable[T], *, workers: int) -> Iterator[U]:
    """`work` of every item, in order, `workers` at a time; at most twice as many items are alive.

    One of the workers is the caller's thread, whenever it would wait: a thread that only waits and is woken for every
    item costs more than it does. What `work` or `items` raise is raised, and nothing new is begun after it; at once
    what interrupts the caller while it works.
    """
    if workers == 1:
        yield from map(work, items)
        return
    waiting: deque[_Task[T, U]] = deque()
    with ThreadPoolExecutor(workers - 1, "audiencekit") as pool:
        try:
            for item in items:
                waiting.append(_Task(work, item))
                pool.submit(waiting[-1].run)
                if len(waiting) >= 2 * workers:
                    yield _first(waiting)
            while waiting:
                yield _first(waiting)
        finally:
            for task in waiting:
                task.give_up()


def one_ahead(work: Callable[[T], U], items: Iterable[T]) -> Iterator[U]:
    """`work` of every item, in order, in another thread: of the next one while the caller is busy with the last.

    What `work` or `items` raise is raised.
    """
    with ThreadPoolExecutor(1, "audiencekit") as pool:
        coming: Future[U] | None = None
        for item in items:
            last, coming = coming, pool.submit(work, item)
            if last is not None:
                yield last.result()
                del last
        if coming is not None:
            yield coming.result()


class _Task(Generic[T, U]):
    """The work of one item, done by the thread that begins it first."""

    def __init__(self, work: Callable[[T], U], item: T) -> None:
        self._work, self._item = work, [item]
        self._begun = threading.Lock()
        self.done: Future[U] = Future()

    def run(self) -> bool:
        """Do it, unless another thread has begun; whether it was done here."""
        if not self._begun.acquire(blocking=False):
            return False
        try:
            result = self._work(self._item.pop())  # the work alone holds it from now on
        except BaseException as error:
            self.done.set_exception(error)
            if not isinstance(error, Exception):  # an interruption is for this thread, and not in its turn
                raise
        else:
            self.done.set_result(result)
        return True

    def result(self) -> U:
        """The result, when it is done; asked for once, since threads that have not looked at the task yet keep it."""
        result = self.done.result()
        del self.done
        return result

    def give_up(self) -> None:
        """It is begun no more."""
        self._begun.acquire(blocking=False)


def _first(waiting: deque[_Task[T, U]]) -> U:
    """The result of the first; while another thread works on it, those behind it are done here."""
    while not waiting[0].done.done() and any(task.run() for task in waiting):
        pass
    return waiting.popleft().result()


def cores() -> int:
    """Processors that this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed else os.cpu_count() or 1
