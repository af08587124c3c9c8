"""The endpoint of audience estimates."""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.estimate.estimates import estimate_audience
from audiencekit.emulator.rate_limits import WRITES
from audiencekit.emulator.routing import Route

ROUTES: Final = (Route("POST", "/accounts/:account_id/audience_estimate", estimate_audience, WRITES, reads=True),)
