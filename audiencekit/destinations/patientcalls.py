"""Calls before the first request of a run: made as patiently as it; they end the run as it would."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

from audiencekit.errors import (
    AudiencekitError,
    CertificateRefused,
    CredentialsRefused,
    ExchangeError,
    MalformedAnswer,
    NotFound,
    Redirected,
    Refused,
    RequestRefused,
    ServiceUnavailable,
    TemporarilyUnavailable,
    Unauthorized,
    UsageError,
)

if TYPE_CHECKING:
    from audiencekit.delivery.retry import RetryPolicy

_NOT_IMPLEMENTED: Final = frozenset({501, 505})
_FORBIDDEN: Final = 403


async def is_answered(call: Callable[[], Awaitable[object]], policy: RetryPolicy) -> bool:
    """Whether `call` came to its end; False where the service will never do what it asks for.

    It is made again as often as `policy` allows. Raises ServiceUnavailable, CredentialsRefused or Refused where the
    service does not do it now, but may later, and what else `call` raises.
    """
    try:
        await policy.patiently(lambda: offered(call))
    except UsageError:  # a rule of ours that the service's own data does not keep
        return False
    except ExchangeError as error:
        if _is_for_good(error):
            return False
        raise as_of_a_run(error) from None
    return True


async def offered(call: Callable[[], Awaitable[object]]) -> None:
    """Awaits `call`. Raises RequestRefused where the service does not have it, and asking again does not help."""
    try:
        await call()
        return
    except TemporarilyUnavailable as error:
        if error.status not in _NOT_IMPLEMENTED:
            raise
        status = error.status
    raise RequestRefused("the service does not have this call", status=status)


def _is_for_good(error: ExchangeError) -> bool:
    """Whether the service has no such call, or does not allow it."""
    if isinstance(error, Unauthorized):
        return error.status == _FORBIDDEN
    return isinstance(error, NotFound | RequestRefused | MalformedAnswer)


def as_of_a_run(error: ExchangeError, done: str = "nothing was sent") -> AudiencekitError:
    """The error of a run whose first request ends in `error`."""
    facts = f"{done}: {error}"
    if isinstance(error, Unauthorized):
        return CredentialsRefused(facts, hint=error.hint or "check the credentials and their permissions")
    if isinstance(error, CertificateRefused | Redirected):
        return Refused(facts, hint=error.hint)
    return ServiceUnavailable(facts, hint=error.hint or "try again later")
