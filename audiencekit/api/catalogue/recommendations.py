"""Recommendations for campaigns (specification part 1, section 4.10)."""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.endpoint import Section
from audiencekit.api.catalogue.parameters import ACCOUNT_ID, in_path

_OLD_VERSION: Final = ("version 5 stands in the path, which the public service has ended: it is called as written",)

_RECOMMENDATIONS: Final = Section("recommendations", part=1, section="4.10")

ENDPOINTS: Final = (
    _RECOMMENDATIONS.get(
        "list_recommendations",
        "/5/accounts/{account_id}/recommendations",
        ACCOUNT_ID,
        notes=("a closed beta",),
        ambiguities=_OLD_VERSION,
    ),
    _RECOMMENDATIONS.get(
        "get_recommendation",
        "/5/accounts/{account_id}/recommendations/{recommendation_id}",
        ACCOUNT_ID,
        in_path("recommendation_id"),
        notes=("a closed beta",),
        ambiguities=_OLD_VERSION,
    ),
)
