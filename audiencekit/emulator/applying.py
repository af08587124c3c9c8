"""Apply a call that was let in, at once or late, and meet the faults before and after it."""

from __future__ import annotations

import asyncio
import functools
import logging
import traceback
from dataclasses import replace
from typing import Any, Final

from audiencekit.emulator.emulatorparts import EmulatorParts
from audiencekit.emulator.envelope import Answer, RefusalError, refuse
from audiencekit.emulator.faults.effects import Late
from audiencekit.emulator.faults.fault import Place
from audiencekit.emulator.faults.faultpoints import RequestFaults
from audiencekit.emulator.routing import Match
from audiencekit.emulator.state import ReceivedCall

_logger: Final = logging.getLogger(__name__)


class Applying:
    """Applies the calls of one emulator."""

    def __init__(self, parts: EmulatorParts) -> None:
        self._parts = parts

    async def carry_out(self, call: ReceivedCall, match: Match, faults: RequestFaults) -> Answer:
        """Return the answer of the endpoint. Raises StruckError for that of a fault before or behind it."""
        meet = functools.partial(faults.meet, ids=match.ids, body=call.body)
        await meet(Place.BEFORE_APPLY, now=self._parts.clock.now())
        await meet(Place.LATE_APPLY, now=self._parts.clock.now())
        if faults.late is not None:
            return await self._apply_late(faults.late, call, match, faults)
        answer = self._apply(call, match, faults)
        if answer.status < 300:
            await meet(Place.AFTER_APPLY, now=self._parts.clock.now(), answer=answer)
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
        return await faults.hear_late(late, answered)


def _own_fault(error: Exception) -> Answer:
    place = traceback.extract_tb(error.__traceback__)[-1]
    # The exception itself may hold what was sent.
    _logger.error("%s in %s, line %s: the emulator has a fault", type(error).__name__, place.name, place.lineno)
    return refuse(500, "INTERNAL_ERROR", "The emulator has a fault").answer
