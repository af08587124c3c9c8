"""Every endpoint that the emulator serves."""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.accounts.routes import ROUTES as ACCOUNTS
from audiencekit.emulator.audiences.routes import ROUTES as AUDIENCES
from audiencekit.emulator.campaigns.routes import ROUTES as CAMPAIGNS
from audiencekit.emulator.cards.routes import ROUTES as CARDS
from audiencekit.emulator.conversation_cards.routes import ROUTES as CONVERSATION_CARDS
from audiencekit.emulator.curated.routes import ROUTES as CURATED
from audiencekit.emulator.data_api.routes import ROUTES as DATA_API
from audiencekit.emulator.do_not_reach.routes import ROUTES as DO_NOT_REACH
from audiencekit.emulator.estimate.routes import ROUTES as ESTIMATE
from audiencekit.emulator.history.routes import ROUTES as HISTORY
from audiencekit.emulator.insights.routes import ROUTES as INSIGHTS
from audiencekit.emulator.media.routes import ROUTES as MEDIA
from audiencekit.emulator.oauth.routes import ROUTES as OAUTH
from audiencekit.emulator.people.routes import ROUTES as PEOPLE
from audiencekit.emulator.promotions.routes import ROUTES as PROMOTIONS
from audiencekit.emulator.recommendations.routes import ROUTES as RECOMMENDATIONS
from audiencekit.emulator.reference.routes import ROUTES as REFERENCE
from audiencekit.emulator.routing import Route
from audiencekit.emulator.tracking.routes import ROUTES as TRACKING
from audiencekit.emulator.tweets.routes import ROUTES as TWEETS

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
