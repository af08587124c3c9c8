"""The endpoints of the data API, at the base address and with the application's token."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from audiencekit.emulator.answers import Answer
from audiencekit.emulator.calls import Address, Call
from audiencekit.emulator.endpoints.account_activity import link_webhook, open_stream, replay, subscribe
from audiencekit.emulator.endpoints.data_api import get_posts
from audiencekit.emulator.endpoints.stream_rule_calls import change_rules, list_rules
from audiencekit.emulator.routing import DATA, Credential, Route


def _route(method: str, path: str, handler: Callable[[Call], Answer]) -> Route:
    return Route(method, path, handler, DATA, frozenset({Address.BASE}), "2", credential=Credential.BEARER)


ROUTES: Final = (
    _route("GET", "/tweets", get_posts),
    _route("POST", "/tweets/search/webhooks/:webhook_id", link_webhook),
    _route("GET", "/tweets/search/stream/rules", list_rules),
    _route("POST", "/tweets/search/stream/rules", change_rules),
    _route("POST", "/activity/subscriptions", subscribe),
    _route("GET", "/activity/stream", open_stream),
    _route("POST", "/webhooks/replay", replay),
)
