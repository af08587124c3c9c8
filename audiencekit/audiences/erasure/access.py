"""Whether the service lets us erase at all, asked before anyone is remembered."""

from __future__ import annotations

import asyncio
from typing import Final

from audiencekit.api.client import AdsClient
from audiencekit.destinations.audience_look import READS_ONLY, READS_ONLY_HINT, may_only_read, viewing_permissions
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
_NOTHING: Final = "no one was remembered, and nothing was sent"


async def check_access(client: AdsClient, account_id: str) -> None:
    """Return unless the service refuses us, or says that this user or token may only look at the account.

    Raises CredentialsRefused or PlanRefused. A service that is away is no reason: these people are left out of uploads
    from now on, and are erased when it is back.
    """
    refusal: AudiencekitError
    try:
        answer = await client.list_custom_audiences(count=1)
        if may_only_read(answer):
            raise CredentialsRefused(f"account {account_id}: {READS_ONLY}: {_NOTHING}", hint=READS_ONLY_HINT)
        if viewing := await viewing_permissions(client):
            may = f"this user may only look at it ({viewing})"
            raise CredentialsRefused(f"account {account_id}: {may}: {_NOTHING}", hint=_WHOAMI)
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
