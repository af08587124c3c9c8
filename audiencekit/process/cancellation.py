"""Cancellations as asyncio defines them: CancelledError is raised soon, after the work under way has ended in good
order.

Work answers an interruption itself: the first lets exchanges under way finish, the next ends them, and what the work
raises then says how far it came. So the command line has it. A function that a program awaits is `cancellable`.
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from audiencekit.errors import AudiencekitError
from audiencekit.limits import CANCELLATION_SECONDS

if TYPE_CHECKING:
    import asyncio

P = ParamSpec("P")
T = TypeVar("T")

_IS_INTERRUPTIBLE: ContextVar[bool] = ContextVar("_IS_INTERRUPTIBLE", default=False)
_AGAIN_SECONDS = 1.0  # what has swallowed an interruption too late is interrupted once more
_TOO_LATE = "all was done when the cancellation came"


def cancellable(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """`function`, out of which a cancellation comes as CancelledError when its work has ended.

    The first interrupts the work. A second one, or the end of CANCELLATION_SECONDS, interrupts it again. The cause of
    the CancelledError is what the work raised: it says how far it came. Inside `interruptible` work nothing changes.
    """

    @functools.wraps(function)
    async def call(*given: P.args, **keywords: P.kwargs) -> T:
        work = function(*given, **keywords)
        del given, keywords  # no traceback of what follows is to show a data frame, or identifiers
        return await (work if _IS_INTERRUPTIBLE.get() else _cancelled_in_time(work))

    return call


async def interruptible(work: Awaitable[T]) -> T:
    """Return the result of `work`, for a caller that treats its exceptions as the answer to a cancellation."""
    before = _IS_INTERRUPTIBLE.set(True)
    try:
        return await work
    finally:
        _IS_INTERRUPTIBLE.reset(before)


async def _cancelled_in_time(work: Coroutine[Any, Any, T]) -> T:
    import asyncio  # as in `eventloop`

    working = asyncio.ensure_future(interruptible(work))
    try:
        await asyncio.wait([working])
        return working.result()
    except asyncio.CancelledError as cancelled:
        await _end(working)
        _explain(cancelled, working)
        raise  # the same one, by which its scope knows it
    finally:
        del working  # else what was raised would keep itself, by this frame


async def _end(working: asyncio.Task[Any]) -> None:
    """Return when `working` has ended. It is interrupted until then."""
    import asyncio

    seconds = CANCELLATION_SECONDS
    if not working.cancelling():  # a loop that closes has cancelled all tasks
        working.cancel()
    while not working.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait([working], timeout=seconds)
        working.cancel()
        seconds = _AGAIN_SECONDS


def _explain(cancelled: asyncio.CancelledError, working: asyncio.Task[Any]) -> None:
    """Say in `cancelled` what became of the work."""
    failure = None if working.cancelled() else working.exception()
    cancelled.__cause__ = failure.bare() if isinstance(failure, AudiencekitError) else failure
    if failure is None and not working.cancelled():
        cancelled.add_note(_TOO_LATE)
