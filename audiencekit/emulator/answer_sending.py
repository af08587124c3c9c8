"""Apply a request and send its answer, with the ordered faults in between."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import random
import traceback
from dataclasses import replace
from email.utils import formatdate
from typing import Any, Final

from aiohttp import web

from audiencekit.emulator.answers import Answer, RefusalError, refuse
from audiencekit.emulator.connections import ClientConnection
from audiencekit.emulator.emulator_parts import EmulatorParts
from audiencekit.emulator.endpoints.activity import Stream
from audiencekit.emulator.faults.effects import Late, Place
from audiencekit.emulator.faults.fault_points import ConnectionCutError, RequestFaults
from audiencekit.emulator.incoming import IncomingRequest
from audiencekit.emulator.routing import VERSION, Match
from audiencekit.emulator.store import Clock, ReceivedCall

# --- Applying an authorized call, at once or late, with the faults before and after it ---

_logger: Final = logging.getLogger(__name__)


class CallRunner:
    """Applies the calls of one emulator."""

    def __init__(self, parts: EmulatorParts) -> None:
        self._parts = parts

    async def carry_out(self, call: ReceivedCall, match: Match, faults: RequestFaults) -> Answer:
        """Return the answer of the endpoint. Raises InjectedError with the answer of a fault before or after it."""
        inject_at = functools.partial(faults.inject_at, ids=match.ids, body=call.body)
        await inject_at(Place.BEFORE_APPLY, now=self._parts.clock.now())
        await inject_at(Place.LATE_APPLY, now=self._parts.clock.now())
        if faults.late is not None:
            return await self._apply_late(faults.late, call, match, faults)
        answer = self._apply(call, match, faults)
        if answer.status < 300:
            await inject_at(Place.AFTER_APPLY, now=self._parts.clock.now(), answer=answer)
        return answer

    def _apply(self, received: ReceivedCall, match: Match, faults: RequestFaults) -> Answer:
        operations = self._parts.store.operations
        first = len(operations)
        try:
            answer = self._parts.handlers.handle(match, replace(received, now=self._parts.clock.now()))
        except RefusalError as refusal:
            return refusal.answer
        except Exception as error:
            return _own_fault(error)
        if match.route.method != "GET":
            faults.mark_applied(functools.partial(operations.attribute, first, len(operations)))
        return answer

    async def _apply_late(self, late: Late, call: ReceivedCall, match: Match, faults: RequestFaults) -> Answer:
        answered: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        def apply() -> None:
            answered.set_result(self._apply(call, match, faults))

        self._parts.late.add(late.seconds, apply)
        return await faults.wait_for_late_answer(late, answered)


def _own_fault(error: Exception) -> Answer:
    place = traceback.extract_tb(error.__traceback__)[-1]
    # The exception itself may hold what was sent.
    _logger.error("%s in %s, line %s: the emulator has a fault", type(error).__name__, place.name, place.lineno)
    return refuse(500, "INTERNAL_ERROR", "The emulator has a fault").answer


# --- Sending answers: whole, in parts, or as a fault delivers them ---

# Headers of answers for programs. A browser that gets a page with these does not show it but keeps it as a file.
_OF_DATA: Final = {
    "x-current-api-version": VERSION,
    "content-disposition": "attachment; filename=json.json",
    "x-access-level": "read-write",
}
_PAGE: Final = "text/html"
_KEEP_ALIVE_SECONDS: Final = 20.0  # without a word on a feed, as on the public service's streams


class Sender:
    """Sends answers with the headers that all answers have."""

    def __init__(self, clock: Clock, chance: random.Random) -> None:
        self._clock, self._chance = clock, chance

    async def send(self, incoming: IncomingRequest, connection: ClientConnection, answer: Answer) -> web.StreamResponse:
        """Return `answer`, already sent if it is streamed. Raises ConnectionCutError after the answer of a fault."""
        headers = {**self._ordinary_headers(incoming), **answer.headers, "Content-Type": answer.content_type}
        if not answer.content_type.startswith(_PAGE):
            headers = {**_OF_DATA, **headers}
        response: web.StreamResponse
        if answer.delivery is not None and isinstance(answer.body, bytes):
            await connection.write(answer.delivery(answer.status, headers, answer.body))
            raise ConnectionCutError
        if isinstance(answer.body, bytes) and answer.feed is None:
            response = web.Response(status=answer.status, body=answer.body, headers=headers)
        else:
            response = web.StreamResponse(status=answer.status, headers=headers)
        if answer.headers.get("Connection") == "close":
            response.force_close()
        if isinstance(answer.body, bytes) and answer.feed is None:
            return response
        await response.prepare(incoming.request)
        for part in answer.body if not isinstance(answer.body, bytes) else ():
            await response.write(part)
        if answer.feed is not None:
            await _feed(response, connection, answer.feed)
        return response

    def _ordinary_headers(self, incoming: IncomingRequest) -> dict[str, str]:
        now = self._clock.now()
        return {
            "Date": formatdate(now + incoming.faults.skew_seconds, usegmt=True),
            "Server": "audiencekit-emulator",
            "x-response-time": str(int(1_000 * max(0.0, now - incoming.time))),
            "x-transaction": f"{self._chance.getrandbits(64):016x}",
        }


async def _feed(response: web.StreamResponse, connection: ClientConnection, feed: Stream) -> None:
    with contextlib.closing(feed), contextlib.suppress(ConnectionError):
        while not connection.is_over:
            changed = feed.changed()
            for part in feed.take():
                await response.write(part)
            if feed.ended:
                return
            await connection.pause(_KEEP_ALIVE_SECONDS, changed)
            if not changed.done() and not connection.is_over:
                await response.write(b"\r\n")
