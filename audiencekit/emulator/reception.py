"""One HTTP request in, one answer out: route, signature, rate, account, body, handler, in this order."""

from __future__ import annotations

import asyncio
import functools
import json
import logging
import random
import traceback
from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from aiohttp import web

from audiencekit.emulator.arrivals import Arrival, greet, take_in
from audiencekit.emulator.bodies import Received, receive
from audiencekit.emulator.calls import Address, is_form
from audiencekit.emulator.clock import Clock
from audiencekit.emulator.doors import Doors
from audiencekit.emulator.envelope import Answer, RefusalError, refuse
from audiencekit.emulator.faults.door import FaultDoor
from audiencekit.emulator.faults.effects import Cut, Hold, Late, Outage
from audiencekit.emulator.faults.fault import Place, Situation
from audiencekit.emulator.faults.lateness import LateApplies
from audiencekit.emulator.faults.register import Register
from audiencekit.emulator.faults.trial import SeveredError, StruckError, Trial
from audiencekit.emulator.handlers import Handlers
from audiencekit.emulator.lines import Line
from audiencekit.emulator.oauth.gate import Gate
from audiencekit.emulator.options import EmulatorOptions
from audiencekit.emulator.rate_limits import CORE_READS, COUNTED_READS, READS, USERS, Quota, RateLimits, Window
from audiencekit.emulator.routes import ROUTES
from audiencekit.emulator.routing import EARLIER, Match, Router
from audiencekit.emulator.sending import Sender
from audiencekit.emulator.signatures import SignedCall, decode_pairs
from audiencekit.emulator.state import ReceivedCall, open_state
from audiencekit.emulator.store import Store

_LOOPBACK_NAMES: Final = ("127.0.0.1", "localhost")
_logger: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Admission:
    """A request with a known caller: the endpoint, attributes of the header, and the quota that is left."""

    match: Match
    attributes: Mapping[str, str]
    quota: Quota
    may_only_read: bool

    @property
    def user_id(self) -> str:
        """The user who signed; empty where none did."""
        return self.attributes.get("oauth_token", "").partition("-")[0]


