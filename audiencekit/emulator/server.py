"""The emulator as a server: three addresses on loopback, from `async with` or until a signal."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import signal
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from aiohttp import web

from audiencekit.emulator.calls import Address
from audiencekit.emulator.clock import Clock
from audiencekit.emulator.emulatorparts import EmulatorParts
from audiencekit.emulator.faults.effects import Outage
from audiencekit.emulator.faults.faultaddresses import FaultSites
from audiencekit.emulator.faults.register import Register
from audiencekit.emulator.listening import Listener
from audiencekit.emulator.options import EmulatorOptions
from audiencekit.emulator.reception import Reception
from audiencekit.emulator.routing import choose_address
from audiencekit.emulator.store import Store
from audiencekit.emulator.webhooks.webhookdelivery import Courier
from audiencekit.machine.loopsignals import on_ending

if TYPE_CHECKING:
    from audiencekit.emulator.encryption.authority import Encryption


class Emulator:
    """A local ads API. `async with Emulator(options) as emulator:` serves until the block ends."""

    def __init__(self, options: EmulatorOptions | None = None) -> None:
        self.options = options or EmulatorOptions()
        self._end = asyncio.Event()
        self._listeners: dict[Address, Listener] = {}
        self._parts = EmulatorParts(self.options)
        self._reception = Reception(self._parts, stop=self._stop, prepare=self._prepare)
        self.store.webhooks.receivers.update(self.options.webhooks)
        secret = self.store.origin.credentials.consumer_secret
        self._courier = Courier(self.store.webhooks, secret, self.options.delivery_waits)
        self._encryption: Encryption | None = None
        answer = functools.partial(self._reception.answer, address=Address.ADS)
        self._sites = FaultSites(self._parts.faults, answer, self._reception.admit, self._end, self._ports)

    async def __aenter__(self) -> Self:
        try:
            self._encryption = _encrypt(self.options)
            for address in Address:
                await self._open(address, self.options.port if address is Address.ADS else 0)
            await self._sites.prepare()
            self._courier.open()
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close()

    @property
    def faults(self) -> Register:
        """The faults that are set, and what they struck."""
        return self._parts.faults

    @property
    def ads_url(self) -> str:
        """The address of the ads API."""
        return self._listeners[Address.ADS].url

    @property
    def ads_sandbox_url(self) -> str:
        """The address of the sandbox; it has the same accounts."""
        return self._listeners[Address.SANDBOX].url

    @property
    def base_url(self) -> str:
        """The address of what is no ads API."""
        return self._listeners[Address.BASE].url

    @property
    def authority(self) -> Path | None:
        """The file with the certificate to trust; None without `tls`."""
        return self._encryption.authority if self._encryption else None

    @property
    def account_id(self) -> str:
        """The account that is there from the start."""
        return self.store.origin.account_id

    @property
    def audience_id(self) -> str:
        """The audience that is there from the start."""
        return self.store.audience_id

    @property
    def store(self) -> Store:
        """The store of the emulator."""
        return self._parts.store

    @property
    def clock(self) -> Clock:
        """The clock that every rule goes by."""
        return self._parts.clock

    @property
    def env(self) -> dict[str, str]:
        """The environment that makes a client talk to this emulator."""
        credentials, user = self.store.origin.credentials, self.store.users.named(self.options.user)
        return {
            "AUDIENCEKIT_PROFILE": self.options.profile,
            "AUDIENCEKIT_ADS_URL": self.ads_url,
            "AUDIENCEKIT_ADS_SANDBOX_URL": self.ads_sandbox_url,
            "AUDIENCEKIT_BASE_URL": self.base_url,
            "AUDIENCEKIT_ACCOUNT_ID": self.account_id,
            "AUDIENCEKIT_CONSUMER_KEY": credentials.consumer_key,
            "AUDIENCEKIT_CONSUMER_SECRET": credentials.consumer_secret,
            "AUDIENCEKIT_ACCESS_TOKEN": user.access_token,
            "AUDIENCEKIT_ACCESS_TOKEN_SECRET": user.access_token_secret,
            **({"AUDIENCEKIT_CA_BUNDLE": str(self.authority)} if self.authority else {}),
        }

    def ready_line(self) -> str:
        """Return one line of JSON: addresses, ids and environment."""
        return json.dumps(
            {
                "ads_url": self.ads_url,
                "ads_sandbox_url": self.ads_sandbox_url,
                "base_url": self.base_url,
                "account_id": self.account_id,
                "audience_id": self.audience_id,
                **({"authority": str(self.authority)} if self.authority else {}),
                "env": self.env,
            }
        )

    async def _open(self, address: Address, port: int) -> None:
        # The doors at the third address answer whatever befalls connections to the others.
        admit = self._reception.admit if address is not Address.BASE else lambda line: None
        answer = functools.partial(self._answer, address=address)
        context = self._encryption.context if self._encryption else None
        listener = self._listeners[address] = Listener(answer, admit, self._end, context=context)
        await listener.open(port)

    async def _answer(self, request: web.BaseRequest, address: Address) -> web.StreamResponse:
        called = choose_address(request.host, request.raw_path, self.options.hosts, otherwise=address)
        return await self._reception.answer(request, called)

    async def _prepare(self) -> dict[str, str]:
        return await self._sites.prepare()

    def _ports(self) -> set[int]:
        return {listener.port for listener in self._listeners.values()} | self._sites.ports

    def _stop(self, outage: Outage) -> None:
        if outage.lost:
            self._parts.lose_members()
        for address in (Address.ADS, Address.SANDBOX):
            self._listeners[address].stop_for(outage.seconds)

    async def _close(self) -> None:
        self._end.set()
        await self._courier.close()
        self._parts.close()
        await self._sites.close()
        while self._listeners:
            await self._listeners.popitem()[1].close()
        if self._encryption is not None:
            self._encryption.close()


def _encrypt(options: EmulatorOptions) -> Encryption | None:
    if not options.tls:
        return None
    from audiencekit.emulator.encryption.authority import Encryption

    return Encryption(options.hosts, options.authority)


async def serve(options: EmulatorOptions, *, announce: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT. `announce` is given the ready line once everything answers."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    signals = (signal.SIGTERM, signal.SIGINT)
    async with Emulator(options) as emulator:
        with contextlib.ExitStack() as handlers:
            for number in signals:
                handlers.callback(on_ending(loop, number, stop.set))
            announce(emulator.ready_line())
            await stop.wait()
