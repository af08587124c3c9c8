"""How many people a targeting would reach (specification part 1, section 4.3)."""

from __future__ import annotations

from typing import Final

from .endpoint import Endpoint
from .parameters import ACCOUNT_ID, array, one_of

ENDPOINTS: Final = (
    Endpoint(
        name="estimate_audience",
        group="audience_estimate",
        method="POST",
        path="/12/accounts/{account_id}/audience_estimate",
        part=1,
        section="4.3",
        parameters=(
            ACCOUNT_ID,
            array(
                "targeting_criteria",
                place="body",
                required=True,
                note="the objects described for the targeting criteria create endpoint (itself not shown); at least one primary targeting criterion",
            ),
            one_of(
                "operator_type",
                "EQ",
                "NE",
                place="body",
                default="EQ",
                at="unstated: body or each criterion",
                note="NE gives negated targeting",
            ),
        ),
        params_in="body",
        body="json_object",
    ),
)
