"""The endpoints of the data API, at the base address and with the application's token."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from audiencekit.emulator.calls import Address, Call
from audiencekit.emulator.data_api.posts import get_posts
from audiencekit.emulator.data_api.subscriptions import open_stream, subscribe
from audiencekit.emulator.data_api.webhooks import link_webhook, replay
from audiencekit.emulator.envelope import Answer
from audiencekit.emulator.rate_limits import DATA
from audiencekit.emulator.routing import Credential, Route
from audiencekit.emulator.streamrules.rules import change_rules, list_rules


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
