"""Whether the service lets us erase at all, asked before anybody is remembered."""

from __future__ import annotations

import asyncio
from typing import Final

from audiencekit.api.client import AdsClient
from audiencekit.errors import (
    AudiencekitError,
    CredentialsRefused,
    ExchangeError,
    NotFinished,
    NotFound,
    PlanRefused,
    Redirected,
    RequestRefused,
    Unauthorized,
)

_WHOAMI: Final = "`audiencekit whoami` shows which accounts these credentials can use, and what they may do"
_NOTHING: Final = "nobody was remembered, and nothing was sent"

# Who has none but these may look and not change anything (specification part 1, section 4.9).
_VIEWING: Final = ("ANALYST", "CAMPAIGN_ANALYST")


async def check_access(client: AdsClient, account_id: str) -> None:
    """Returns unless the service refuses us, or says that this user may only look at the account.

    Raises CredentialsRefused or PlanRefused. A service that is away is no reason: these people are left out of uploads
    from now on, and are erased when it is back. Whether the application itself may only read, no endpoint says.
    """
    refusal: AudiencekitError
    try:
        await client.list_custom_audiences(count=1)
        await _check_permissions(client, account_id)
        return
    except Unauthorized as error:
        hint = error.hint or _WHOAMI
        refusal = CredentialsRefused(f"account {account_id}: {error}: {_NOTHING}", hint=hint)
    except (NotFound, RequestRefused, Redirected) as error:
        hint = error.hint or _WHOAMI
        refusal = PlanRefused(f"account {account_id}: {error}: {_NOTHING}", hint=hint)
    except ExchangeError:
        return
    except asyncio.CancelledError:
        refusal = NotFinished(f"interrupted: {_NOTHING}")
    raise refusal


async def _check_permissions(client: AdsClient, account_id: str) -> None:
    """Raises CredentialsRefused. A service that does not tell what the user may do is no reason either."""
    try:
        access = (await client.get_authenticated_user_access()).data
    except ExchangeError:
        return
    told = access.get("permissions") if isinstance(access, dict) else None
    if isinstance(told, list) and told and all(each in _VIEWING for each in told):
        may = f"this user may only look at it ({', '.join(told)})"
        raise CredentialsRefused(f"account {account_id}: {may}: {_NOTHING}", hint=_WHOAMI)
