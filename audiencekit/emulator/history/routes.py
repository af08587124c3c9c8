"""The endpoint of an account's history."""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.history.history import show_history
from audiencekit.emulator.rate_limits import READS
from audiencekit.emulator.routing import Route

ROUTES: Final = (Route("GET", "/accounts/:account_id/account_history", show_history, READS),)
