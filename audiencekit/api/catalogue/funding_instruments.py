"""The means that campaigns are paid from (specification part 1, section 4.5)."""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.endpoint import Section
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

_FUNDING_INSTRUMENTS: Final = Section("funding_instruments", part=1, section="4.5")

ENDPOINTS: Final = (
    _FUNDING_INSTRUMENTS.get(
        "list_funding_instruments",
        "/12/accounts/{account_id}/funding_instruments",
        ACCOUNT_ID,
        COUNT,
        CURSOR,
        ids("funding_instrument_ids"),
        SORT_BY,
        WITH_DELETED,
        WITH_TOTAL_COUNT,
        rules=(CURSOR_OR_TOTAL,),
    ),
    _FUNDING_INSTRUMENTS.get(
        "get_funding_instrument",
        "/12/accounts/{account_id}/funding_instruments/{funding_instrument_id}",
        ACCOUNT_ID,
        in_path("funding_instrument_id"),
        WITH_DELETED,
    ),
    _FUNDING_INSTRUMENTS.post(
        "create_funding_instrument",
        "/12/accounts/{account_id}/funding_instruments",
        ACCOUNT_ID,
        currency("currency", required=True),
        time("start_time", required=True),
        one_of("type", *FUNDING_TYPES),
        base="ads_sandbox_url",
        ambiguities=(
            "stated in part only: of the others type alone is taken, with the values of the public service",
            "that it can be deleted is said, but no such call is stated: there is none here",
        ),
        notes=("costs nothing",),
    ),
)
