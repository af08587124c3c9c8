"""One call that is no upload, as often as the tries of a request allow."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, TypeVar

from audiencekit.delivery.retry import RetryPolicy
from audiencekit.delivery.tries import Attempted, Tries, retrying
from audiencekit.errors import AudiencekitError

T = TypeVar("T")


class _Uncounted(NamedTuple):
    """Of a call that takes no records."""

    success_count: int = 0
    total_count: int = 0


async def call_patiently(call: Callable[[], Awaitable[T]], policy: RetryPolicy) -> T:
    """Return the result of `call`, made again after errors that pass, as an upload is sent again; raise others."""
    tries, found = Tries(policy), []

    async def attempt() -> Attempted:
        tries.begin_exchange()
        try:
            found.append(await call())
        except AudiencekitError as error:
            return error
        return _Uncounted()

    attempted: Any = await retrying(tries, sleep=policy.clock.sleep, is_stopped=lambda: False)(attempt)
    if isinstance(attempted, AudiencekitError):
        raise attempted.bare()
    return found[0]
