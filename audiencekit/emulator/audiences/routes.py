"""The endpoints of custom audiences."""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.rate_limits import READS, USERS, WRITES
from audiencekit.emulator.routing import Route

from .lifecycle import change_audience, create_audience, delete_audience, list_audiences, show_audience
from .uploads import upload_users

_ALL: Final = "/accounts/:account_id/custom_audiences"
_ONE: Final = _ALL + "/:custom_audience_id"

ROUTES: Final = (
    Route("GET", _ALL, list_audiences, READS),
    Route("POST", _ALL, create_audience, WRITES),
    Route("GET", _ONE, show_audience, READS),
    Route("PUT", _ONE, change_audience, WRITES),
    Route("DELETE", _ONE, delete_audience, WRITES),
    Route("POST", _ONE + "/users", upload_users, USERS),
)
