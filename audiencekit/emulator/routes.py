"""Every endpoint that the emulator serves."""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.endpoints.accounts import ROUTES as ACCOUNTS
from audiencekit.emulator.endpoints.all_card_types import ROUTES as CARDS
from audiencekit.emulator.endpoints.audience_estimate import ROUTES as ESTIMATE
from audiencekit.emulator.endpoints.audience_routes import ROUTES as AUDIENCES
from audiencekit.emulator.endpoints.campaigns import ROUTES as CAMPAIGNS
from audiencekit.emulator.endpoints.conversation_cards import ROUTES as CONVERSATION_CARDS
from audiencekit.emulator.endpoints.curated_categories import ROUTES as CURATED
from audiencekit.emulator.endpoints.data_api_routes import ROUTES as DATA_API
from audiencekit.emulator.endpoints.do_not_reach import ROUTES as DO_NOT_REACH
from audiencekit.emulator.endpoints.event_history import ROUTES as HISTORY
from audiencekit.emulator.endpoints.keyword_insights import ROUTES as INSIGHTS
from audiencekit.emulator.endpoints.media import ROUTES as MEDIA
from audiencekit.emulator.endpoints.oauth import ROUTES as OAUTH
from audiencekit.emulator.endpoints.people import ROUTES as PEOPLE
from audiencekit.emulator.endpoints.promotions import ROUTES as PROMOTIONS
from audiencekit.emulator.endpoints.recommendations import ROUTES as RECOMMENDATIONS
from audiencekit.emulator.endpoints.reference import ROUTES as REFERENCE
from audiencekit.emulator.endpoints.tracking_tags import ROUTES as TRACKING
from audiencekit.emulator.endpoints.tweets import ROUTES as TWEETS
from audiencekit.emulator.routing import Route

# The first route that fits is taken: conversation cards stand where other cards have their id.
ROUTES: Final[tuple[Route, ...]] = (
    *ACCOUNTS,
    *AUDIENCES,
    *CAMPAIGNS,
    *CONVERSATION_CARDS,
    *CARDS,
    *CURATED,
    *DATA_API,
    *DO_NOT_REACH,
    *ESTIMATE,
    *HISTORY,
    *INSIGHTS,
    *MEDIA,
    *OAUTH,
    *PEOPLE,
    *PROMOTIONS,
    *RECOMMENDATIONS,
    *REFERENCE,
    *TRACKING,
    *TWEETS,
)
