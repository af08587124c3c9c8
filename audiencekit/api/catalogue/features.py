"""Features of accounts (specification part 1, section 4.12)."""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.endpoint import Endpoint
from audiencekit.api.catalogue.parameters import ACCOUNT_ID, some_of
from audiencekit.servicewords import SANDBOX_FEATURES

ENDPOINTS: Final = (
    Endpoint(
        name="list_features",
        group="features",
        method="GET",
        path="/12/accounts/{account_id}/features",
        part=1,
        section="4.12",
        parameters=(
            ACCOUNT_ID,
            some_of(
                "feature_keys", "REACH_AND_FREQUENCY_ANALYTICS", "REACH_FREQUENCY_CAP", "WEBSITE_CLICKS_CPM_BILLING"
            ),
        ),
        ambiguities=("WEBSITE_CLICKS_CPM_BILLING can be read but not set: each call takes its own list",),
    ),
    Endpoint(
        name="add_features",
        group="features",
        method="POST",
        path="/12/accounts/{account_id}/features",
        part=1,
        section="4.12",
        parameters=(
            ACCOUNT_ID,
            some_of(
                "feature_keys",
                *SANDBOX_FEATURES,
                required=True,
            ),
        ),
        base="ads_sandbox_url",
    ),
    Endpoint(
        name="remove_features",
        group="features",
        method="DELETE",
        path="/12/accounts/{account_id}/features",
        part=1,
        section="4.12",
        parameters=(
            ACCOUNT_ID,
            some_of(
                "feature_keys",
                *SANDBOX_FEATURES,
                required=True,
            ),
        ),
        base="ads_sandbox_url",
    ),
)
