"""The one door from synchronous callers to asynchronous work; and work that no cancellation cuts short."""

from __future__ import annotations

import contextvars
import functools
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from audiencekit.process.cancellation import interruptible

if TYPE_CHECKING:
    from concurrent.futures import Future

P = ParamSpec("P")
T = TypeVar("T")


def blocking(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """`function`, whose name ends in `_async`, for callers that do not await: its parameters, and its result.

    Where an event loop is running, as in a notebook, the work is done in a thread of its own.
    """

    @functools.wraps(function)
    def call(*given: P.args, **keywords: P.kwargs) -> T:
        work = interruptible(function(*given, **keywords))
        del given, keywords  # no traceback of what follows is to show a data frame, or identifiers
        import asyncio  # 20 ms, which those who only check a list need not spend

        return run_beside(work) if _a_loop_is_running() else asyncio.run(work)

    call.__name__ = call.__qualname__ = function.__name__.removesuffix("_async")
    beside = f"Inside an event loop this works in a thread of its own, and waits for it: see `{function.__name__}`."
    call.__doc__ = f"{function.__doc__}\n    {beside}\n    "
    return call


def run_beside(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` in an event loop in another thread and return its result. An interrupt of the caller cancels it.

    Raises what the work raises, and KeyboardInterrupt when an interrupt has cancelled it and it said nothing more.
    """
    import asyncio
    from concurrent.futures import Future

    begun: Future[Callable[[], object]] = Future()
    outcome: Future[T] = Future()

    async def carry_out() -> T:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        begun.set_result(lambda: loop.call_soon_threadsafe(task.cancel if task else loop.stop))
        return await work

    def end() -> None:
        try:
            outcome.set_result(asyncio.run(carry_out()))
        except BaseException as error:  # whatever it is, the caller is to have it
            outcome.set_exception(error)

    thread = threading.Thread(target=contextvars.copy_context().run, args=(end,), name="audiencekit")
    while True:
        try:
            if thread.ident is None:
                thread.start()
            return outcome.result()
        except KeyboardInterrupt:
            with suppress(RuntimeError):  # of a loop that has ended meanwhile
                begun.result()()
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None


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
    """Open `manager`. It sees no exception, and a cancellation while it closes waits until it is closed."""
    opened = await manager.__aenter__()
    try:
        yield opened
    finally:
        await to_its_end(manager.__aexit__(None, None, None))


def _a_loop_is_running() -> bool:
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
