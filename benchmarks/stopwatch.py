"""Processor time of this process while it does one kind of work."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass
class Stopwatch:
    """Seconds of processor time, of all that it was held to."""

    seconds: float = 0.0

    def timed(self, work: Callable[..., T]) -> Callable[..., T]:
        """`work`, and its time is added."""

        def call(*given: object, **named: object) -> T:
            begun = time.process_time()
            try:
                return work(*given, **named)
            finally:
                self.seconds += time.process_time() - begun

        return call

    def each(self, items: Iterator[T]) -> Iterator[T]:
        """`items`, and the time that each takes to come is added."""
        coming = self.timed(lambda: next(items, None))
        while (item := coming()) is not None:
            yield item
