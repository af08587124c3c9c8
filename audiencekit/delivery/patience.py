"""One call that is no upload, as often as the tries of a request allow."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from audiencekit.delivery.retry import RetryPolicy
from audiencekit.delivery.tries import Tries, retrying
from audiencekit.errors import AudiencekitError

T = TypeVar("T")


async def call_patiently(call: Callable[[], Awaitable[T]], policy: RetryPolicy) -> T:
    """What `call` returns. It is called again after errors that pass, as an upload is sent again; others are raised."""
    tries = Tries(policy)

    async def attempt() -> Any:
        tries.begin_exchange()
        try:
            return await call()
        except AudiencekitError as error:
            return error

    attempted: Any = await retrying(tries, sleep=policy.clock.sleep, is_stopped=lambda: False)(attempt)
    if isinstance(attempted, AudiencekitError):
        raise attempted.bare()
    found: T = attempted
    return found
