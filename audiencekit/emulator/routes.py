"""Every endpoint that the emulator serves."""

from __future__ import annotations

from typing import Final

from .accounts.routes import ROUTES as ACCOUNTS
from .audiences.routes import ROUTES as AUDIENCES
from .campaigns.routes import ROUTES as CAMPAIGNS
from .cards.routes import ROUTES as CARDS
from .conversation_cards.routes import ROUTES as CONVERSATION_CARDS
from .curated.routes import ROUTES as CURATED
from .data_api.routes import ROUTES as DATA_API
from .do_not_reach.routes import ROUTES as DO_NOT_REACH
from .estimate.routes import ROUTES as ESTIMATE
from .history.routes import ROUTES as HISTORY
from .insights.routes import ROUTES as INSIGHTS
from .media.routes import ROUTES as MEDIA
from .oauth.routes import ROUTES as OAUTH
from .people.routes import ROUTES as PEOPLE
from .promotions.routes import ROUTES as PROMOTIONS
from .recommendations.routes import ROUTES as RECOMMENDATIONS
from .reference.routes import ROUTES as REFERENCE
from .routing import Route
from .tracking.routes import ROUTES as TRACKING
from .tweets.routes import ROUTES as TWEETS

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
