"""An upload to an audience that is under sync, here or elsewhere: the next sync is to know of it."""

from __future__ import annotations

from typing import Final

from audiencekit.api.client import AdsClient
from audiencekit.api.stamps import REMOVAL, UPLOAD, description_of, find_stamp, with_stamp
from audiencekit.errors import AudiencekitError, NotFound, RequestRefused, Unauthorized
from audiencekit.reporting.progress import Progress

_TOLD: Final = {
    UPLOAD: "who is put in now and is not in its source stays until the entry lapses",
    REMOVAL: "its next sync does not know who is taken out now, and is refused until it is rebuilt",
}
_NOT_TOLD: Final = "note: if the audience is under sync elsewhere, that sync will not know of this upload"


async def overtake_sync(client: AdsClient, audience_id: str, progress: Progress, *, removes: bool) -> None:
    """Have the stamp of a sync, where the audience bears one, say that an upload came after it that `removes` people.

    It is asked for once and raises nothing: what the service does not let us do keeps no upload back.
    """
    try:
        async with client:
            description = description_of(await client.get_custom_audience(audience_id)) or ""
            stamp = find_stamp(description, audience_id)
            if stamp is None:
                return
            what = REMOVAL if removes else UPLOAD
            if (followed := stamp.followed_by(what)) != stamp:
                await client.update_custom_audience(audience_id, description=with_stamp(description, followed))
            progress.tell(f"note: the audience is under sync: {_TOLD[what]}")
    except (NotFound, RequestRefused, Unauthorized):
        return  # said by the upload itself, or a service that keeps no descriptions
    except AudiencekitError:
        progress.tell(_NOT_TOLD)
