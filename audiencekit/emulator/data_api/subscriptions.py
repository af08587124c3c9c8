"""`POST /2/activity/subscriptions` and `GET /2/activity/stream` (specification part 0, sections 6 and 8).

Where the filters stand and what they are called is not stated but for `direction`: they are taken from the query or,
as the public service does, from a JSON object with the person, keyword and direction under `filter`.
"""

from __future__ import annotations

import re
from typing import Any, Final

import orjson

from audiencekit.emulator.bodies import parse_json
from audiencekit.emulator.calls import Call
from audiencekit.emulator.data_api.activity import DIRECTIONS, EVENT_TYPES, Subscription
from audiencekit.emulator.data_api.query import Query, invalid
from audiencekit.emulator.envelope import Answer
from audiencekit.emulator.times import format_time

_NAMES: Final = ("event_type", "user_id", "keyword", "direction")
_USER_ID: Final = re.compile(r"[0-9]{1,19}", re.ASCII)
_BACKFILL_MINUTES: Final = ("1", "2", "3", "4", "5")


def subscribe(call: Call) -> Answer:
    """Return a new subscription, with its number."""
    query = Query(call.query)
    given = {name: query.text(name) for name in _NAMES}
    query.finish()
    given |= _read_body(call)
    if given["event_type"] not in (None, *EVENT_TYPES):
        raise invalid(f"Expected one of {', '.join(EVENT_TYPES)} for [event_type]")
    if given["direction"] not in (None, *DIRECTIONS):
        raise invalid(f"Expected one of {', '.join(DIRECTIONS)} for [direction]")
    user_id = given.pop("user_id")
    if user_id is None:
        user_id = call.store.origin.user_id
    if not _USER_ID.fullmatch(user_id):
        raise invalid("Expected 1 to 19 digits for [user_id]")
    if given["keyword"] == "":
        raise invalid("Expected a text for [keyword]")
    subscription = Subscription(user_id, **given)
    call.store.activity.subscriptions.append(subscription)
    shown = {
        "subscription_id": call.store.make_long_id(call.now),
        "event_type": subscription.event_type,
        "filter": {name: getattr(subscription, name) for name in _NAMES[1:] if getattr(subscription, name)},
        "created_at": format_time(call.now),
    }
    return Answer(200, orjson.dumps({"data": shown}))


def open_stream(call: Call) -> Answer:
    """Return events as they happen, one JSON object a line; before them those of the last `backfill_minutes`."""
    query = Query(call.query)
    minutes = query.text("backfill_minutes")
    query.finish()
    if minutes not in (None, *_BACKFILL_MINUTES):
        raise invalid("Expected a whole number from 1 to 5 for the query parameter [backfill_minutes]")
    since = float("inf") if minutes is None else call.now - 60 * int(minutes)
    return Answer(200, b"", feed=call.store.activity.open_stream(since))


def _read_body(call: Call) -> dict[str, str]:
    if not call.body:
        return {}
    try:
        document = parse_json(call.body)
    except ValueError:
        raise invalid("The body is not valid JSON, or repeats a key") from None
    members = _flatten(document)
    for name, text in members.items():
        if name not in _NAMES or not isinstance(text, str) or not text:
            raise invalid("Expected event_type and filter, and user_id, keyword and direction in filter, as texts")
    return members


def _flatten(document: object) -> dict[str, Any]:
    if not isinstance(document, dict):
        raise invalid("Expected a JSON object")
    members = dict(document)
    inner = members.pop("filter", {})
    if not isinstance(inner, dict) or inner.keys() & members.keys():
        raise invalid("Expected a JSON object for filter")
    return members | inner
