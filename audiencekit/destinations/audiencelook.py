"""A look at an audience before the source of a run is read: whether it is there, and may be written."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from audiencekit.api.client import AdsClient
from audiencekit.api.serviceclock import seconds_behind, skew_in_words
from audiencekit.api.wire import Answer
from audiencekit.destinations.audiencenames import find_in_name
from audiencekit.destinations.patientcalls import as_of_a_run, offered
from audiencekit.destinations.permissions import READS_ONLY, READS_ONLY_HINT, may_only_read, viewing_permissions
from audiencekit.errors import (
    AudiencekitError,
    CredentialsRefused,
    ExchangeError,
    MalformedAnswer,
    NotFound,
    PlanRefused,
    RequestRefused,
    UsageError,
)
from audiencekit.shown import shown

if TYPE_CHECKING:
    from audiencekit.delivery.retry import RetryPolicy

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
    client: AdsClient, account_id: str, audience_id: str, policy: RetryPolicy, tell: Callable[[str], None]
) -> Mapping[str, Any]:
    """Tell the name of the audience, and of a clock that is far off; what the service says of it comes back.

    One to three requests.

    A service that does not say what it has, or what the user may do, holds no run back.

    Raises PlanRefused for an audience that is not there or takes no people, CredentialsRefused where we may not write,
    and ServiceUnavailable or Refused where the service cannot be asked now.
    """
    found: list[Answer] = []

    async def look() -> None:
        found.append(await client.get_custom_audience(audience_id))

    async with client:
        try:
            await policy.patiently(lambda: offered(look))
        except NotFound:
            found.clear()
        except (UsageError, RequestRefused, MalformedAnswer):  # no such call, or an answer in a form of its own
            return {}
        except ExchangeError as error:
            raise as_of_a_run(error, _NOTHING) from None
        hint = _LIST if found else await _called_so(client, audience_id) or _LIST
        _judge(account_id, audience_id, found[-1].data if found else None, hint)
        if behind := seconds_behind(policy.clock.now(), found[-1].answered_at):
            tell(f"note: {skew_in_words(behind)}: set it")
        if may_only_read(found[-1]):
            raise CredentialsRefused(f"{READS_ONLY}: {_NOTHING}", hint=READS_ONLY_HINT)
        if viewing := await viewing_permissions(client):
            told = f"this user may only look at account {account_id} ({viewing})"
            raise CredentialsRefused(f"{told}: {_NOTHING}", hint=_WHOAMI)
    audience: Mapping[str, Any] = found[-1].data
    if name := audience.get("name"):
        tell(f"audience {audience_id}: {shown(str(name))}")
        for finding in find_in_name(str(name)):
            tell(
                f"note: the name of the audience holds {finding.what}: everyone with access to the account can read it"
            )
    return audience


async def _called_so(client: AdsClient, name: str) -> str:
    """The hint for a name that was taken for an id: which audiences are called so. Empty when none is."""
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
