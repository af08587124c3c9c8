"""The endpoints of recommendations, which are those of version 5."""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.rate_limits import READS
from audiencekit.emulator.recommendations.recommendations import list_recommendations, show_recommendation
from audiencekit.emulator.routing import Route

_ALL: Final = "/accounts/:account_id/recommendations"

ROUTES: Final = (
    Route("GET", _ALL, list_recommendations, READS, version="5"),
    Route("GET", _ALL + "/:recommendation_id", show_recommendation, READS, version="5"),
)
