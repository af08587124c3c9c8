"""Features of accounts (specification part 1, section 4.12)."""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.endpoint import Section
from audiencekit.api.catalogue.parameters import ACCOUNT_ID, some_of
from audiencekit.servicewords import SANDBOX_FEATURES

_FEATURES: Final = Section("features", part=1, section="4.12")

ENDPOINTS: Final = (
    _FEATURES.get(
        "list_features",
        "/12/accounts/{account_id}/features",
        ACCOUNT_ID,
        some_of("feature_keys", "REACH_AND_FREQUENCY_ANALYTICS", "REACH_FREQUENCY_CAP", "WEBSITE_CLICKS_CPM_BILLING"),
        ambiguities=("WEBSITE_CLICKS_CPM_BILLING can be read but not set: each call takes its own list",),
    ),
    _FEATURES.post(
        "add_features",
        "/12/accounts/{account_id}/features",
        ACCOUNT_ID,
        some_of(
            "feature_keys",
            *SANDBOX_FEATURES,
            required=True,
        ),
        base="ads_sandbox_url",
    ),
    _FEATURES.delete(
        "remove_features",
        "/12/accounts/{account_id}/features",
        ACCOUNT_ID,
        some_of(
            "feature_keys",
            *SANDBOX_FEATURES,
            required=True,
        ),
        base="ads_sandbox_url",
    ),
)
