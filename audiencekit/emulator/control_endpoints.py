"""Endpoints for tests that no service has: orders for faults, and the content of the emulator."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, Final

import orjson

from audiencekit.emulator.answers import Answer, RefusalError, format_time, refuse
from audiencekit.emulator.bodies import parse_json, receive
from audiencekit.emulator.emulator_parts import EmulatorParts
from audiencekit.emulator.endpoints.activity import read_event
from audiencekit.emulator.endpoints.audience_members import Span, name_tags, show_key_set
from audiencekit.emulator.endpoints.webhooks import read_receivers
from audiencekit.emulator.faults.orders import FaultEndpoint
from audiencekit.emulator.incoming import IncomingRequest, send_continue
from audiencekit.emulator.options import EmulatorOptions
from audiencekit.emulator.store import Clock, Store

# --- The access to the control endpoints, from loopback only ---

_LOOPBACK_NAMES: Final = ("127.0.0.1", "localhost")


class ControlRouter:
    """Calls the control endpoints, also those of the faults. `prepare` opens the addresses that faults need."""

    def __init__(self, parts: EmulatorParts, prepare: Callable[[], Awaitable[dict[str, str]]]) -> None:
        self._parts = parts
        self._fault_endpoint = FaultEndpoint(parts.faults, prepare)
        self._endpoints = ControlEndpoints(parts.store, parts.clock, parts.options, parts.handlers.set_account)

    async def open(self, incoming: IncomingRequest) -> Answer:
        """Return the answer of an endpoint. The clock may have been moved: what is due by it is done afterwards."""
        await send_continue(incoming)
        received = await receive(incoming.request.content.iter_any())
        try:
            # A web page could else come in by a name of its own that leads to this host.
            if incoming.request.host.partition(":")[0] not in _LOOPBACK_NAMES:
                raise refuse(403, "ACTION_NOT_ALLOWED", "The doors open to loopback only")
            if incoming.path == "/__faults":
                return await self._fault_endpoint.open(incoming.request.method, received.content)
            return self._endpoints.open(incoming.request.method, incoming.path, received.content)
        except RefusalError as refusal:
            return refusal.answer
        finally:
            self._catch_up()

    def _catch_up(self) -> None:
        parts = self._parts
        parts.late.run_due()
        parts.handlers.look_for_posts(parts.clock.now())
        if parts.state is not None:
            parts.state.store("clock_offset", parts.clock.offset_seconds)


# --- The control endpoints, unsigned and not a part of the API: what a test may read and change ---

_NDJSON: Final = "application/x-ndjson"
_LAST_MOMENT: Final = 253_402_300_799  # the end of the year 9999, after which there are no times to print
_MEMBERS_A_PART: Final = 10_000


_WITH_ID: Final = ("__members", "__accounts")

SetAccount = Callable[[str, bytes, float], dict[str, Any]]


class ControlEndpoints:
    """`/__log`, `/__members/{id}`, `/__requests`, `/__users`, `/__accounts/{id}`, `/__clock` and `/__activity`."""

    def __init__(self, store: Store, clock: Clock, options: EmulatorOptions, set_account: SetAccount) -> None:
        self._store, self._clock, self._options = store, clock, options
        self._set_account = set_account
        self._endpoints: Mapping[tuple[str, str], Callable[[str, bytes], Answer]] = {
            ("GET", "__log"): self._show_log,
            ("GET", "__members"): self._show_members,
            ("GET", "__requests"): self._show_requests,
            ("GET", "__users"): self._show_users,
            ("GET", "__accounts"): lambda account_id, body: self._open_account(account_id, b""),
            ("POST", "__accounts"): self._open_account,
            ("GET", "__webhooks"): self._show_webhooks,
            ("POST", "__webhooks"): self._set_receivers,
            ("POST", "__clock"): self._move_clock,
            ("POST", "__activity"): self._make_happen,
            ("DELETE", "__activity"): self._end_streams,
        }

    def open(self, method: str, path: str, body: bytes) -> Answer:
        """Return the answer of an endpoint. Raises RefusalError: 404 for an unknown one, 405 for the wrong method."""
        name, slash, rest = path.removeprefix("/").partition("/")
        if name not in {door for _, door in self._endpoints} or bool(slash and rest) != (name in _WITH_ID):
            raise refuse(404, "ROUTE_NOT_FOUND", "There is no such door")
        if (method, name) not in self._endpoints:
            raise refuse(405, "METHOD_NOT_ALLOWED", "The method is not allowed for this door")
        return self._endpoints[method, name](rest, body)

    def _show_log(self, rest: str, body: bytes) -> Answer:
        return Answer(200, self._store.operations.lines(), content_type=_NDJSON)

    def _show_requests(self, rest: str, body: bytes) -> Answer:
        return Answer(200, orjson.dumps(self._store.requests.documents()))

    def _show_users(self, rest: str, body: bytes) -> Answer:
        return Answer(200, orjson.dumps([user.document() for user in self._store.users.all()]))

    def _open_account(self, account_id: str, body: bytes) -> Answer:
        return Answer(200, orjson.dumps(self._set_account(account_id, body, self._clock.now())))

    def _show_webhooks(self, rest: str, body: bytes) -> Answer:
        webhooks = self._store.webhooks
        document = {
            "receivers": webhooks.receivers,
            "linked": list(webhooks.links),
            "deliveries": [delivery.document() for delivery in webhooks.made],
        }
        return Answer(200, orjson.dumps(document))

    def _set_receivers(self, rest: str, body: bytes) -> Answer:
        try:
            receivers = read_receivers(parse_json(body), self._options.webhook_hosts)
        except ValueError as error:
            raise refuse(400, "INVALID_PARAMETER", str(error)) from None
        self._store.webhooks.receivers.update(receivers)
        return self._show_webhooks(rest, b"")

    def _show_members(self, list_id: str, body: bytes) -> Answer:
        shown = self._store.find_list(list_id)
        if shown is None:
            raise refuse(404, "NOT_FOUND", "There is no list with this id")
        return Answer(200, self._write_members(list(shown.members.members(self._clock.now()))))

    def _write_members(self, members: list[tuple[bytes, Span]]) -> Iterator[bytes]:
        names = name_tags(self._options.profile)
        yield b'{"members":['
        for start in range(0, len(members), _MEMBERS_A_PART):
            shown = [
                {
                    "keys": show_key_set(key_set, names),
                    "expires_at": format_time(span.expires_at),
                }
                for key_set, span in members[start : start + _MEMBERS_A_PART]
            ]
            yield (b"," if start else b"") + orjson.dumps(shown)[1:-1]
        yield b'],"count":%d}' % len(members)

    def _move_clock(self, rest: str, body: bytes) -> Answer:
        try:
            order = parse_json(body)
        except ValueError:
            raise _bad_order() from None
        if not isinstance(order, dict) or len(order) != 1:
            raise _bad_order()
        (verb, given), now = next(iter(order.items())), self._clock.now()
        if verb not in ("advance", "set") or type(given) not in (int, float) or not math.isfinite(given):
            raise _bad_order()
        epoch = now + given if verb == "advance" else given
        if not 0 <= epoch <= _LAST_MOMENT:
            raise _bad_order()
        self._clock.set(epoch)
        return Answer(200, orjson.dumps({"now": self._clock.now()}))

    def _make_happen(self, rest: str, body: bytes) -> Answer:
        try:
            event = read_event(parse_json(body), self._store.origin.user_id, self._clock.now())
        except ValueError as error:
            raise refuse(400, "INVALID_PARAMETER", str(error)) from None
        delivered = self._store.activity.publish(event)
        for webhook_id in self._store.webhooks.links if delivered else ():
            self._store.webhooks.notify(webhook_id, event.line().strip(), self._clock.now())
        return Answer(200, orjson.dumps({"delivered": delivered}))

    def _end_streams(self, rest: str, body: bytes) -> Answer:
        self._store.activity.end_streams()
        return Answer(200, orjson.dumps({}))


def _bad_order() -> RefusalError:
    return refuse(400, "INVALID_PARAMETER", 'Expected {"advance": seconds} or {"set": epoch}')
