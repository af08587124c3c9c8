"""Recommendations for campaigns (specification part 1, section 4.10)."""

from __future__ import annotations

from typing import Final

from .endpoint import Endpoint
from .parameters import ACCOUNT_ID, in_path

ENDPOINTS: Final = (
    Endpoint(
        name="list_recommendations",
        group="recommendations",
        method="GET",
        path="/5/accounts/{account_id}/recommendations",
        part=1,
        section="4.10",
        parameters=(ACCOUNT_ID,),
        params_in=None,
        notes=("closed beta",),
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
        params_in=None,
        notes=("closed beta",),
    ),
)
