"""Features of accounts (specification part 1, section 4.12)."""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.endpoint import Endpoint
from audiencekit.api.catalogue.parameters import ACCOUNT_ID, some_of

_SANDBOX_KEYS: Final = (
    "AGE_TARGETING",
    "ALLOW_SKIPPABLE_VIDEOS_FOR_PREROLL_VIEWS_OBJECTIVE",
    "AWARENESS_OBJECTIVE",
    "BRAND_TPN",
    "CHARGE_FOR_GOOD_CLICK",
    "CONVERSATION_CARD",
    "CONVERSATION_CARD_FOUR_OPTIONS",
    "CONVERSATION_CARD_UNLOCK",
    "CPI_CHARGING",
    "DIRECT_MESSAGE_CARD",
    "DR_TAP",
    "ENGAGER_RETARGETING",
    "EVENT_TARGETING",
    "INSTALLED_APP_CATEGORY_TARGETING",
    "MOBILE_CONVERSION_TRANSACTION_VALUE",
    "OPTIMIZED_ACTION_BIDDING",
    "REACH_AND_FREQUENCY_ANALYTICS",
    "REACH_FREQUENCY_CAP",
    "VALIDATED_AGE_TARGETING",
    "VIDEO_VIEWS_MIDROLL_OBJECTIVE",
    "PREROLL_VIEWS_OBJECTIVE",
    "VIDEO_APP_DOWNLOAD_CARD",
)

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
                *_SANDBOX_KEYS,
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
                *_SANDBOX_KEYS,
                required=True,
            ),
        ),
        base="ads_sandbox_url",
    ),
)
