"""Work of a driver, which may take long and hears no signal: it is ended when it is not waited for any more."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from audiencekit.sources.patience import WAIT_ON, result_of

T = TypeVar("T")


class LongWork:
    """Work on one connection; `cancel` ends it from another thread. Made in the thread that opens the source."""

    def __init__(self, cancel: Callable[[], object]) -> None:
        self._cancel, self._wait_on = cancel, WAIT_ON.get()

    def result(self, work: Callable[[], T]) -> T:
        """The result of `work`. Raises what it raises, and what ends the wait."""
        with ThreadPoolExecutor(1, "audiencekit-query") as pool:
            coming = pool.submit(work)
            try:
                return result_of(coming, self._wait_on)
            except BaseException:
                if not coming.done():
                    self._cancel()
                raise
