"""The way to the emulator's own doors, from loopback alone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from audiencekit.emulator.arrivals import Arrival, greet
from audiencekit.emulator.bodies import receive
from audiencekit.emulator.doors import Doors
from audiencekit.emulator.emulatorparts import EmulatorParts
from audiencekit.emulator.envelope import Answer, RefusalError, refuse
from audiencekit.emulator.faults.door import FaultDoor

_LOOPBACK_NAMES: Final = ("127.0.0.1", "localhost")


class Doorway:
    """Opens the doors, that of the faults among them. `prepare` opens the addresses that faults need."""

    def __init__(self, parts: EmulatorParts, prepare: Callable[[], Awaitable[dict[str, str]]]) -> None:
        self._parts = parts
        self._fault_door = FaultDoor(parts.faults, prepare)
        self._doors = Doors(parts.store, parts.clock, parts.options, parts.handlers.set_account)

    async def open(self, arrival: Arrival) -> Answer:
        """Return the answer of a door. The clock may have moved: what is due by it is done before."""
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
            self._catch_up()

    def _catch_up(self) -> None:
        parts = self._parts
        parts.late.run_due()
        parts.handlers.look_for_posts(parts.clock.now())
        if parts.state is not None:
            parts.state.keep("clock_offset", parts.clock.offset_seconds)
