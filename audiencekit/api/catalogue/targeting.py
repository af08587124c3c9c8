"""Targeting criteria (specification part 1, section 4.11)."""

from __future__ import annotations

from typing import Final

from .endpoint import Endpoint
from .parameters import ACCOUNT_ID, COUNT, CURSOR, CURSOR_OR_TOTAL, WITH_DELETED, WITH_TOTAL_COUNT, ids, text

ENDPOINTS: Final = (
    Endpoint(
        name="list_targeting_criteria",
        group="targeting",
        method="GET",
        path="/12/accounts/{account_id}/targeting_criteria",
        part=1,
        section="4.11",
        parameters=(
            ACCOUNT_ID,
            ids("line_item_ids", required=True),
            COUNT,
            CURSOR,
            text("sort_by"),
            WITH_DELETED,
            WITH_TOTAL_COUNT,
        ),
        rules=(CURSOR_OR_TOTAL,),
        notes=("stated in part only",),
    ),
)
