"""Checks before the first request of a run: the audience and the permissions, with the same retries as the run."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol

from audiencekit.api.answers import Answer
from audiencekit.api.oauth import seconds_behind, skew_in_words
from audiencekit.destinations.audience_names import find_in_name
from audiencekit.errors import (
    AudiencekitError,
    CertificateRefused,
    CredentialsRefused,
    ExchangeError,
    MalformedAnswer,
    NotFound,
    PlanRefused,
    Redirected,
    Refused,
    RequestRefused,
    ServiceUnavailable,
    TemporarilyUnavailable,
    Unauthorized,
    UsageError,
)
from audiencekit.text import shown

if TYPE_CHECKING:
    from audiencekit.api.client import AdsClient
    from audiencekit.delivery.retry import RetryPolicy


# --- The check of an audience before the source of a run is read: whether it exists, and may be written ---

_LIST: Final = "`audiencekit audiences list` shows what it has"
# Types of audiences that no upload fills.
_FILLED_BY: Final[Mapping[str, str]] = {
    "FLEXIBLE": "it is a flexible one, which follows from others",
    "WEB": "the service fills it with visitors of a website",
    "MOBILE": "the service fills it with users of an app",
}
_NOTHING: Final = "nothing was read, and nothing was sent"
_WHOAMI: Final = "`audiencekit whoami` shows which accounts these credentials can use, and what they may do"


async def look_at_audience(
    client: AdsClient, account_id: str, audience_id: str, policy: RetryPolicy, notify: Callable[[str], None]
) -> Mapping[str, Any]:
    """Return the audience; notify about its name, and about a clock that is far off.

    This takes one to three requests. If the service does not offer audiences or permissions, the run goes on. Raises
    PlanRefused for an audience that does not exist or takes no people, CredentialsRefused without the right to write,
    and ServiceUnavailable or Refused when the service cannot be asked now.
    """
    found: list[Answer] = []

    async def look() -> None:
        found.append(await client.get_custom_audience(audience_id))

    async with client:
        try:
            await policy.with_retries(lambda: call_if_offered(look), notify)
        except NotFound:
            found.clear()
        except (UsageError, RequestRefused, MalformedAnswer):  # no such call, or an answer in a form of its own
            return {}
        except ExchangeError as error:
            raise as_run_error(error, _NOTHING) from None
        hint = _LIST if found else await _same_name_hint(client, audience_id) or _LIST
        _judge(account_id, audience_id, found[-1].data if found else None, hint)
        if behind := seconds_behind(policy.clock.now(), found[-1].answered_at):
            notify(f"note: {skew_in_words(behind)}: set it")
        if may_only_read(found[-1]):
            raise CredentialsRefused(f"{READS_ONLY}: {_NOTHING}", hint=READS_ONLY_HINT)
        if viewing := await viewing_permissions(client):
            message = f"this user may only look at account {account_id} ({viewing})"
            raise CredentialsRefused(f"{message}: {_NOTHING}", hint=_WHOAMI)
    audience: Mapping[str, Any] = found[-1].data
    if name := audience.get("name"):
        notify(f"audience {audience_id}: {shown(str(name))}")
        for finding in find_in_name(str(name)):
            notify(
                f"note: the name of the audience holds {finding.what}: everyone with access to the account can read it"
            )
    return audience


async def _same_name_hint(client: AdsClient, name: str) -> str:
    """Return a hint for a name given in place of an id: the audiences with this name. Empty without any."""
    found: list[str] = []
    with contextlib.suppress(AudiencekitError):
        async for page in client.iterate_custom_audiences(q=name):
            found += [str(each["id"]) for each in page.data if each.get("name") == name and not each.get("deleted")]
    return f"{name!r} reads as an id; it is the name of {', '.join(found)}: give that id" if found else ""


def _judge(account_id: str, audience_id: str, audience: Mapping[str, Any] | None, hint: str) -> None:
    if audience is None or audience.get("deleted") is True:
        raise PlanRefused(f"account {account_id} has no audience {audience_id}: {_NOTHING}", hint=hint)
    if audience.get("permission_level") == "READ_ONLY":
        message = f"audience {audience_id} may only be read by account {account_id}: {_NOTHING}"
        raise CredentialsRefused(message, hint="its owner can grant the permission to write")
    if (why := _FILLED_BY.get(str(audience.get("audience_type")))) is not None:
        message = f"audience {audience_id} takes no people: {why}: {_NOTHING}"
        raise PlanRefused(message, hint=f"upload to an audience of people; {_LIST}")


# --- Calls before the first request of a run: with the same retries, and the same errors ---

_NOT_IMPLEMENTED: Final = frozenset({501, 505})
_FORBIDDEN: Final = 403


async def is_answered(call: Callable[[], Awaitable[object]], policy: RetryPolicy) -> bool:
    """Await `call`; return True when it succeeded, and False if the service will never do this.

    It is repeated as often as `policy` allows. Raises ServiceUnavailable, CredentialsRefused or Refused if the service
    does not do it now, but may later, and all other errors of `call`.
    """
    try:
        await policy.with_retries(lambda: call_if_offered(call))
    except UsageError:  # a rule of ours that the service's own data does not keep
        return False
    except ExchangeError as error:
        if _is_permanent(error):
            return False
        raise as_run_error(error) from None
    return True


async def call_if_offered(call: Callable[[], Awaitable[object]]) -> None:
    """Await `call`. Raises RequestRefused if the service does not offer it, so that a retry does not help."""
    try:
        await call()
        return
    except TemporarilyUnavailable as error:
        if error.status not in _NOT_IMPLEMENTED:
            raise
        status = error.status
    raise RequestRefused("the service does not have this call", status=status)


def _is_permanent(error: ExchangeError) -> bool:
    """Whether the service has no such call, or does not allow it."""
    if isinstance(error, Unauthorized):
        return error.status == _FORBIDDEN
    return isinstance(error, NotFound | RequestRefused | MalformedAnswer)


def as_run_error(error: ExchangeError, done: str = "nothing was sent") -> AudiencekitError:
    """Return the error of a run whose first request ends in `error`."""
    facts = f"{done}: {error}"
    if isinstance(error, Unauthorized):
        return CredentialsRefused(facts, hint=error.hint or "check the credentials and their permissions")
    if isinstance(error, CertificateRefused | Redirected):
        return Refused(facts, hint=error.hint)
    return ServiceUnavailable(facts, hint=error.hint or "try again later")


# --- The permissions of the credentials of a run, from the service ---

# A user who has none but these changes no audience (specification part 1, section 4.9).
VIEWING: Final = frozenset({"ANALYST", "CAMPAIGN_ANALYST", "CREATIVE_MANAGER", "TWEET_COMPOSER"})
READS_ONLY: Final = "the token may only read"
READS_ONLY_HINT: Final = "let the application write, then `audiencekit login` makes a token that may"


class Permissions(Protocol):
    """The method of a client that returns the permissions."""

    async def get_authenticated_user_access(self) -> Answer:
        """Return the roles of the user in the account."""


def may_only_read(answer: Answer) -> bool:
    """Whether the token of an answer may not write."""
    return answer.access_level == "read"


async def viewing_permissions(client: Permissions) -> str:
    """Return the roles, in the service's words, of a user who may only view the account; empty for any other user.

    The service is asked once. Also empty if it does not say.
    """
    try:
        access = (await client.get_authenticated_user_access()).data
    except (ExchangeError, UsageError):
        return ""
    roles = access.get("permissions") if isinstance(access, dict) else None
    if isinstance(roles, list) and roles and all(isinstance(each, str) and each in VIEWING for each in roles):
        return ", ".join(map(shown, roles))
    return ""
