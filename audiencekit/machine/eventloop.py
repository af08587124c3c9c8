"""The one way into what is awaited, for callers without an event loop; and what no cancellation cuts short."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, ParamSpec, TypeVar

from audiencekit.errors import UsageError

P = ParamSpec("P")
T = TypeVar("T")


def blocking(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """`function`, whose name ends in `_async`, for callers without an event loop: its parameters, and its result.

    What comes back raises UsageError where an event loop is running.
    """

    @functools.wraps(function)
    def call(*given: P.args, **keywords: P.kwargs) -> T:
        _refuse_running_loop(function.__name__)
        work = function(*given, **keywords)
        del given, keywords  # no traceback of what follows is to show a data frame, or identifiers
        import asyncio  # 20 ms, which those who only check a list need not spend

        return asyncio.run(work)

    call.__name__ = call.__qualname__ = function.__name__.removesuffix("_async")
    instead = f"Raises UsageError where an event loop is running: await `{function.__name__}`."
    call.__doc__ = f"{function.__doc__}\n    {instead}\n    "
    return call


async def to_its_end(work: Awaitable[T]) -> T:
    """The result of `work`. A cancellation meanwhile is too late to keep anything back: it is taken back.

    For what ends by itself, and soon, as the last thing that the caller awaits.
    """
    import asyncio

    working, caller = asyncio.ensure_future(work), asyncio.current_task()
    while not working.done():
        try:
            await asyncio.wait([working])
        except asyncio.CancelledError:
            if caller is not None:
                caller.uncancel()
    return working.result()


@asynccontextmanager
async def closed_to_its_end(manager: AbstractAsyncContextManager[T]) -> AsyncIterator[T]:
    """The opened `manager`. It is told of no exception, and a cancellation while it closes is taken back."""
    opened = await manager.__aenter__()
    try:
        yield opened
    finally:
        await to_its_end(manager.__aexit__(None, None, None))


def _refuse_running_loop(instead: str) -> None:
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise UsageError("an event loop is running here", hint=f"await audiencekit.{instead}(…) instead")
