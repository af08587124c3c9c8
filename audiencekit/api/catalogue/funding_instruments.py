"""What campaigns are paid from (specification part 1, section 4.5)."""

from __future__ import annotations

from typing import Final

from .endpoint import Endpoint
from .parameters import (
    ACCOUNT_ID,
    COUNT,
    CURSOR,
    CURSOR_OR_TOTAL,
    WITH_DELETED,
    WITH_TOTAL_COUNT,
    currency,
    ids,
    in_path,
    text,
    time,
)

ENDPOINTS: Final = (
    Endpoint(
        name="list_funding_instruments",
        group="funding_instruments",
        method="GET",
        path="/12/accounts/{account_id}/funding_instruments",
        part=1,
        section="4.5",
        parameters=(
            ACCOUNT_ID,
            COUNT,
            CURSOR,
            ids("funding_instrument_ids"),
            text("sort_by"),
            WITH_DELETED,
            WITH_TOTAL_COUNT,
        ),
        rules=(CURSOR_OR_TOTAL,),
    ),
    Endpoint(
        name="get_funding_instrument",
        group="funding_instruments",
        method="GET",
        path="/12/accounts/{account_id}/funding_instruments/{funding_instrument_id}",
        part=1,
        section="4.5",
        parameters=(
            ACCOUNT_ID,
            in_path("funding_instrument_id"),
            WITH_DELETED,
        ),
    ),
    Endpoint(
        name="create_funding_instrument",
        group="funding_instruments",
        method="POST",
        path="/12/accounts/{account_id}/funding_instruments",
        part=1,
        section="4.5",
        parameters=(
            ACCOUNT_ID,
            currency("currency", required=True),
            time("start_time", required=True),
        ),
        base="ads_sandbox_url",
        notes=("stated in part only",),
    ),
)
