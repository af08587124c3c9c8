"""The steps of the three-legged flow that an application takes, and the end of a token (specification part 0,
sections 4.1, 4.4 and 4.5)."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlencode, urlsplit

import orjson

from audiencekit.emulator.calls import Call
from audiencekit.emulator.envelope import Answer, refuse_legacy
from audiencekit.emulator.oauth.tokens import OUT_OF_BAND

# The captured type of these answers, which are no HTML.
_PAIRS: Final = "text/html; charset=utf-8"
# The callbacks that are in the settings of the one application: a program that listens on this host.
_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
# It is sent to browsers as a header: characters of an address, and no line end among them.
_ADDRESS: Final = re.compile(r"[!-~]+")
_ACCESS_TYPES: Final = ("platform_auth_access_type", "x_auth_access_type")


def give_request_token(call: Call) -> Answer:
    """Answer `POST /oauth/request_token`: a pending authorization, for a callback that the application registered."""
    callback = call.attribute("oauth_callback")
    if callback is None:
        raise refuse_legacy(400, 38, "oauth_callback parameter is missing.")
    if not _ADDRESS.fullmatch(callback):
        raise refuse_legacy(400, 44, "oauth_callback parameter is invalid.")
    if callback != OUT_OF_BAND and not _is_registered(callback):
        raise refuse_legacy(403, 415, "Callback URL not approved for this client application.")
    asked = {name: call.attribute(name) for name in _ACCESS_TYPES}
    for name, access in asked.items():
        if access not in (None, "read", "write"):
            raise refuse_legacy(400, 44, f"{name} parameter is invalid.")
    made = call.store.tokens.make_request_token(callback, may_write="read" not in asked.values())
    return _pairs(oauth_token=made.token, oauth_token_secret=made.secret, oauth_callback_confirmed="true")


def give_access_token(call: Call) -> Answer:
    """Answer `POST /oauth/access_token`: the request token, once, for what its user approved."""
    tokens = call.store.tokens
    pending = tokens.requests[call.attributes["oauth_token"]]
    user = pending.user
    if user is None or call.attribute("oauth_verifier") != pending.verifier:
        raise refuse_legacy(401, 32, "Could not authenticate you.")
    token, secret = tokens.exchange(pending, user)
    return _pairs(oauth_token=token, oauth_token_secret=secret, user_id=user.id, screen_name=user.screen_name)


def invalidate_token(call: Call) -> Answer:
    """Answer `POST /1.1/oauth/invalidate_token`: the token that signed the call is worth nothing from now on."""
    token = call.attributes["oauth_token"]
    del call.store.tokens.access[token]
    call.store.tokens.readers.discard(token)
    return Answer(200, orjson.dumps({"access_token": token}))


def _is_registered(callback: str) -> bool:
    try:
        address = urlsplit(callback)
        return address.scheme in ("http", "https") and address.hostname in _LOOPBACK
    except ValueError:
        return False


def _pairs(**pairs: str) -> Answer:
    return Answer(200, urlencode(pairs).encode(), content_type=_PAIRS)
