"""The one way into what is awaited, for callers without an event loop."""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine
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


def _refuse_running_loop(instead: str) -> None:
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise UsageError("an event loop is running here", hint=f"await audiencekit.{instead}(…) instead")
