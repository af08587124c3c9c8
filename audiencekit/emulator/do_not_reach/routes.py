"""The endpoints of do-not-reach lists."""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.do_not_reach.lists import create_list, delete_list, show_lists
from audiencekit.emulator.do_not_reach.users import upload_users
from audiencekit.emulator.rate_limits import READS, USERS, WRITES
from audiencekit.emulator.routing import Route

_ALL: Final = "/accounts/:account_id/do_not_reach_lists"
_ONE: Final = _ALL + "/:do_not_reach_list_id"

ROUTES: Final = (
    Route("GET", _ALL, show_lists, READS),
    Route("POST", _ALL, create_list, WRITES),
    Route("DELETE", _ONE, delete_list, WRITES),
    Route("POST", "/batch" + _ONE + "/users", upload_users, USERS),
)
