"""Work done side by side, its results in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
U = TypeVar("U")


def in_order(work: Callable[[T], U], items: Iterable[T], *, workers: int) -> Iterator[U]:
    """`work` of every item, in order, `workers` at a time; at most twice as many items are alive.

    What `work` or `items` raise is raised, and nothing new is begun after it.
    """
    waiting: deque[Future[U]] = deque()
    with ThreadPoolExecutor(workers, "audiencekit") as pool:
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) >= 2 * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def cores() -> int:
    """Processors that this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed else os.cpu_count() or 1
