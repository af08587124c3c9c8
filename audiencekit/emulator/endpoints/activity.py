"""Events of users, subscriptions to them, and the streams that deliver them (specification part 0, section 6).

The specification does not show the form of subscriptions and events. Here it is the simplest form with all that the
specification states. A subscription without a user is for the user of the application; one without a type is for all
types.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from audiencekit.emulator.answers import Answer, format_time
from audiencekit.emulator.bodies import parse_json
from audiencekit.emulator.calls import Call
from audiencekit.emulator.endpoints.data_api import Query, invalid

# --- Events, subscriptions, and the streams that deliver them ---

# The direction of those that have one: what another person does is received.
EVENT_TYPES: Final[Mapping[str, str | None]] = {
    "profile.update.bio": None,
    "profile.update.verified": None,
    "profile.update.affiliate": None,
    "profile.update.screenname": None,
    "dm.received": "received",
    "dm.sent": "sent",
    "dm.read": "received",
    "dm.indicate_typing": "received",
    "spaces.start": None,
    "spaces.end": None,
}
# How both are written is not stated.
DIRECTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "sent": ("sent",),
    "received": ("received",),
    "both": ("sent", "received"),
    "sent,received": ("sent", "received"),
    "received,sent": ("sent", "received"),
}

BACKFILL_SECONDS: Final = 300  # the most that a stream can be told of what was; specification part 0, section 8


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a user; keywords are searched in `payload`. `time` is in epoch seconds."""

    event_type: str
    user_id: str
    payload: Mapping[str, Any] = field(repr=False)
    time: float

    def line(self) -> bytes:
        """Return the event as it is sent."""
        document = {
            "event_type": self.event_type,
            "filter": {"user_id": self.user_id},
            "payload": self.payload,
            "created_at": format_time(self.time),
        }
        return orjson.dumps({"data": document}) + b"\r\n"


def read_event(order: object, own_user_id: str, now: float) -> Event:
    """Return the event in an order, for the application's own user unless it names another.

    Raises ValueError with the problem.
    """
    if not isinstance(order, dict) or not order.keys() <= {"event_type", "user_id", "payload"}:
        raise ValueError('Expected {"event_type": …, "user_id": …, "payload": {…}}')
    event_type, user_id = order.get("event_type"), order.get("user_id", own_user_id)
    payload = order.get("payload", {})
    if not isinstance(event_type, str) or event_type not in EVENT_TYPES:
        raise ValueError(f"Expected one of {', '.join(EVENT_TYPES)} for event_type")
    if not isinstance(user_id, str) or not user_id.isdecimal() or not isinstance(payload, dict):
        raise ValueError("Expected a string of digits for user_id, and an object for payload")
    return Event(event_type, user_id, payload, now)


@dataclass(frozen=True, slots=True)
class Subscription:
    """The events that an application subscribed to."""

    user_id: str
    event_type: str | None = None
    keyword: str | None = field(default=None, repr=False)
    direction: str | None = None

    def wants(self, event: Event) -> bool:
        """Whether the event fits the subscription."""
        way = EVENT_TYPES[event.event_type]
        return (
            event.user_id == self.user_id
            and self.event_type in (None, event.event_type)
            and (self.keyword is None or self.keyword.casefold() in event.line().decode().casefold())
            and (self.direction is None or way is None or way in DIRECTIONS[self.direction])
        )


class Activity:
    """All subscriptions, and the events that fit them."""

    def __init__(self) -> None:
        self.subscriptions: list[Subscription] = []
        self._events: list[Event] = []
        self._streams: set[Stream] = set()

    def publish(self, event: Event) -> bool:
        """Send an event to every stream; return whether there is a subscription to it."""
        if not any(subscription.wants(event) for subscription in self.subscriptions):
            return False
        self._events = [*(each for each in self._events if each.time >= event.time - BACKFILL_SECONDS), event]
        for stream in self._streams:
            stream.add(event)
        return True

    def open_stream(self, since: float) -> Stream:
        """Return a stream of the events from `since` on, and of all later ones."""
        stream = Stream([event for event in self._events if event.time >= since], self._streams.discard)
        self._streams.add(stream)
        return stream

    def end_streams(self) -> None:
        """End the open streams."""
        for stream in self._streams:
            stream.end()


class Stream:
    """The events that were not sent to one reader yet."""

    def __init__(self, events: Iterable[Event], leave: Callable[[Stream], None]) -> None:
        self._leave = leave
        self._lines = [event.line() for event in events]
        self._change: asyncio.Future[None] | None = None
        self.ended = False

    def add(self, event: Event) -> None:
        """Add an event."""
        self._lines.append(event.line())
        self._wake()

    def end(self) -> None:
        """Note that nothing more comes."""
        self.ended = True
        self._wake()

    def close(self) -> None:
        """Take no more events: the reader is gone."""
        self._leave(self)

    def take(self) -> list[bytes]:
        """Return the lines that came since the last call."""
        taken, self._lines = self._lines, []
        return taken

    def changed(self) -> asyncio.Future[None]:
        """Return when there is more to take, or it has ended."""
        if self._change is None or self._change.done():
            self._change = asyncio.get_running_loop().create_future()
        return self._change

    def _wake(self) -> None:
        if self._change is not None and not self._change.done():
            self._change.set_result(None)


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
