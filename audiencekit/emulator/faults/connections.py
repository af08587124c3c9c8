"""The faults of a connection, before a request comes by it."""

from __future__ import annotations

from collections.abc import Callable

from audiencekit.emulator.connections import ClientConnection
from audiencekit.emulator.faults.effects import Cut, Hold, Outage
from audiencekit.emulator.faults.fault import Place, Situation
from audiencekit.emulator.faults.register import Register


def strike_connection(
    connection: ClientConnection, faults: Register, now: float, stop: Callable[[Outage], None]
) -> None:
    """Let the faults of connections strike a new one; `stop` ends the emulator for an outage."""
    met = faults.meet(Situation(place=Place.CONNECT, now=now))
    match met and met[0]:
        case Cut():
            connection.abort()
        case Hold(seconds):
            connection.stop_reading(seconds)
        case Outage() as outage:
            stop(outage)
