"""Deliveries on their way: signed, one after the other for each webhook, again with growing waits.

The specification does not show security and retries. Here a receiver proves first that it has the secret of the
application, as with the public service; a delivery that is not answered with 2xx in ten seconds is made again after
each of some waits, and is left then: a replay brings it back.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
from collections.abc import Sequence
from typing import Final

import aiohttp

from audiencekit.emulator.webhooks.signing import SIGNATURE_HEADER, is_proof, sign
from audiencekit.emulator.webhooks.webhooks import Delivery, Webhooks

_PATIENCE_SECONDS: Final = 10.0
_MOST_BYTES: Final = 10_000  # of an answer to a challenge
WAITS_SECONDS: Final = (1.0, 5.0, 25.0)


class Courier:
    """Delivers the events of some webhooks while it is open."""

    def __init__(self, webhooks: Webhooks, secret: str, waits_seconds: Sequence[float] = WAITS_SECONDS) -> None:
        self._webhooks, self._secret, self._waits_seconds = webhooks, secret, waits_seconds
        self._queues: dict[str, asyncio.Queue[Delivery]] = {}
        self._rounds: list[asyncio.Task[None]] = []
        self._proven: set[tuple[str, str]] = set()
        self._session: aiohttp.ClientSession | None = None

    def open(self) -> None:
        """Take deliveries from now on."""
        timeout = aiohttp.ClientTimeout(total=_PATIENCE_SECONDS)
        self._session = aiohttp.ClientSession(timeout=timeout, trust_env=False, cookie_jar=aiohttp.DummyCookieJar())
        self._webhooks.send = self._take

    async def close(self) -> None:
        """Leave what was not delivered."""
        self._webhooks.send = lambda delivery: None
        for each in self._rounds:
            each.cancel()
        await asyncio.gather(*self._rounds, return_exceptions=True)
        if self._session is not None:
            await self._session.close()

    def _take(self, delivery: Delivery) -> None:
        if delivery.webhook_id not in self._queues:
            queue = self._queues[delivery.webhook_id] = asyncio.Queue()
            self._rounds.append(asyncio.create_task(self._go_round(queue)))
        self._queues[delivery.webhook_id].put_nowait(delivery)

    async def _go_round(self, queue: asyncio.Queue[Delivery]) -> None:
        while True:
            await self._deliver(await queue.get())

    async def _deliver(self, delivery: Delivery) -> None:
        address = self._webhooks.receivers.get(delivery.webhook_id)
        if address is None:
            return
        self._webhooks.made.append(delivery)
        for wait_seconds in (*self._waits_seconds, None):
            status = await self._attempt(address, delivery)
            delivery.attempts.append(status)
            if (status is not None and 200 <= status <= 299) or wait_seconds is None:
                delivery.is_over = True
                return
            await asyncio.sleep(wait_seconds)

    async def _attempt(self, address: str, delivery: Delivery) -> int | None:
        """Return the status of the answer; None without one, and for a receiver that does not prove itself."""
        assert self._session is not None  # noqa: S101
        headers = {"Content-Type": "application/json", SIGNATURE_HEADER: sign(self._secret, delivery.body)}
        with contextlib.suppress(aiohttp.ClientError, asyncio.TimeoutError, OSError):
            if (delivery.webhook_id, address) not in self._proven and not await self._challenge(address):
                return None
            self._proven.add((delivery.webhook_id, address))
            async with self._session.post(
                address, data=delivery.body, headers=headers, allow_redirects=False
            ) as answer:
                return answer.status
        return None

    async def _challenge(self, address: str) -> bool:
        assert self._session is not None  # noqa: S101
        crc_token = secrets.token_urlsafe(24)
        query = {"crc_token": crc_token}
        async with self._session.get(address, params=query, allow_redirects=False) as answer:
            content = await answer.content.read(_MOST_BYTES)
            try:
                return answer.status == 200 and is_proof(self._secret, crc_token, json.loads(content))
            except ValueError:
                return False
