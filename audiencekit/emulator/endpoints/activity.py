"""Events of users, subscriptions to them, and the streams that deliver them (specification part 0, section 6).

The specification does not show the form of subscriptions and events. Here it is the simplest form with all that the
specification states. A subscription without a user is for the user of the application; one without a type is for all
types.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from audiencekit.emulator.answers import RefusalError, format_time, refuse_problem
from audiencekit.emulator.authentication import Pair

# --- Events of users, subscriptions to them, and the streams that deliver them (specification part 0, section 6) ---
#
# The specification does not show the form of subscriptions and events. Here it is the plainest that carries what the
# specification states. A subscription without a user is for the user of the application; one without a type is for all
# types.

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


# --- Fields and expansions: what a caller wants to see (specification part 0, sections 2.3 to 2.6 and 4.8) ---
#
# The specification's lists of fields and expansions are not complete, so any name is taken, and one that is not known
# here adds nothing; but `source` is stated as removed. Two expansions are known besides the stated one: of the author,
# and of a tweet that was posted again.

MEDIA_EXPANSION, AUTHOR_EXPANSION, TWEET_EXPANSION = "attachments.media_keys", "author_id", "referenced_tweets.id"


@dataclass(frozen=True, slots=True)
class FieldSelection:
    """The fields of each kind of object, with the default ones, and the expansions."""

    tweet: frozenset[str]
    media: frozenset[str]
    user: frozenset[str]
    expansions: frozenset[str]


def read_selection(query: Query) -> FieldSelection:
    """Return the fields that a query requests. Raises RefusalError (400) for an unknown or removed name."""
    selection = FieldSelection(
        tweet=frozenset({"id", "text", *query.words("tweet.fields", removed=("source",))}),
        media=frozenset({"media_key", "type", *query.words("media.fields")}),
        user=frozenset({"id", "name", "username", *query.words("user.fields")}),
        expansions=frozenset(query.words("expansions")),
    )
    for name in ("poll.fields", "place.fields"):
        query.words(name)
    return selection


def choose(document: Mapping[str, Any], fields: frozenset[str]) -> dict[str, Any]:
    """Return the selected fields that a document has."""
    return {name: value for name, value in document.items() if name in fields and value is not None}


# --- Queries of the data API, whose refusals are problems (specification part 0, sections 2.2 and 4.8) ---

_WORD: Final = re.compile(r"[a-z0-9_.]+", re.ASCII)


def invalid(detail: str) -> RefusalError:
    """Return a 400: the request cannot be read."""
    kind = "https://api.x.com/2/problems/invalid-request"
    return refuse_problem(400, "Invalid Request", detail, kind)


class Query:
    """The query of a call, read one parameter at a time. Every fault raises RefusalError (400)."""

    def __init__(self, pairs: Iterable[Pair]) -> None:
        self._unread: dict[str, str] = {}
        for raw_name, raw_text in pairs:
            name, text = raw_name.decode("utf-8", "replace"), raw_text.decode("utf-8", "replace")
            if name in self._unread:
                raise invalid(f"The query parameter [{name}] is given more than once")
            self._unread[name] = text

    def text(self, name: str) -> str | None:
        """Return a parameter as received; None if it is not given."""
        return self._unread.pop(name, None)

    def words(self, name: str, removed: Collection[str] = ()) -> list[str]:
        """Return a comma-separated list without any of `removed`; empty if it is not given."""
        given = self.text(name)
        if given is None:
            return []
        listed = given.split(",")
        for word in listed:
            if not _WORD.fullmatch(word) or word in removed:
                raise invalid(f"The query parameter [{name}] has a value that is none of its own")
        return listed

    def finish(self) -> None:
        """Refuse parameters that were not read."""
        for name in self._unread:
            raise invalid(f"The query parameter [{name}] is not one of this endpoint")
