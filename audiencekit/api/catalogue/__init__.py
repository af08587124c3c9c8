"""Every endpoint of the specification, one row each, and those that it names and does not show where nothing could be
promoted or targeted without them. Facts only: nothing here does anything on the wire.

A module for resource groups that belong together; `parameters`, `rules` and `endpoint` say what a row may hold. A test
compares the rows with the specification's own list of endpoints, field by field.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from audiencekit.api.catalogue import accounts, audiences, campaigns, cards, oauth, tweets
from audiencekit.api.catalogue.endpoint import VERSION, Endpoint, RateWindow

__all__ = ["BY_NAME", "ENDPOINTS", "PARAMETER_NAMES", "VERSION", "Endpoint", "RateWindow"]

ENDPOINTS: Final[tuple[Endpoint, ...]] = (
    *oauth.OAUTH,
    *oauth.DATA_API,
    *accounts.ACCOUNTS,
    *accounts.REFERENCE,
    *campaigns.CURATED_CATEGORIES,
    *campaigns.CAMPAIGNS,
    *campaigns.FUNDING_INSTRUMENTS,
    *campaigns.LINE_ITEMS,
    *tweets.MEDIA_CREATIVES,
    *campaigns.PROMOTED,
    *accounts.USERS_ACCESS,
    *accounts.RECOMMENDATIONS,
    *campaigns.TARGETING,
    *campaigns.TRACKING_TAGS,
    *accounts.FEATURES,
    *campaigns.KEYWORD_INSIGHTS,
    *audiences.TAILORED,
    *audiences.CUSTOM_AUDIENCES,
    *audiences.CUSTOM_AUDIENCE_USERS,
    *audiences.CUSTOM,
    *audiences.DO_NOT_REACH,
    *tweets.ACCOUNT_MEDIA,
    *cards.CARDS,
    *cards.CONVERSATION_CARDS,
    *tweets.DRAFT_TWEETS,
    *tweets.TWEETS,
)

BY_NAME: Final[Mapping[str, Endpoint]] = MappingProxyType({endpoint.name: endpoint for endpoint in ENDPOINTS})

# Names that an error message may repeat; anything else that an answer calls a parameter could be a value.
PARAMETER_NAMES: Final = frozenset(name for endpoint in ENDPOINTS for name in endpoint.parameter_names)
