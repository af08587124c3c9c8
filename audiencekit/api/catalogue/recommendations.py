"""Recommendations for campaigns (specification part 1, section 4.10)."""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.endpoint import Endpoint
from audiencekit.api.catalogue.parameters import ACCOUNT_ID, in_path

_OLD_VERSION: Final = ("version 5 stands in the path, which the public service has ended: it is called as written",)

ENDPOINTS: Final = (
    Endpoint(
        name="list_recommendations",
        group="recommendations",
        method="GET",
        path="/5/accounts/{account_id}/recommendations",
        part=1,
        section="4.10",
        parameters=(ACCOUNT_ID,),
        notes=("a closed beta",),
        ambiguities=_OLD_VERSION,
    ),
    Endpoint(
        name="get_recommendation",
        group="recommendations",
        method="GET",
        path="/5/accounts/{account_id}/recommendations/{recommendation_id}",
        part=1,
        section="4.10",
        parameters=(
            ACCOUNT_ID,
            in_path("recommendation_id"),
        ),
        notes=("a closed beta",),
        ambiguities=_OLD_VERSION,
    ),
)
