"""The addresses that only faults need: https with certificates of our choice, and a proxy."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable

from audiencekit.emulator.connections import ClientConnection
from audiencekit.emulator.faults.handshakes import Handshakes
from audiencekit.emulator.faults.kinds import Site
from audiencekit.emulator.faults.proxy import Proxy
from audiencekit.emulator.faults.register import Register
from audiencekit.emulator.listening import Handler, Listener


class FaultSites:
    """Opened when a fault is first set that needs them, and open until the emulator ends."""

    def __init__(
        self,
        register: Register,
        handler: Handler,
        admit: Callable[[ClientConnection], None],
        end: asyncio.Event,
        ports: Callable[[], set[int]],
    ) -> None:
        self._register, self._handler, self._admit, self._end, self._ports = register, handler, admit, end, ports
        self._closers: list[Listener | Handshakes | Proxy] = []
        self.ports: set[int] = set()  # of the https address
        self._shown: dict[str, str] = {}
        self._opening = asyncio.Lock()
        self._contexts: dict[str, ssl.SSLContext] = {}

    async def prepare(self) -> dict[str, str]:
        """Open what the faults that are set need. Return the addresses, and the authority to trust."""
        async with self._opening:
            https, proxy = self._register.needs(Site.HTTPS), self._register.needs(Site.PROXY)
            if (https or proxy) and not self._contexts:
                self._make_contexts()
            if https and "https_url" not in self._shown:
                await self._open_https()
            if proxy and "proxy_url" not in self._shown:
                await self._open_proxy()
        return dict(self._shown)

    def _make_contexts(self) -> None:
        from audiencekit.emulator.faults.certificates import make_certificates

        made = make_certificates()
        self._contexts = made.contexts
        self._shown["authority"] = made.authority

    async def _open_https(self) -> None:
        handshakes = Handshakes(self._register, self._contexts)
        listener = Listener(self._handler, self._admit, self._end, handshakes.make)
        await listener.open(0)
        self._closers += [handshakes, listener]
        self._shown["https_url"] = listener.url
        self.ports.add(listener.port)

    async def _open_proxy(self) -> None:
        proxy = Proxy(self._register, self._ports, self._contexts["self_signed"])
        self._shown["proxy_url"] = await proxy.open()
        self._closers.append(proxy)

    async def close(self) -> None:
        """Close what was opened."""
        while self._closers:
            await self._closers.pop().close()
