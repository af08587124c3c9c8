"""Work in a thread of its own, for those who await it: a cancellation stops it, and comes when it has ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from audiencekit.reporting.progress import Stoppable
from audiencekit.sources.patience import WAIT_ON

T = TypeVar("T")


async def in_thread(work: Callable[[], T], stoppable: Stoppable | None = None) -> T:
    """Return the result of `work`, from a thread of its own.

    A cancellation stops `stoppable`, at which `work` ends at its next step or while it waits for standard input, and
    comes when it has ended.
    """

    def work_until_stopped() -> T:
        if stoppable is not None:
            WAIT_ON.set(stoppable.go_on)  # in the context of this thread, which is a copy
        return work()

    working = asyncio.ensure_future(asyncio.to_thread(work_until_stopped))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        if stoppable is not None:
            stoppable.stop()
        while not working.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([working])
        working.exception()
        raise
