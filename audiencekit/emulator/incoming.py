"""A request as it comes in: its line and headers first, its body when a reader asks for it."""

from __future__ import annotations

from dataclasses import dataclass

from aiohttp import web

from audiencekit.emulator.bodies import Received, receive
from audiencekit.emulator.calls import Address
from audiencekit.emulator.faults.fault_points import RequestFaults
from audiencekit.emulator.journal import RequestEntry


@dataclass(frozen=True, slots=True)
class IncomingRequest:
    """A request whose body has not been looked at."""

    request: web.BaseRequest
    address: Address
    path: str
    query: bytes
    time: float
    faults: RequestFaults

    def header(self, name: str) -> str:
        """Return its value, empty without it."""
        return self.request.headers.get(name, "")


async def send_continue(arrival: IncomingRequest) -> None:
    """Ask for the body, where the client waits to be asked."""
    if arrival.header("Expect").lower() == "100-continue":
        await arrival.request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        arrival.request.writer.output_size = 0


async def read_body(arrival: IncomingRequest, entry: RequestEntry) -> Received:
    """Return the body, its bytes counted in `entry`. Raises what the faults of the body do to it."""
    if arrival.faults.announced:
        await send_continue(arrival)
    received = await receive(arrival.faults.read_body(arrival.request.content.iter_any()))
    entry.bytes = received.size
    return received
