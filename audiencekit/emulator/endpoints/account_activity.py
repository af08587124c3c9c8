"""Subscriptions to account activity, and the webhooks to which it is sent."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any, Final

import orjson

from audiencekit.emulator.answers import Answer, format_time, refuse_problem
from audiencekit.emulator.bodies import parse_json
from audiencekit.emulator.calls import Call
from audiencekit.emulator.endpoints.activity import (
    DIRECTIONS,
    EVENT_TYPES,
    Query,
    Subscription,
    invalid,
    read_selection,
)

# --- `POST /2/activity/subscriptions` and `GET /2/activity/stream` (specification part 0, sections 6 and 8) ---
#
# Where the filters stand and what they are called is not stated but for `direction`: they are taken from the query or,
# as the public service does, from a JSON object with the person, keyword and direction under `filter`.

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
    """Return events as they happen, one JSON object a line, after those of the last `backfill_minutes`."""
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


# --- Webhooks: linked to the rules of the filtered stream, and asked to repeat (specification part 0, sections 4.9
# and 9) ---
#
# How webhooks are made is not shown, so any number can be linked; events go to those that the emulator has a receiver
# for. The parameters of a replay are not shown: they are the public service's, in the query or a JSON object, and each
# may be left out.

_WEBHOOK_ID: Final = re.compile(r"[0-9]{1,19}", re.ASCII)
_DAY: Final = 86_400.0
_WEBHOOK_FIELDS: Final = ("webhook_id", "from_date", "to_date")


def link_webhook(call: Call) -> Answer:
    """Answer `POST /2/tweets/search/webhooks/:webhook_id`: linked, also if it was linked before."""
    if not _WEBHOOK_ID.fullmatch(call.ids["webhook_id"]):
        raise invalid("Expected 1 to 19 digits for [webhook_id]")
    query = Query(call.query)
    selection = read_selection(query)
    query.finish()
    call.store.webhooks.link(call.ids["webhook_id"], selection)
    return Answer(200, orjson.dumps({"data": {"provisioned": True}}))


def replay(call: Call) -> Answer:
    """Answer `POST /2/webhooks/replay`: the number of the job, which delivers the events between two minutes again.

    By default these are the events of the last day, for every linked webhook.
    """
    query = Query(call.query)
    given = {name: query.text(name) for name in _WEBHOOK_FIELDS}
    query.finish()
    given |= _read_webhook(call)
    webhooks, webhook_id = call.store.webhooks, given["webhook_id"]
    if webhook_id is not None and webhook_id not in webhooks.links:
        kind = "https://api.x.com/2/problems/resource-not-found"
        raise refuse_problem(404, "Not Found Error", "The webhook is not linked", kind)
    until = _read_minute("to_date", given["to_date"], call.now)
    since = _read_minute("from_date", given["from_date"], until - _DAY)
    if since > until:
        raise invalid("Expected [from_date] before [to_date]")
    webhooks.replay([*webhooks.links] if webhook_id is None else [webhook_id], since, until)
    job = {"job_id": call.store.make_long_id(call.now), "created_at": format_time(call.now)}
    return Answer(200, orjson.dumps({"data": job}))


def _read_webhook(call: Call) -> dict[str, Any]:
    if not call.body:
        return {}
    try:
        members = parse_json(call.body)
    except ValueError:
        raise invalid("The body is not valid JSON, or repeats a key") from None
    if not isinstance(members, dict) or not members.keys() <= set(_WEBHOOK_FIELDS):
        raise invalid(f"Expected a JSON object with {', '.join(_NAMES)}")
    if not all(isinstance(text, str) for text in members.values()):
        raise invalid("Expected texts")
    return members


def _read_minute(name: str, text: str | None, default: float) -> float:
    if text is None:
        return default
    try:
        if not re.fullmatch(r"[0-9]{12}", text, re.ASCII):
            raise ValueError
        return datetime.strptime(text, "%Y%m%d%H%M").replace(tzinfo=UTC).timestamp()
    except ValueError:
        raise invalid(f"Expected a minute of UTC as YYYYMMDDHHMM for [{name}]") from None
