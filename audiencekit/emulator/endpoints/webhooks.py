"""Webhooks: their links, the delivery of their events, and replays (specification part 0, sections 4.9, 6 and 9)."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import hmac
import json
import re
import secrets
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import aiohttp
import orjson

from audiencekit.emulator.answers import Answer, format_time, refuse_problem
from audiencekit.emulator.bodies import parse_json
from audiencekit.emulator.calls import Call
from audiencekit.emulator.endpoints.accounts import Account
from audiencekit.emulator.endpoints.data_api import (
    FieldSelection,
    Found,
    Query,
    describe,
    include,
    invalid,
    read_selection,
)
from audiencekit.emulator.endpoints.stream_rules import read_post
from audiencekit.emulator.endpoints.tweets import TWEETS, publish_due
from audiencekit.emulator.resources import Record

if TYPE_CHECKING:
    from audiencekit.emulator.store import Store


# --- Webhooks: their addresses, their links, and the events for them ---

KEPT_SECONDS: Final = 5 * 86_400.0  # of events, for a replay; the public service's
MAX_EVENTS: Final = 10_000  # kept for one webhook
_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")


@dataclass(slots=True)
class Delivery:
    """One event for one webhook; `attempts` are the statuses of the answers, None without an answer."""

    webhook_id: str
    body: bytes = field(repr=False)
    time: float
    is_replay: bool = False
    attempts: list[int | None] = field(default_factory=list)
    is_over: bool = False  # taken, or left

    def document(self) -> dict[str, Any]:
        """Return the delivery as a control endpoint shows it."""
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
    """A linked webhook: the fields it wants, and its events so far."""

    selection: FieldSelection
    events: deque[Delivery] = field(default_factory=lambda: deque(maxlen=MAX_EVENTS))


class Webhooks:
    """All webhooks. `send` is called with each delivery."""

    def __init__(self) -> None:
        self.receivers: dict[str, str] = {}  # webhook id -> address
        self.links: dict[str, Link] = {}
        self.made: deque[Delivery] = deque(maxlen=MAX_EVENTS)  # in the order in which they were begun
        self.send: Callable[[Delivery], None] = lambda delivery: None

    def link(self, webhook_id: str, selection: FieldSelection) -> None:
        """Link a webhook, or change the fields of a linked one."""
        if webhook_id in self.links:
            self.links[webhook_id].selection = selection
        else:
            self.links[webhook_id] = Link(selection)

    def notify(self, webhook_id: str, body: bytes, now: float) -> None:
        """Deliver an event to a linked webhook, and store it for a replay."""
        delivery = Delivery(webhook_id, body, now)
        events = self.links[webhook_id].events
        events.append(delivery)
        while events[0].time < now - KEPT_SECONDS:
            events.popleft()
        self.send(delivery)

    def replay(self, ids: Collection[str], since: float, until: float) -> int:
        """Deliver the events of some webhooks between two moments again; return how many there are."""
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
    """Return addresses by webhook id. Raises ValueError with the problem."""
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


# --- The proofs of both sides: that an event is the emulator's, and that a receiver has the secret of the application
#
# Delivery security is not shown (specification part 0, section 6): these are the public service's.

SIGNATURE_HEADER: Final = "x-twitter-webhooks-signature"


def sign(secret: str, content: bytes) -> str:
    """Return the HMAC-SHA256 of a body under the secret of the application, as in the header and the proof."""
    digest = hmac.new(secret.encode(), content, hashlib.sha256).digest()
    return "sha256=" + base64.b64encode(digest).decode()


def is_proof(secret: str, crc_token: str, answer: object) -> bool:
    """Whether the answer to a challenge proves the secret: `{"response_token": "sha256=…"}`."""
    given = answer.get("response_token") if isinstance(answer, dict) else None
    return isinstance(given, str) and hmac.compare_digest(given.encode(), sign(secret, crc_token.encode()).encode())


# --- The delivery of events: signed, one after the other for each webhook, repeated after growing waits ---
#
# The specification does not show security and retries. Here a receiver proves first that it has the secret of the
# application, as with the public service; a delivery that is not answered with 2xx in ten seconds is made again after
# each of some waits, and is left then: a replay brings it back.

_PATIENCE_SECONDS: Final = 10.0
_MOST_BYTES: Final = 10_000  # of an answer to a challenge
WAITS_SECONDS: Final = (1.0, 5.0, 25.0)


class WebhookSender:
    """Delivers the events of some webhooks while it is open."""

    def __init__(self, webhooks: Webhooks, secret: str, waits_seconds: Sequence[float] = WAITS_SECONDS) -> None:
        self._webhooks, self._secret, self._waits_seconds = webhooks, secret, waits_seconds
        self._queues: dict[str, asyncio.Queue[Delivery]] = {}
        self._rounds: list[asyncio.Task[None]] = []
        self._proven: set[tuple[str, str]] = set()
        self._session: aiohttp.ClientSession | None = None

    def open(self) -> None:
        """Accept deliveries from now on."""
        timeout = aiohttp.ClientTimeout(total=_PATIENCE_SECONDS)
        self._session = aiohttp.ClientSession(timeout=timeout, trust_env=False, cookie_jar=aiohttp.DummyCookieJar())
        self._webhooks.send = self._take

    async def close(self) -> None:
        """Stop, and drop the remaining deliveries."""
        self._webhooks.send = lambda delivery: None
        for each in self._rounds:
            each.cancel()
        await asyncio.gather(*self._rounds, return_exceptions=True)
        if self._session is not None:
            await self._session.close()

    def _take(self, delivery: Delivery) -> None:
        if delivery.webhook_id not in self._queues:
            queue = self._queues[delivery.webhook_id] = asyncio.Queue()
            self._rounds.append(asyncio.create_task(self._go_round(queue)))
        self._queues[delivery.webhook_id].put_nowait(delivery)

    async def _go_round(self, queue: asyncio.Queue[Delivery]) -> None:
        while True:
            await self._deliver(await queue.get())

    async def _deliver(self, delivery: Delivery) -> None:
        address = self._webhooks.receivers.get(delivery.webhook_id)
        if address is None:
            return
        self._webhooks.made.append(delivery)
        for wait_seconds in (*self._waits_seconds, None):
            status = await self._attempt(address, delivery)
            delivery.attempts.append(status)
            if (status is not None and 200 <= status <= 299) or wait_seconds is None:
                delivery.is_over = True
                return
            await asyncio.sleep(wait_seconds)

    async def _attempt(self, address: str, delivery: Delivery) -> int | None:
        """Return the status of the answer; None without one, and for a receiver without a valid proof."""
        assert self._session is not None  # noqa: S101
        headers = {"Content-Type": "application/json", SIGNATURE_HEADER: sign(self._secret, delivery.body)}
        with contextlib.suppress(aiohttp.ClientError, asyncio.TimeoutError, OSError):
            if (delivery.webhook_id, address) not in self._proven and not await self._challenge(address):
                return None
            self._proven.add((delivery.webhook_id, address))
            async with self._session.post(
                address, data=delivery.body, headers=headers, allow_redirects=False
            ) as answer:
                return answer.status
        return None

    async def _challenge(self, address: str) -> bool:
        assert self._session is not None  # noqa: S101
        crc_token = secrets.token_urlsafe(24)
        query = {"crc_token": crc_token}
        async with self._session.get(address, params=query, allow_redirects=False) as answer:
            content = await answer.content.read(_MOST_BYTES)
            try:
                return answer.status == 200 and is_proof(self._secret, crc_token, json.loads(content))
            except ValueError:
                return False


# --- New posts that match the rules of the filtered stream, for the webhooks linked to it ---


class NewPosts:
    """Looks for posts that are new since the last look."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._seen: set[str] = set()
        self._has_looked = False

    def look(self, now: float) -> None:
        """Send every linked webhook the posts since the last look, also scheduled ones that are due.

        The first look after the first link sends nothing: earlier posts are not delivered.
        """
        webhooks = self._store.webhooks
        if not webhooks.links:
            return
        for account in self._store.accounts_of_user():
            publish_due(account, now)
            for tweet in [*TWEETS.of(account).values()]:
                if tweet.id not in self._seen and self._has_looked:
                    self._notify(account, tweet, now)
                self._seen.add(tweet.id)
        self._has_looked = True

    def _notify(self, account: Account, tweet: Record, now: float) -> None:
        rules = self._store.stream_rules.matching(read_post(account, tweet, self._store.origin.user_id))
        if not rules:
            return
        found: Found = (account, tweet)
        for webhook_id, link in self._store.webhooks.links.items():
            includes = include(self._store.origin.user_id, [found], link.selection)
            document: dict[str, Any] = {
                "data": {**describe(found, link.selection), "edit_history_tweet_ids": [tweet.id]},
                **({"includes": includes} if includes else {}),
                "matching_rules": [
                    {"id": rule.id, **({} if rule.tag is None else {"tag": rule.tag})} for rule in rules
                ],
            }
            self._store.webhooks.notify(webhook_id, orjson.dumps(document), now)


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
        raise invalid(f"Expected a JSON object with {', '.join(_WEBHOOK_FIELDS)}")
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
