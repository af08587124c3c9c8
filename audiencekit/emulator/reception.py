"""One HTTP request in, one answer out: route, signature, rate, account, body, handler, in this order."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import replace

from aiohttp import web

from audiencekit.emulator.admission import Admission, Admissions
from audiencekit.emulator.answersending import Sender
from audiencekit.emulator.applying import Applying
from audiencekit.emulator.arrivals import Arrival, take_in
from audiencekit.emulator.bodies import Received
from audiencekit.emulator.calls import Address, is_form
from audiencekit.emulator.connections import ClientConnection
from audiencekit.emulator.doorway import Doorway
from audiencekit.emulator.emulatorparts import EmulatorParts
from audiencekit.emulator.envelope import Answer, RefusalError
from audiencekit.emulator.faults.connections import strike_connection
from audiencekit.emulator.faults.effects import Outage
from audiencekit.emulator.faults.faultpoints import RequestFaults, SeveredError, StruckError


class Reception:
    """Answers the requests of one emulator, whichever of its addresses they come to."""

    def __init__(
        self,
        parts: EmulatorParts,
        *,
        stop: Callable[[Outage], None],
        prepare: Callable[[], Awaitable[dict[str, str]]],
    ) -> None:
        self._parts, self._stop = parts, stop
        self._admissions = Admissions(parts)
        self._applying = Applying(parts)
        self._doorway = Doorway(parts, prepare)
        self._sender = Sender(parts.clock, random.Random(parts.options.seed))

    def admit(self, connection: ClientConnection) -> None:
        """Let the faults of connections strike a new one."""
        strike_connection(connection, self._parts.faults, self._parts.clock.now(), self._stop)

    async def answer(self, request: web.BaseRequest, address: Address) -> web.StreamResponse:
        """Return the answer to `request`, already sent when it is one in parts or that of a fault."""
        self._parts.late.run_due()
        connection = ClientConnection.of(request)
        if connection is None:
            return web.Response()
        path, _, query = request.raw_path.partition("?")
        now = self._parts.clock.now()
        faults = RequestFaults(self._parts.faults, request, connection, self._stop)
        arrival = Arrival(request, address, path, query.encode("utf-8", "surrogateescape"), now, faults)
        try:
            if path.startswith("/__"):
                return await self._sender.send(arrival, connection, await self._doorway.open(arrival))
            return await self._sender.send(arrival, connection, await self._serve(arrival))
        except SeveredError:
            return web.Response()

    async def _serve(self, arrival: Arrival) -> Answer:
        entry = self._parts.store.requests.open(arrival.time, arrival.request.method, arrival.path)
        received = None
        try:
            await arrival.faults.begin(entry.seq, arrival.time)
            # Only a form is covered by the signature; other requests are judged and counted before their body came.
            received = await take_in(arrival, entry) if is_form(arrival.header("Content-Type")) else None
            admission = self._admissions.admit(arrival, received)
        except (RefusalError, StruckError) as end:
            received = received or await take_in(arrival, entry)
            answer = end.answer
        else:
            received = received or await take_in(arrival, entry)
            answer = await self._handle(arrival, admission, received)
        answer = arrival.faults.reword(answer, arrival.header("Authorization").encode() + received.content)
        entry.status = answer.status
        if self._parts.state is not None:
            self._parts.state.add_request(entry)
        closing = {} if received.drained else {"Connection": "close"}
        return replace(answer, headers={**answer.headers, **closing})

    async def _handle(self, arrival: Arrival, admission: Admission, received: Received) -> Answer:
        try:
            call = self._admissions.let_in(arrival, admission, received)
            answer = await self._applying.carry_out(call, admission.match, arrival.faults)
        except RefusalError as refusal:
            answer = refusal.answer
        except StruckError as struck:
            # A proxy between a client and the service knows nothing of rates.
            if struck.answer.status >= 300:
                return struck.answer
            answer = struck.answer
        level = {"x-access-level": "read"} if admission.may_only_read else {}
        return replace(answer, headers={**admission.quota.headers(), **level, **answer.headers})
