"""One HTTP request in, one answer out: route, signature, rate, account, body, handler, in this order."""

from __future__ import annotations

import json
import logging
import random
import traceback
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from email.utils import formatdate
from typing import Final

from aiohttp import web

from .bodies import Received, receive
from .calls import Address, Call
from .clock import Clock
from .doors import Doors
from .envelope import Answer, RefusalError, refuse
from .journal import RequestEntry
from .oauth.gate import Gate
from .options import EmulatorOptions
from .rate_limits import COUNTED_READS, READS, USERS, Quota, RateLimits, Window
from .routes import ROUTES
from .routing import VERSION, Match, Router
from .signatures import SignedCall, decode_pairs
from .state import ReceivedCall, StateError, StateFile, open_state
from .store import Store

_FORM: Final = "application/x-www-form-urlencoded"
_LOOPBACK_NAMES: Final = ("127.0.0.1", "localhost")
_logger: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Arrival:
    """A request whose body has not been looked at."""

    request: web.BaseRequest
    address: Address
    path: str
    query: bytes
    time: float

    def header(self, name: str) -> str:
        return self.request.headers.get(name, "")


@dataclass(frozen=True, slots=True)
class _Admission:
    """What is known of a request once its caller is: the endpoint, attributes of the header, and what is left."""

    match: Match
    attributes: Mapping[str, str]
    quota: Quota


