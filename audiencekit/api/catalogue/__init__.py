"""Every endpoint of the specification, one row each, and those that it names and does not show where nothing could be
promoted or targeted without them. Facts only: nothing here does anything on the wire.

A module for each resource group, or two that belong together; `parameters`, `rules` and `endpoint` say what a row may
hold. A test compares the rows with the
specification's own list of endpoints, field by field.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from audiencekit.api.catalogue import (
    account_media,
    accounts,
    audience_permissions,
    campaigns,
    cards,
    conversation_cards,
    curated_categories,
    custom_audience_users,
    custom_audiences,
    data_api,
    do_not_reach,
    draft_tweets,
    features,
    funding_instruments,
    keyword_insights,
    line_items,
    media_creatives,
    oauth,
    promoted,
    recommendations,
    reference,
    targeting,
    tracking_tags,
    tweets,
    users_access,
)
from audiencekit.api.catalogue.endpoint import VERSION, Endpoint, RateWindow

__all__ = ["BY_NAME", "ENDPOINTS", "PARAMETER_NAMES", "VERSION", "Endpoint", "RateWindow"]

ENDPOINTS: Final[tuple[Endpoint, ...]] = (
    *oauth.ENDPOINTS,
    *data_api.ENDPOINTS,
    *accounts.ENDPOINTS,
    *reference.ENDPOINTS,
    *curated_categories.ENDPOINTS,
    *campaigns.ENDPOINTS,
    *funding_instruments.ENDPOINTS,
    *line_items.ENDPOINTS,
    *media_creatives.ENDPOINTS,
    *promoted.ENDPOINTS,
    *users_access.ENDPOINTS,
    *recommendations.ENDPOINTS,
    *targeting.ENDPOINTS,
    *tracking_tags.ENDPOINTS,
    *features.ENDPOINTS,
    *keyword_insights.ENDPOINTS,
    *audience_permissions.TAILORED,
    *custom_audiences.ENDPOINTS,
    *custom_audience_users.ENDPOINTS,
    *audience_permissions.CUSTOM,
    *do_not_reach.ENDPOINTS,
    *account_media.ENDPOINTS,
    *cards.ENDPOINTS,
    *conversation_cards.ENDPOINTS,
    *draft_tweets.ENDPOINTS,
    *tweets.ENDPOINTS,
)

BY_NAME: Final[Mapping[str, Endpoint]] = MappingProxyType({endpoint.name: endpoint for endpoint in ENDPOINTS})

# Names that an error message may repeat; anything else that an answer calls a parameter could be a value.
PARAMETER_NAMES: Final = frozenset(name for endpoint in ENDPOINTS for name in endpoint.parameter_names)
