"""The endpoints of authorization, at the base address."""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.calls import Address
from audiencekit.emulator.oauth.bearer import give_bearer, invalidate_bearer
from audiencekit.emulator.oauth.exchange import give_access_token, give_request_token, invalidate_token
from audiencekit.emulator.oauth.pages import ask, authenticate, decide
from audiencekit.emulator.rate_limits import BEARER_TOKENS, OAUTH
from audiencekit.emulator.routing import Credential, Route

_BASE: Final = frozenset({Address.BASE})

ROUTES: Final = (
    Route("POST", "/oauth/request_token", give_request_token, OAUTH, _BASE, "", credential=Credential.APPLICATION),
    Route("GET", "/oauth/authorize", ask, OAUTH, _BASE, "", credential=Credential.NONE),
    Route("POST", "/oauth/authorize", decide, OAUTH, _BASE, "", credential=Credential.NONE),
    Route("GET", "/oauth/authenticate", authenticate, OAUTH, _BASE, "", credential=Credential.NONE, changes=True),
    Route("POST", "/oauth/access_token", give_access_token, OAUTH, _BASE, "", credential=Credential.PENDING),
    Route("POST", "/oauth/invalidate_token", invalidate_token, OAUTH, _BASE, "1.1", reads=True),
    Route("POST", "/oauth/invalidate_token.json", invalidate_token, OAUTH, _BASE, "1.1", reads=True),
    Route("POST", "/oauth2/token", give_bearer, BEARER_TOKENS, _BASE, "", credential=Credential.BASIC),
    Route("POST", "/oauth2/invalidate_token", invalidate_bearer, OAUTH, _BASE, "", reads=True),
)