class Reception:
    """Answers the requests of one emulator, whichever of its addresses they come to."""

    def __init__(self, options: EmulatorOptions) -> None:
        self.clock = Clock(options.clock)
        self._state = open_state(options, self.clock)
        started_at = self._state.fact("started_at", self.clock.now()) if self._state else self.clock.now()
        self.store = Store(options.seed, started_at, options.match_rate)
        self._options = options
        self._doors = Doors(self.store, self.clock, options)
        self._router = Router(ROUTES)
        self._gate = Gate(self.store.origin.credentials, self.store.tokens)
        self._rate_limits = RateLimits()
        self._chance = random.Random(options.seed)
        if self._state is not None:
            self._restore(self._state)

    def close(self) -> None:
        """Lets go of the state file."""
        if self._state is not None:
            self._state.close()

    def _restore(self, state: StateFile) -> None:
        self.store.requests.restore(state.requests())
        try:
            for saved in state.calls():
                match = self._router.find(saved.method, saved.path, Address(saved.address))
                match.route.handler(self._make_call(match, saved))
        except RefusalError:
            state.close()
            raise StateError("the state file was made with other options") from None

    async def answer(self, request: web.BaseRequest, address: Address) -> web.StreamResponse:
        """The answer to `request`, already sent when it is one in parts."""
        path, _, query = request.raw_path.partition("?")
        arrival = _Arrival(request, address, path, query.encode("utf-8", "surrogateescape"), self.clock.now())
        if arrival.header("Expect").lower() == "100-continue":
            await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            request.writer.output_size = 0
        serve = self._open_door if path.startswith("/__") else self._serve
        return await self._send(arrival, await serve(arrival))

    async def _open_door(self, arrival: _Arrival) -> Answer:
        received = await receive(arrival.request.content.iter_any())
        try:
            # A web page could else come in by a name of its own that leads to this host.
            if arrival.request.host.partition(":")[0] not in _LOOPBACK_NAMES:
                raise refuse(403, "ACTION_NOT_ALLOWED", "The doors open to loopback only")
            answer = self._doors.open(arrival.request.method, arrival.path, received.content)
        except RefusalError as refusal:
            return refusal.answer
        if self._state is not None:
            self._state.keep("clock_offset", self.clock.offset_seconds)
        return answer

    async def _serve(self, arrival: _Arrival) -> Answer:
        entry = self.store.requests.open(arrival.time, arrival.request.method, arrival.path)
        # Only a form is covered by the signature; other requests are judged and counted before their body came.
        received = await _take_in(arrival, entry) if arrival.header("Content-Type").startswith(_FORM) else None
        try:
            admission = self._admit(arrival, received)
        except RefusalError as refusal:
            received = received or await _take_in(arrival, entry)
            answer = refusal.answer
        else:
            received = received or await _take_in(arrival, entry)
            answer = self._handle(arrival, admission, received)
        entry.status = answer.status
        if self._state is not None:
            self._state.add_request(entry)
        closing = {} if received.drained else {"Connection": "close"}
        return replace(answer, headers={**answer.headers, **closing})

    def _admit(self, arrival: _Arrival, received: Received | None) -> _Admission:
        request = arrival.request
        match = self._router.find(request.method, arrival.path, arrival.address)
        signed = SignedCall(
            method=request.method,
            scheme="http",
            host=request.host,
            path=arrival.path,
            query=arrival.query,
            form=received.content if received else b"",
            authorization=request.headers.get("Authorization"),
        )
        attributes = self._gate.admit(match.route.credential, signed, arrival.time)
        token = attributes.get("oauth_token", "")
        window = self._window(match, arrival.query)
        owner: Hashable = token
        if window.each_endpoint:
            owner = (token, match.ids.get("account_id"), match.route.method, match.route.path)
        return _Admission(match, attributes, self._rate_limits.take(window, owner, arrival.time))

    def _window(self, match: Match, query: bytes) -> Window:
        window = match.route.window
        if window is READS and (b"with_total_count", b"true") in decode_pairs(query):
            return COUNTED_READS
        if window is USERS and self._options.rate is not None:
            requests, seconds = self._options.rate
            return replace(USERS, requests=requests, seconds=seconds)
        return window

    def _handle(self, arrival: _Arrival, admission: _Admission, received: Received) -> Answer:
        try:
            call = self._let_in(arrival, admission, received)
            answer = admission.match.route.handler(self._make_call(admission.match, call))
            if self._state is not None and (call.method != "GET" or admission.match.route.changes):
                self._state.add_call(call)
        except RefusalError as refusal:
            answer = refusal.answer
        except Exception as error:
            answer = _own_fault(error)
        return replace(answer, headers={**admission.quota.headers(), **answer.headers})

    def _let_in(self, arrival: _Arrival, admission: _Admission, received: Received) -> ReceivedCall:
        match = admission.match
        if not admission.quota.granted:
            raise admission.quota.exhausted(match.ids)
        self._check_account(match)
        if received.too_large:
            raise refuse(413, "REQUEST_TOO_COMPLEX", "The body of the request is too large", params=match.ids)
        if arrival.header("Content-Encoding") not in ("", "identity"):
            raise refuse(415, "UNSUPPORTED_MEDIA_TYPE", "Expected no Content-Encoding", params=match.ids)
        return ReceivedCall(
            self.clock.now(),
            arrival.address,
            arrival.request.method,
            arrival.path,
            arrival.query,
            json.dumps(admission.attributes),
            arrival.header("Content-Type"),
            received.content,
        )

    def _make_call(self, match: Match, received: ReceivedCall) -> Call:
        return Call(
            address=Address(received.address),
            ids=match.ids,
            query=decode_pairs(received.query),
            attributes=json.loads(received.attributes),
            media_type=received.media_type,
            body=received.body,
            now=received.now,
            store=self.store,
            options=self._options,
        )

    def _check_account(self, match: Match) -> None:
        account_id = match.ids.get("account_id")
        account = self.store.accounts.get(account_id or "")
        deleted = account is not None and account.deleted and not match.route.takes_deleted_account
        if account_id is not None and (account is None or account.is_foreign or deleted):
            raise refuse(403, "NOT_FOUND", f"Account {account_id} was not found")

    async def _send(self, arrival: _Arrival, answer: Answer) -> web.StreamResponse:
        headers = {**self._ordinary_headers(arrival.time), **answer.headers, "Content-Type": answer.content_type}
        response: web.StreamResponse
        if isinstance(answer.body, bytes):
            response = web.Response(status=answer.status, body=answer.body, headers=headers)
        else:
            response = web.StreamResponse(status=answer.status, headers=headers)
        if answer.headers.get("Connection") == "close":
            response.force_close()
        if not isinstance(answer.body, bytes):
            await response.prepare(arrival.request)
            for part in answer.body:
                await response.write(part)
        return response

    def _ordinary_headers(self, arrived: float) -> dict[str, str]:
        now = self.clock.now()
        return {
            "Date": formatdate(now, usegmt=True),
            "Server": "audiencekit-emulator",
            "x-current-api-version": VERSION,
            "content-disposition": "attachment; filename=json.json",
            "x-access-level": "read-write",
            "x-response-time": str(int(1_000 * max(0.0, now - arrived))),
            "x-transaction": f"{self._chance.getrandbits(64):016x}",
        }


async def _take_in(arrival: _Arrival, entry: RequestEntry) -> Received:
    received = await receive(arrival.request.content.iter_any())
    entry.bytes = received.size
    return received


def _own_fault(error: Exception) -> Answer:
    place = traceback.extract_tb(error.__traceback__)[-1]
    # The exception itself may hold what was sent.
    _logger.error("%s in %s, line %s: the emulator has a fault", type(error).__name__, place.name, place.lineno)
    return refuse(500, "INTERNAL_ERROR", "The emulator has a fault").answer
