"""An upload to an audience that is under sync, here or elsewhere: the next sync is to know of it."""

from __future__ import annotations

from typing import Final

from audiencekit.api.client import AdsClient
from audiencekit.api.stamps import description_of, find_stamp, with_stamp
from audiencekit.errors import AudiencekitError, NotFound, RequestRefused, Unauthorized
from audiencekit.reporting.progress import Progress

_TOLD: Final = (
    "note: the audience is under sync: its next sync is refused until it is rebuilt, for it does not know this"
)
_NOT_TOLD: Final = "note: if the audience is under sync elsewhere, that sync will not know of this upload"


async def overtake_sync(client: AdsClient, audience_id: str, progress: Progress) -> None:
    """Have the stamp of a sync, where the audience bears one, say that an upload came after it.

    It is asked for once and raises nothing: what the service does not let us do keeps no upload back.
    """
    try:
        async with client:
            description = description_of(await client.get_custom_audience(audience_id)) or ""
            stamp = find_stamp(description, audience_id)
            if stamp is None:
                return
            if not stamp.is_overtaken:
                overtaken = with_stamp(description, stamp.overtaken())
                await client.update_custom_audience(audience_id, description=overtaken)
            progress.tell(_TOLD)
    except (NotFound, RequestRefused, Unauthorized):
        return  # said by the upload itself, or a service that keeps no descriptions
    except AudiencekitError:
        progress.tell(_NOT_TOLD)
