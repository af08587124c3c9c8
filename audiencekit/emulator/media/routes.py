"""The endpoints of the media library, of account media and of media creatives."""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.media.account_media import list_account_media
from audiencekit.emulator.media.creatives import create_creative, list_creatives
from audiencekit.emulator.media.kinds import ACCOUNT_MEDIA, MEDIA, MEDIA_CREATIVES
from audiencekit.emulator.media.library import add_media, change_media, list_media
from audiencekit.emulator.rate_limits import READS, WRITES
from audiencekit.emulator.routing import Route

_ACCOUNT: Final = "/accounts/:account_id"
_LIBRARY: Final = _ACCOUNT + "/media_library"
_ACCOUNT_MEDIA: Final = _ACCOUNT + "/account_media"
_CREATIVES: Final = _ACCOUNT + "/media_creatives"

ROUTES: Final = (
    Route("GET", _LIBRARY, list_media, READS),
    Route("POST", _LIBRARY, add_media, WRITES),
    Route("GET", _LIBRARY + "/:media_key", MEDIA.show_record, READS),
    Route("PUT", _LIBRARY + "/:media_key", change_media, WRITES),
    Route("DELETE", _LIBRARY + "/:media_key", MEDIA.delete_record, WRITES),
    Route("GET", _ACCOUNT_MEDIA, list_account_media, READS),
    Route("GET", _ACCOUNT_MEDIA + "/:account_media_id", ACCOUNT_MEDIA.show_record, READS),
    Route("DELETE", _ACCOUNT_MEDIA + "/:account_media_id", ACCOUNT_MEDIA.delete_record, WRITES),
    Route("GET", _CREATIVES, list_creatives, READS),
    Route("POST", _CREATIVES, create_creative, WRITES),
    Route("GET", _CREATIVES + "/:media_creative_id", MEDIA_CREATIVES.show_record, READS),
    Route("DELETE", _CREATIVES + "/:media_creative_id", MEDIA_CREATIVES.delete_record, WRITES),
)
