"""The means that campaigns are paid from (specification part 1, section 4.5)."""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.endpoint import Endpoint
from audiencekit.api.catalogue.parameters import (
    ACCOUNT_ID,
    COUNT,
    CURSOR,
    SORT_BY,
    WITH_DELETED,
    WITH_TOTAL_COUNT,
    currency,
    ids,
    in_path,
    one_of,
    time,
)
from audiencekit.api.catalogue.rules import CURSOR_OR_TOTAL
from audiencekit.servicewords import FUNDING_TYPES

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
            SORT_BY,
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
            one_of("type", *FUNDING_TYPES),
        ),
        base="ads_sandbox_url",
        ambiguities=(
            "stated in part only: of the others type alone is taken, with the values of the public service",
            "that it can be deleted is said, but no such call is stated: there is none here",
        ),
        notes=("costs nothing",),
    ),
)
