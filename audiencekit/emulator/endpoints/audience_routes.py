"""The endpoints of custom audiences, and of tailored audiences, their older name."""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.endpoints.audience_permissions import CUSTOM, TAILORED
from audiencekit.emulator.endpoints.audience_users import upload_users
from audiencekit.emulator.endpoints.custom_audience_calls import (
    change_audience,
    create_audience,
    delete_audience,
    list_audiences,
    show_audience,
)
from audiencekit.emulator.endpoints.flexible_audience_calls import batch_audiences
from audiencekit.emulator.routing import READS, USERS, WRITES, Route

_ALL: Final = "/accounts/:account_id/custom_audiences"
_ONE: Final = _ALL + "/:custom_audience_id"
_TAILORED: Final = "/accounts/:account_id/tailored_audiences/:tailored_audience_id"

ROUTES: Final = (
    Route("GET", _ALL, list_audiences, READS),
    Route("POST", _ALL, create_audience, WRITES),
    Route("GET", _ONE, show_audience, READS),
    Route("PUT", _ONE, change_audience, WRITES),
    Route("DELETE", _ONE, delete_audience, WRITES),
    Route("POST", "/batch" + _ALL, batch_audiences, WRITES),
    Route("POST", _ONE + "/users", upload_users, USERS),
    Route("GET", _ONE + "/permissions", CUSTOM.show, READS),
    Route("POST", _ONE + "/permissions", CUSTOM.grant, WRITES),
    Route("DELETE", _ONE + "/permissions/:custom_audience_permission_id", CUSTOM.revoke, WRITES),
    Route("GET", _TAILORED + "/permissions", TAILORED.show, READS, version="5"),
    Route("POST", _TAILORED + "/permissions", TAILORED.grant, WRITES, version="5"),
    Route("DELETE", _TAILORED + "/permissions/:tailored_audience_permission_id", TAILORED.revoke, WRITES, version="5"),
)
