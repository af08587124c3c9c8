"""The points of a request at which faults can take effect, and the effects of the faults at each."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping

from aiohttp import web

from audiencekit.emulator.answers import Answer
from audiencekit.emulator.connections import ClientConnection
from audiencekit.emulator.faults.effects import (
    Cut,
    Effect,
    Hold,
    Late,
    Outage,
    Place,
    Reply,
    Reword,
    Situation,
    Skew,
    Throttle,
    Unannounced,
    Wait,
)
from audiencekit.emulator.faults.orders import Fired, Register


class ConnectionCutError(Exception):
    """Ends a request without an answer: its connection is gone."""


class InjectedError(Exception):
    """Ends a request with this answer instead of its own."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(f"answered with status {answer.status} by a fault")
        self.answer = answer


class RequestFaults:
    """The faults of one request. `stop` is called for faults that affect more than it."""

    def __init__(
        self, register: Register, request: web.BaseRequest, connection: ClientConnection, stop: Callable[[Outage], None]
    ) -> None:
        self._register, self._request, self._connection, self._stop = register, request, connection, stop
        self._number: int | None = None
        self._attribute: Callable[[int], None] | None = None
        self._served = connection.count_request()
        self._intake: Cut | Hold | Throttle | None = None
        self._fired: list[Fired] = []
        self.skew_seconds = 0.0
        self.announced = True  # whether 100 Continue is said to those who wait for it
        self.late: Late | None = None
        self.reword: Callable[[Answer, bytes], Answer] = lambda answer, sent: answer

    async def begin(self, number: int, now: float) -> None:
        """Inject the faults of headers and body. `number` is that of the request in `/__requests`."""
        self._number = number
        await self.inject_at(Place.HEADERS, now=now)
        await self.inject_at(Place.BODY, now=now)

    async def inject_at(
        self,
        place: Place,
        *,
        now: float,
        ids: Mapping[str, str] | None = None,
        body: bytes = b"",
        answer: Answer | None = None,
    ) -> None:
        """Inject the faults of a place. Raises InjectedError or ConnectionCutError when they end the request."""
        if not self._register:
            return
        situation = Situation(
            place=place,
            method=self._request.method,
            path=self._request.raw_path.partition("?")[0],
            ids=ids or {},
            body=body,
            answer=answer,
            now=now + self.skew_seconds,
            served=self._served,
        )
        met = self._register.meet(situation, self._number)
        if met is not None:
            effect, fired = met
            self._fired.append(fired)
            if self._attribute is not None:
                self.mark_applied(self._attribute)
            await self._apply_effect(effect, place)

    async def _apply_effect(self, effect: Effect, place: Place) -> None:
        match effect:
            case Cut() | Hold() | Throttle() if place is Place.BODY:
                self._intake = effect
            case Wait(seconds):
                await self._connection.pause(seconds)
            case Cut():
                self._cut_connection()
            case Hold(seconds):
                await self._connection.pause(seconds)
                self._cut_connection()
            case Reply(answer):
                raise InjectedError(answer)
            case Outage():
                self._stop(effect)
                self._cut_connection()
            case _:
                self._note(effect)

    def _note(self, effect: Effect) -> None:
        match effect:
            case Skew(seconds):
                self.skew_seconds = seconds
            case Late():
                self.late = effect
            case Unannounced():
                self.announced = False
            case Reword(change):
                self.reword = change
            case _:
                raise RuntimeError("a fault struck where it has no effect")

    def _cut_connection(self) -> None:
        self._connection.abort()
        raise ConnectionCutError

    def mark_applied(self, attribute: Callable[[int], None]) -> None:
        """Note that the request changed something; `attribute` is called with its last fault."""
        self._attribute = attribute
        for fired in self._fired:
            fired.applied = True
        if self._fired:
            attribute(self._fired[-1].fault)

    async def wait_for_late_answer(self, late: Late, answered: asyncio.Future[Answer]) -> Answer:
        """Return the answer to a request that is applied late: another one at once, or its own after it was applied."""
        if late.cut:
            self._cut_connection()
        if late.reply is not None:
            return late.reply
        await self._connection.pause(None, until=answered)
        if not answered.done():
            self._cut_connection()
        return answered.result()

    async def read_body(self, parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Yield the parts of the body as the fault at `body` lets them pass. Raises ConnectionCutError."""
        intake, taken = self._intake, 0
        if isinstance(intake, Cut | Hold) and not intake.after_bytes:
            await self._end_intake(intake)
        async for part in parts:
            yield part
            taken += len(part)
            if isinstance(intake, Throttle):
                await self._connection.pause(len(part) / intake.bytes_per_second)
            elif intake is not None and taken >= intake.after_bytes:
                await self._end_intake(intake)

    async def _end_intake(self, intake: Cut | Hold) -> None:
        if isinstance(intake, Hold):
            await self._connection.pause(intake.seconds)
        self._cut_connection()
