"""The application's own token (specification part 0, sections 4.6 and 4.7)."""

from __future__ import annotations

import hmac

import orjson

from audiencekit.emulator.calls import Call
from audiencekit.emulator.envelope import Answer, refuse_legacy


def give_bearer(call: Call) -> Answer:
    """Answer `POST /oauth2/token`: one token, the same until it is invalidated."""
    if call.media_type.partition(";")[0].strip().lower() != "application/x-www-form-urlencoded":
        raise refuse_legacy(403, 170, "Missing required parameter: grant_type")
    if call.attribute("grant_type") != "client_credentials":
        raise refuse_legacy(403, 170, "Missing required parameter: grant_type")
    return Answer(200, orjson.dumps({"token_type": "bearer", "access_token": call.store.tokens.give_bearer()}))


def invalidate_bearer(call: Call) -> Answer:
    """Answer `POST /oauth2/invalidate_token`, by the owner of the application: the next one is another."""
    if call.user_id != call.store.users.first.id:
        raise refuse_legacy(403, 220, "Your credentials do not allow access to this resource.")
    given, tokens = call.attribute("access_token"), call.store.tokens
    if given is None or tokens.bearer is None or not hmac.compare_digest(given.encode(), tokens.bearer.encode()):
        raise refuse_legacy(401, 89, "Invalid or expired token.")
    tokens.bearer = None
    return Answer(200, orjson.dumps({"access_token": given}))
