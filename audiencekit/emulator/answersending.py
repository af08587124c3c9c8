"""Answers on their way out: whole, in parts, or as a fault delivers them."""

from __future__ import annotations

import contextlib
import random
from email.utils import formatdate
from typing import Final

from aiohttp import web

from audiencekit.emulator.arrivals import Arrival
from audiencekit.emulator.clock import Clock
from audiencekit.emulator.connections import ClientConnection
from audiencekit.emulator.envelope import Answer, Feed
from audiencekit.emulator.faults.faultpoints import SeveredError
from audiencekit.emulator.routing import VERSION

# Headers of answers for programs. A browser that gets a page with these does not show it but keeps it as a file.
_OF_DATA: Final = {
    "x-current-api-version": VERSION,
    "content-disposition": "attachment; filename=json.json",
    "x-access-level": "read-write",
}
_PAGE: Final = "text/html"
_KEEP_ALIVE_SECONDS: Final = 20.0  # without a word on a feed, as on the public service's streams


class Sender:
    """Sends answers with the headers that every one of them has."""

    def __init__(self, clock: Clock, chance: random.Random) -> None:
        self._clock, self._chance = clock, chance

    async def send(self, arrival: Arrival, connection: ClientConnection, answer: Answer) -> web.StreamResponse:
        """`answer`, already sent when it is one in parts. Raises SeveredError after that of a fault."""
        headers = {**self._ordinary_headers(arrival), **answer.headers, "Content-Type": answer.content_type}
        if not answer.content_type.startswith(_PAGE):
            headers = {**_OF_DATA, **headers}
        response: web.StreamResponse
        if answer.delivery is not None and isinstance(answer.body, bytes):
            await connection.write(answer.delivery(answer.status, headers, answer.body))
            raise SeveredError
        if isinstance(answer.body, bytes) and answer.feed is None:
            response = web.Response(status=answer.status, body=answer.body, headers=headers)
        else:
            response = web.StreamResponse(status=answer.status, headers=headers)
        if answer.headers.get("Connection") == "close":
            response.force_close()
        if isinstance(answer.body, bytes) and answer.feed is None:
            return response
        await response.prepare(arrival.request)
        for part in answer.body if not isinstance(answer.body, bytes) else ():
            await response.write(part)
        if answer.feed is not None:
            await _feed(response, connection, answer.feed)
        return response

    def _ordinary_headers(self, arrival: Arrival) -> dict[str, str]:
        now = self._clock.now()
        return {
            "Date": formatdate(now + arrival.faults.skew_seconds, usegmt=True),
            "Server": "audiencekit-emulator",
            "x-response-time": str(int(1_000 * max(0.0, now - arrival.time))),
            "x-transaction": f"{self._chance.getrandbits(64):016x}",
        }


async def _feed(response: web.StreamResponse, connection: ClientConnection, feed: Feed) -> None:
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
