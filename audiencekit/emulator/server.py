"""The emulator as a server: three addresses on loopback, from `async with` or until a signal."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import logging
import signal
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

from aiohttp import web

from .calls import Address
from .clock import Clock
from .options import EmulatorOptions
from .reception import Reception
from .store import Store

_LOOPBACK: Final = "127.0.0.1"
_READ_BUFFER_BYTES: Final = 1_048_576
_SHUTDOWN_SECONDS: Final = 1.0


class Emulator:
    """A local ads API. `async with Emulator(options) as emulator:` serves until the block ends."""

    def __init__(self, options: EmulatorOptions | None = None) -> None:
        self.options = options or EmulatorOptions()
        self._reception = Reception(self.options)
        self._addresses: dict[Address, str] = {}
        self._runners: list[web.ServerRunner] = []

    async def __aenter__(self) -> Self:
        try:
            for address in Address:
                port = self.options.port if address is Address.ADS else 0
                self._addresses[address] = await self._open(address, port)
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close()

    @property
    def ads_url(self) -> str:
        """The address of the ads API."""
        return self._addresses[Address.ADS]

    @property
    def ads_sandbox_url(self) -> str:
        """The address of the sandbox; it has the same accounts."""
        return self._addresses[Address.SANDBOX]

    @property
    def base_url(self) -> str:
        """The address of what is no ads API."""
        return self._addresses[Address.BASE]

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
        """What the emulator remembers."""
        return self._reception.store

    @property
    def clock(self) -> Clock:
        """The clock that every rule goes by."""
        return self._reception.clock

    @property
    def env(self) -> dict[str, str]:
        """The environment that makes a client talk to this emulator."""
        credentials = self.store.origin.credentials
        return {
            "AUDIENCEKIT_PROFILE": self.options.profile,
            "AUDIENCEKIT_ADS_URL": self.ads_url,
            "AUDIENCEKIT_ADS_SANDBOX_URL": self.ads_sandbox_url,
            "AUDIENCEKIT_BASE_URL": self.base_url,
            "AUDIENCEKIT_ACCOUNT_ID": self.account_id,
            "AUDIENCEKIT_CONSUMER_KEY": credentials.consumer_key,
            "AUDIENCEKIT_CONSUMER_SECRET": credentials.consumer_secret,
            "AUDIENCEKIT_ACCESS_TOKEN": credentials.access_token,
            "AUDIENCEKIT_ACCESS_TOKEN_SECRET": credentials.access_token_secret,
        }

    def ready_line(self) -> str:
        """One line of JSON: addresses, ids and environment."""
        return json.dumps(
            {
                "ads_url": self.ads_url,
                "ads_sandbox_url": self.ads_sandbox_url,
                "base_url": self.base_url,
                "account_id": self.account_id,
                "audience_id": self.audience_id,
                "env": self.env,
            }
        )

    async def _open(self, address: Address, port: int) -> str:
        server = web.Server(
            functools.partial(self._reception.answer, address=address),
            access_log=None,
            logger=_make_silent_logger(),
            auto_decompress=False,
            read_bufsize=_READ_BUFFER_BYTES,
            lingering_time=_SHUTDOWN_SECONDS,
        )
        runner = web.ServerRunner(server, shutdown_timeout=_SHUTDOWN_SECONDS)
        self._runners.append(runner)
        await runner.setup()
        await web.TCPSite(runner, _LOOPBACK, port).start()
        return f"http://{_LOOPBACK}:{runner.addresses[0][1]}"

    async def _close(self) -> None:
        while self._runners:
            await self._runners.pop().cleanup()
        self._reception.close()


async def serve(options: EmulatorOptions, *, announce: Callable[[str], None]) -> None:
    """Serves until SIGTERM or SIGINT. `announce` is given the ready line once everything answers."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    signals = (signal.SIGTERM, signal.SIGINT)
    async with Emulator(options) as emulator:
        with contextlib.ExitStack() as handlers:
            for number in signals:
                loop.add_signal_handler(number, stop.set)
                handlers.callback(loop.remove_signal_handler, number)
            announce(emulator.ready_line())
            await stop.wait()


def _make_silent_logger() -> logging.Logger:
    # aiohttp quotes the bytes that it could not read as HTTP. A logger outside the tree takes them nowhere.
    logger = logging.Logger("audiencekit.emulator.http")
    logger.addHandler(logging.NullHandler())
    return logger
