"""Waits of a thread that reads a source: no signal reaches it, so it asks again and again whether to wait on."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from contextvars import ContextVar
from typing import Final, TypeVar

T = TypeVar("T")
WAIT_SECONDS: Final = 0.2  # for anything to come, until it is asked whether to wait on

# Asked while nothing comes; raises when it is not waited for any more.
WAIT_ON: ContextVar[Callable[[], None]] = ContextVar("WAIT_ON", default=lambda: None)


def result_of(coming: Future[T], wait_on: Callable[[], None]) -> T:
    """The result of `coming`. Raises what it raises, and what `wait_on` raises."""
    while True:
        try:
            return coming.result(WAIT_SECONDS)
        except TimeoutError:
            if coming.done():  # just now, or by a timeout of its own
                return coming.result()
        wait_on()
