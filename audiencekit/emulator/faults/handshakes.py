"""Handshakes of the https address, each with the certificate, or to the failure, that was ordered."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Callable, Mapping
from typing import Final

from audiencekit.emulator.connections import ClientConnection
from audiencekit.emulator.faults.effects import Handshake
from audiencekit.emulator.faults.fault import Place, Situation
from audiencekit.emulator.faults.kinds import Site
from audiencekit.emulator.faults.register import Register

# A fatal alert as it is written before anything was agreed (RFC 8446, sections 5.1 and 6).
_ALERT: Final = b"\x15\x03\x03\x00\x02\x02%c"


class Handshakes:
    """Makes encrypted connections. Faults are asked once a connection."""

    def __init__(self, register: Register, contexts: Mapping[str, ssl.SSLContext]) -> None:
        self._register, self._contexts = register, contexts
        self._tasks: set[asyncio.Task[None]] = set()

    def make(self, connection: ClientConnection) -> asyncio.Protocol:
        """Return the protocol of a new transport, which `connection` takes over when all is well."""
        met = self._register.meet(Situation(place=Place.CONNECT), site=Site.HTTPS)
        effect = met[0] if met is not None and isinstance(met[0], Handshake) else Handshake()
        if effect.alert is not None:
            return _Alert(_ALERT % effect.alert)
        return _Upgrade(connection, self._contexts[effect.certificate or "good"], self._keep)

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """End those that are not done."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


class _Alert(asyncio.Protocol):
    """Answers the first bytes with an alert."""

    def __init__(self, record: bytes) -> None:
        self._record = record
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(self._record)
            self._transport.close()


class _Upgrade(asyncio.Protocol):
    """Encrypts a transport, and hands it over to its connection."""

    def __init__(
        self, connection: ClientConnection, context: ssl.SSLContext, keep: Callable[[asyncio.Task[None]], None]
    ) -> None:
        self._connection, self._context, self._keep = connection, context, keep

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            # Bytes that come before the encryption is there would otherwise reach the wrong protocol.
            transport.pause_reading()
            self._keep(asyncio.get_running_loop().create_task(self._encrypt(transport)))

    async def _encrypt(self, transport: asyncio.Transport) -> None:
        # A client that does not trust the certificate ends the handshake: that is what it is for.
        with contextlib.suppress(OSError):
            loop = asyncio.get_running_loop()
            encrypted = await loop.start_tls(transport, self._connection, self._context, server_side=True)
            if encrypted is not None:
                self._connection.connection_made(encrypted)
