"""Every endpoint that the emulator serves."""

from __future__ import annotations

from typing import Final

from .accounts.routes import ROUTES as ACCOUNTS
from .audiences.routes import ROUTES as AUDIENCES
from .campaigns.routes import ROUTES as CAMPAIGNS
from .cards.routes import ROUTES as CARDS
from .conversation_cards.routes import ROUTES as CONVERSATION_CARDS
from .do_not_reach.routes import ROUTES as DO_NOT_REACH
from .estimate.routes import ROUTES as ESTIMATE
from .media.routes import ROUTES as MEDIA
from .oauth.routes import ROUTES as OAUTH
from .routing import Route
from .tweets.routes import ROUTES as TWEETS

# The first route that fits is taken: conversation cards stand where other cards have their id.
ROUTES: Final[tuple[Route, ...]] = (
    *ACCOUNTS,
    *AUDIENCES,
    *CAMPAIGNS,
    *CONVERSATION_CARDS,
    *CARDS,
    *DO_NOT_REACH,
    *ESTIMATE,
    *MEDIA,
    *OAUTH,
    *TWEETS,
)
