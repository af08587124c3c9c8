"""An incoming request: its line and headers first, its body when it is read."""

from __future__ import annotations

from dataclasses import dataclass

from aiohttp import web

from audiencekit.emulator.bodies import Received, receive
from audiencekit.emulator.calls import Address
from audiencekit.emulator.faults.fault_points import RequestFaults
from audiencekit.emulator.journal import RequestEntry


@dataclass(frozen=True, slots=True)
class IncomingRequest:
    """A request whose body was not read yet."""

    request: web.BaseRequest
    address: Address
    path: str
    query: bytes
    time: float
    faults: RequestFaults

    def header(self, name: str) -> str:
        """Return the value of a header, empty without it."""
        return self.request.headers.get(name, "")


async def send_continue(arrival: IncomingRequest) -> None:
    """Send 100 Continue if the client waits for it."""
    if arrival.header("Expect").lower() == "100-continue":
        await arrival.request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        arrival.request.writer.output_size = 0


async def read_body(arrival: IncomingRequest, entry: RequestEntry) -> Received:
    """Return the body, and count its bytes in `entry`. Raises the errors that faults of the body cause."""
    if arrival.faults.announced:
        await send_continue(arrival)
    received = await receive(arrival.faults.read_body(arrival.request.content.iter_any()))
    entry.bytes = received.size
    return received
