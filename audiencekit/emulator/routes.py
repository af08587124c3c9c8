"""Every endpoint that the emulator serves."""

from __future__ import annotations

from typing import Final

from .accounts.routes import ROUTES as ACCOUNTS
from .audiences.routes import ROUTES as AUDIENCES
from .campaigns.routes import ROUTES as CAMPAIGNS
from .do_not_reach.routes import ROUTES as DO_NOT_REACH
from .estimate.routes import ROUTES as ESTIMATE
from .oauth.routes import ROUTES as OAUTH
from .routing import Route

ROUTES: Final[tuple[Route, ...]] = (*ACCOUNTS, *AUDIENCES, *CAMPAIGNS, *DO_NOT_REACH, *ESTIMATE, *OAUTH)
