"""Work of a driver, which may take long and hears no signal: it is ended when it is not waited for any more."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from audiencekit.sources.bytes.standardinput import WAIT_ON

T = TypeVar("T")
WAIT_SECONDS: Final = 0.2  # for the work, until it is asked whether to wait on


class LongWork:
    """Work on one connection; `cancel` ends it from another thread. Made in the thread that opens the source."""

    def __init__(self, cancel: Callable[[], object]) -> None:
        self._cancel, self._wait_on = cancel, WAIT_ON.get()

    def result(self, work: Callable[[], T]) -> T:
        """The result of `work`. Raises what it raises, and what ends the wait."""
        with ThreadPoolExecutor(1, "audiencekit-query") as pool:
            coming = pool.submit(work)
            try:
                while True:
                    try:
                        return coming.result(WAIT_SECONDS)
                    except TimeoutError:
                        if coming.done():  # just now, or by a timeout of its own
                            return coming.result()
                    self._wait_on()
            except BaseException:
                if not coming.done():
                    self._cancel()
                raise