class Reception:
    """Answers the requests of one emulator, whichever of its addresses they come to."""

    def __init__(
        self,
        options: EmulatorOptions,
        *,
        stop: Callable[[Outage], None],
        prepare: Callable[[], Awaitable[dict[str, str]]],
    ) -> None:
        self.clock = Clock(options.clock)
        self._state = open_state(options, self.clock)
        started_at = self._state.fact("started_at", self.clock.now()) if self._state else self.clock.now()
        self.store = Store(options.seed, started_at, options.match_rate, options.processing_seconds, options.outside)
        self.faults = Register(options.faults)
        self.late = LateApplies(self.clock)
        self._options, self._stop = options, stop
        self._fault_door = FaultDoor(self.faults, prepare)
        self._router = Router(ROUTES, EARLIER if options.profile == "x" else ())
        self._gate = Gate(self.store.origin.credentials, self.store.tokens)
        self._rate_limits = RateLimits()
        self._sender = Sender(self.clock, random.Random(options.seed))
        self._handlers = Handlers(self.store, options, self._state)
        self._doors = Doors(self.store, self.clock, options, self._handlers.set_account)
        if self._state is not None:
            self._handlers.restore(self._router, self._state)

    def close(self) -> None:
        """Drop what was to be applied later, and let go of the state file."""
        self.late.close()
        if self._state is not None:
            self._state.close()

    def lose_members(self) -> None:
        """Empty every list, as a service that restarts without its data."""
        self._handlers.lose_members(self.clock.now())

    def admit(self, line: Line) -> None:
        """Let the faults of connections strike a new one."""
        met = self.faults.meet(Situation(place=Place.CONNECT, now=self.clock.now()))
        match met and met[0]:
            case Cut():
                line.abort()
            case Hold(seconds):
                line.stop_reading(seconds)
            case Outage() as outage:
                self._stop(outage)

    async def answer(self, request: web.BaseRequest, address: Address) -> web.StreamResponse:
        """Return the answer to `request`, already sent when it is one in parts or that of a fault."""
        self.late.run_due()
        line = Line.of(request)
        if line is None:
            return web.Response()
        path, _, query = request.raw_path.partition("?")
        now = self.clock.now()
        trial = Trial(self.faults, request, line, self._stop)
        arrival = Arrival(request, address, path, query.encode("utf-8", "surrogateescape"), now, trial)
        try:
            if path.startswith("/__"):
                return await self._sender.send(arrival, line, await self._open_door(arrival))
            return await self._sender.send(arrival, line, await self._serve(arrival))
        except SeveredError:
            return web.Response()

    async def _open_door(self, arrival: Arrival) -> Answer:
        await greet(arrival)
        received = await receive(arrival.request.content.iter_any())
        try:
            # A web page could else come in by a name of its own that leads to this host.
            if arrival.request.host.partition(":")[0] not in _LOOPBACK_NAMES:
                raise refuse(403, "ACTION_NOT_ALLOWED", "The doors open to loopback only")
            if arrival.path == "/__faults":
                return await self._fault_door.open(arrival.request.method, received.content)
            return self._doors.open(arrival.request.method, arrival.path, received.content)
        except RefusalError as refusal:
            return refusal.answer
        finally:
            self.late.run_due()
            self._handlers.look_for_posts(self.clock.now())
            if self._state is not None:
                self._state.keep("clock_offset", self.clock.offset_seconds)

    async def _serve(self, arrival: Arrival) -> Answer:
        entry = self.store.requests.open(arrival.time, arrival.request.method, arrival.path)
        received = None
        try:
            await arrival.trial.begin(entry.seq, arrival.time)
            # Only a form is covered by the signature; other requests are judged and counted before their body came.
            received = await take_in(arrival, entry) if is_form(arrival.header("Content-Type")) else None
            admission = self._admit(arrival, received)
        except (RefusalError, StruckError) as end:
            received = received or await take_in(arrival, entry)
            answer = end.answer
        else:
            received = received or await take_in(arrival, entry)
            answer = await self._handle(arrival, admission, received)
        answer = arrival.trial.reword(answer, arrival.header("Authorization").encode() + received.content)
        entry.status = answer.status
        if self._state is not None:
            self._state.add_request(entry)
        closing = {} if received.drained else {"Connection": "close"}
        return replace(answer, headers={**answer.headers, **closing})

    def _admit(self, arrival: Arrival, received: Received | None) -> _Admission:
        request, skew_seconds = arrival.request, arrival.trial.skew_seconds
        match = self._router.find(request.method, arrival.path, arrival.address)
        signed = SignedCall(
            method=request.method,
            scheme=request.scheme,
            host=request.host,
            path=arrival.path,
            query=arrival.query,
            form=received.content if received else b"",
            authorization=request.headers.get("Authorization"),
        )
        attributes = self._gate.admit(match.route.credential, signed, arrival.time + skew_seconds)
        token = attributes.get("oauth_token", "")
        window = self._window(match, arrival.query)
        owner: Hashable = token
        if window.each_endpoint:
            owner = (token, match.ids.get("account_id"), match.route.method, match.route.path)
        quota = self._rate_limits.take(window, owner, arrival.time)
        return _Admission(
            match,
            attributes,
            replace(quota, reset=quota.reset + round(skew_seconds)),
            may_only_read=token in self.store.tokens.readers,
        )

    def _window(self, match: Match, query: bytes) -> Window:
        window = match.route.window
        if window in (READS, CORE_READS) and (b"with_total_count", b"true") in decode_pairs(query):
            return COUNTED_READS
        if window is USERS and self._options.rate is not None:
            requests, seconds = self._options.rate
            return replace(USERS, requests=requests, seconds=seconds)
        return window

    async def _handle(self, arrival: Arrival, admission: _Admission, received: Received) -> Answer:
        try:
            call = self._let_in(arrival, admission, received)
            answer = await self._carry_out(call, admission.match, arrival.trial)
        except RefusalError as refusal:
            answer = refusal.answer
        except StruckError as struck:
            # A proxy between a client and the service knows nothing of rates.
            if struck.answer.status >= 300:
                return struck.answer
            answer = struck.answer
        level = {"x-access-level": "read"} if admission.may_only_read else {}
        return replace(answer, headers={**admission.quota.headers(), **level, **answer.headers})

    async def _carry_out(self, call: ReceivedCall, match: Match, trial: Trial) -> Answer:
        meet = functools.partial(trial.meet, ids=match.ids, body=call.body)
        await meet(Place.BEFORE_APPLY, now=self.clock.now())
        await meet(Place.LATE_APPLY, now=self.clock.now())
        if trial.late is not None:
            return await self._apply_late(trial.late, call, match, trial)
        answer = self._apply(call, match, trial)
        if answer.status < 300:
            await meet(Place.AFTER_APPLY, now=self.clock.now(), answer=answer)
        return answer

    def _apply(self, received: ReceivedCall, match: Match, trial: Trial) -> Answer:
        first = len(self.store.operations)
        try:
            answer = self._handlers.handle(match, replace(received, now=self.clock.now()))
        except RefusalError as refusal:
            return refusal.answer
        except Exception as error:
            return _own_fault(error)
        if match.route.method != "GET":
            trial.mark_applied(functools.partial(self.store.operations.attribute, first, len(self.store.operations)))
        return answer

    async def _apply_late(self, late: Late, call: ReceivedCall, match: Match, trial: Trial) -> Answer:
        answered: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        def apply() -> None:
            answered.set_result(self._apply(call, match, trial))

        self.late.add(late.seconds, apply)
        return await trial.hear_late(late, answered)

    def _let_in(self, arrival: Arrival, admission: _Admission, received: Received) -> ReceivedCall:
        ids = admission.match.ids
        if not admission.quota.granted:
            raise admission.quota.exhausted(ids)
        self._handlers.check_access(admission.match, admission.user_id)
        if admission.may_only_read and admission.match.route.writes:
            words = "The token may only read"
            raise refuse(403, "INSUFFICIENT_USER_AUTHORIZED_PERMISSION", words, params=ids)
        if received.too_large:
            raise refuse(413, "REQUEST_TOO_COMPLEX", "The body of the request is too large", params=ids)
        if arrival.header("Content-Encoding") not in ("", "identity"):
            raise refuse(415, "UNSUPPORTED_MEDIA_TYPE", "Expected no Content-Encoding", params=ids)
        return ReceivedCall(
            now=self.clock.now(),
            address=arrival.address,
            method=arrival.request.method,
            path=arrival.path,
            query=arrival.query,
            attributes=json.dumps(admission.attributes),
            media_type=arrival.header("Content-Type"),
            body=received.content,
        )


def _own_fault(error: Exception) -> Answer:
    place = traceback.extract_tb(error.__traceback__)[-1]
    # The exception itself may hold what was sent.
    _logger.error("%s in %s, line %s: the emulator has a fault", type(error).__name__, place.name, place.lineno)
    return refuse(500, "INTERNAL_ERROR", "The emulator has a fault").answer
