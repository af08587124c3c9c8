"""The endpoints of the users around an account."""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.people.promotableusers import list_promotable_users, show_promotable_user
from audiencekit.emulator.people.settings import change_settings, show_settings
from audiencekit.emulator.rate_limits import READS, WRITES
from audiencekit.emulator.routing import Route

_PROMOTABLE: Final = "/accounts/:account_id/promotable_users"
_SETTINGS: Final = "/accounts/:account_id/user_settings/:user_id"

ROUTES: Final = (
    Route("GET", _PROMOTABLE, list_promotable_users, READS),
    Route("GET", _PROMOTABLE + "/:promotable_user_id", show_promotable_user, READS),
    Route("GET", _SETTINGS, show_settings, READS),
    Route("PUT", _SETTINGS, change_settings, WRITES),
)
