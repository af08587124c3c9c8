"""An upload to an audience that is under sync, here or elsewhere: the next sync is to know of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from audiencekit.api.client import AdsClient
from audiencekit.api.stamps import REMOVAL, UPLOAD, description_of, find_stamp, with_stamp
from audiencekit.destinations.patientcalls import is_answered

if TYPE_CHECKING:
    from audiencekit.delivery.retry import RetryPolicy

_TOLD: Final = {
    UPLOAD: "people who are put in now and are not in its source stay until their entries expire",
    REMOVAL: "its next sync does not know the people who are taken out now, and is refused until it is rebuilt",
}


async def overtake_sync(
    client: AdsClient, audience_id: str, policy: RetryPolicy, tell: Callable[[str], None], *, removes: bool
) -> None:
    """Have the stamp of a sync, where the audience bears one, say that an upload came after it that `removes` people.

    A service that keeps no descriptions holds no upload back. Raises as `is_answered` where it does not answer now.
    """
    what, is_under_sync = REMOVAL if removes else UPLOAD, False

    async def overtake() -> None:
        nonlocal is_under_sync
        description = description_of(await client.get_custom_audience(audience_id)) or ""
        stamp = find_stamp(description, audience_id)
        if stamp is None:
            return
        is_under_sync = True
        if (followed := stamp.followed_by(what)) != stamp:
            await client.update_custom_audience(audience_id, description=with_stamp(description, followed))

    async with client:
        if await is_answered(overtake, policy) and is_under_sync:
            tell(f"note: the audience is under sync: {_TOLD[what]}")
