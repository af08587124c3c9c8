"""The endpoints of tracking tags."""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.rate_limits import READS, WRITES
from audiencekit.emulator.routing import Route
from audiencekit.emulator.tracking.tags import TRACKING_TAGS, change_tag, create_tag

_TAGS: Final = "/accounts/:account_id/tracking_tags"
_ONE: Final = _TAGS + "/:tracking_tag_id"

ROUTES: Final = (
    Route("GET", _TAGS, TRACKING_TAGS.list_records, READS),
    Route("POST", _TAGS, create_tag, WRITES),
    Route("GET", _ONE, TRACKING_TAGS.show_record, READS),
    Route("PUT", _ONE, change_tag, WRITES),
    Route("DELETE", _ONE, TRACKING_TAGS.delete_record, WRITES),
)
