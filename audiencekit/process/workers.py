"""Work that threads share: done side by side, its results in order, or remembered for all that ask for them."""

from __future__ import annotations

import os
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from threading import Lock
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


class Memo(Generic[T]):
    """The results of `make` for numbers, of the `most` numbers that were asked for last.

    Threads that ask for the same number at once wait for the one that makes it, where functools.lru_cache lets each
    make its own. Of numbers that are asked for in their order, up to `end`, who would only wait makes the next one
    meanwhile. What `make` raises is raised, and nothing is kept of it.
    """

    def __init__(self, make: Callable[[int], T], *, most: int, end: int = 0) -> None:
        self._make, self._most, self._end = make, most, end
        self._slots: OrderedDict[int, _Slot[T]] = OrderedDict()
        self._lock = Lock()

    def __call__(self, number: int) -> T:
        slot = self._slot(number)
        if slot.is_begun and not slot.is_made and number + 1 < self._end:
            following = self._slot(number + 1)
            if not following.is_begun:
                with suppress(Exception):  # who asks for it tries again, and is told
                    following.get(self._make, number + 1)
        return slot.get(self._make, number)

    def _slot(self, number: int) -> _Slot[T]:
        with self._lock:
            slot = self._slots.setdefault(number, _Slot())
            self._slots.move_to_end(number)
            if len(self._slots) > self._most:
                self._slots.popitem(last=False)
            return slot


class _Slot(Generic[T]):
    def __init__(self) -> None:
        self._lock = Lock()
        self._made: list[T] = []

    @property
    def is_made(self) -> bool:
        return bool(self._made)

    @property
    def is_begun(self) -> bool:
        return self.is_made or self._lock.locked()

    def get(self, make: Callable[[int], T], number: int) -> T:
        with self._lock:
            if not self._made:
                self._made.append(make(number))
            return self._made[0]


class _Task(Generic[T, U]):
    """The work of one item, done by the thread that begins it first."""

    def __init__(self, work: Callable[[T], U], item: T) -> None:
        self._work, self._item = work, [item]
        self._begun = Lock()
        self.done: Future[U] = Future()

    def run(self) -> bool:
        """Do the task unless another thread has begun it. Returns whether it was done here."""
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
        """Make sure that no thread begins it from now on."""
        self._begun.acquire(blocking=False)


def _first(waiting: deque[_Task[T, U]]) -> U:
    """Return the result of the first task. While another thread works on it, do later tasks here."""
    while not waiting[0].done.done() and any(task.run() for task in waiting):
        pass
    return waiting.popleft().result()


def cores() -> int:
    """Processors that this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed else os.cpu_count() or 1
