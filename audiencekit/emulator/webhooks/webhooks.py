"""Webhooks: where each leads, which are linked, and the events that they were to be told."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from audiencekit.emulator.times import format_time

if TYPE_CHECKING:
    from audiencekit.emulator.data_api.fields import Wish

KEPT_SECONDS: Final = 5 * 86_400.0  # of events, for a replay; the public service's
MAX_EVENTS: Final = 10_000  # kept for one webhook
_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")


@dataclass(slots=True)
class Delivery:
    """One event for one webhook; `attempts` are the statuses that came back, None where nothing did."""

    webhook_id: str
    body: bytes = field(repr=False)
    time: float
    is_replay: bool = False
    attempts: list[int | None] = field(default_factory=list)
    is_over: bool = False  # taken, or left

    def document(self) -> dict[str, Any]:
        """Return the delivery as a door shows it."""
        return {
            "webhook_id": self.webhook_id,
            "time": format_time(self.time),
            "bytes": len(self.body),
            "replay": self.is_replay,
            "attempts": self.attempts,
            "over": self.is_over,
        }


@dataclass(slots=True)
class Link:
    """A webhook that is linked: the fields it wants, and its events so far."""

    wish: Wish
    events: deque[Delivery] = field(default_factory=lambda: deque(maxlen=MAX_EVENTS))


class Webhooks:
    """All of them. `send` is given each delivery that is to be made."""

    def __init__(self) -> None:
        self.receivers: dict[str, str] = {}  # webhook id -> address
        self.links: dict[str, Link] = {}
        self.made: deque[Delivery] = deque(maxlen=MAX_EVENTS)  # in the order in which they were begun
        self.send: Callable[[Delivery], None] = lambda delivery: None

    def link(self, webhook_id: str, wish: Wish) -> None:
        """Link a webhook, or give a linked one other fields."""
        if webhook_id in self.links:
            self.links[webhook_id].wish = wish
        else:
            self.links[webhook_id] = Link(wish)

    def tell(self, webhook_id: str, body: bytes, now: float) -> None:
        """Deliver an event to a linked webhook, and keep it for a replay."""
        delivery = Delivery(webhook_id, body, now)
        events = self.links[webhook_id].events
        events.append(delivery)
        while events[0].time < now - KEPT_SECONDS:
            events.popleft()
        self.send(delivery)

    def replay(self, ids: Collection[str], since: float, until: float) -> int:
        """Deliver again what some webhooks were told between two moments; return how many events these are."""
        again = [
            Delivery(event.webhook_id, event.body, event.time, is_replay=True)
            for webhook_id in ids
            for event in [*self.links[webhook_id].events]
            if since <= event.time <= until
        ]
        for delivery in again:
            self.send(delivery)
        return len(again)


def read_receivers(given: object, allowed_hosts: Collection[str]) -> Mapping[str, str]:
    """Return addresses by webhook id. Raises ValueError, which says what is wrong."""
    if not isinstance(given, dict):
        raise ValueError("Expected an object of addresses by webhook id")
    for webhook_id, address in given.items():
        if not (isinstance(webhook_id, str) and webhook_id.isascii() and webhook_id.isdecimal()):
            raise ValueError("a webhook is called by 1 to 19 digits")
        if len(webhook_id) > 19 or not isinstance(address, str):
            raise ValueError("a webhook is called by 1 to 19 digits, and leads to an address")
        _check_address(address, allowed_hosts)
    return dict(given)


def _check_address(address: str, allowed_hosts: Collection[str]) -> None:
    try:
        parts = urlsplit(address)
        host = parts.hostname
    except ValueError:
        host = None
    if host is None or parts.scheme not in ("http", "https") or parts.username is not None:
        raise ValueError("a receiver is an http or https address")
    if host not in _LOOPBACK and host not in allowed_hosts:
        raise ValueError("a receiver is on this machine, unless its host is allowed")
