"""Activity from the client to the emulator and back, over real connections."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

import aiohttp
import pytest

from audiencekit.api.activity import Pulse
from audiencekit.api.opening import open_client
from audiencekit.emulator import Emulator
from audiencekit.emulator.endpoints.activity import Event
from audiencekit.errors import MalformedAnswer, UsageError
from audiencekit.settings import load_settings


async def _no_sleep(seconds: float) -> None:
    """No one waits here."""


PULSE = Pulse(sleep=_no_sleep)


async def _happen(emulator: Emulator, text: str) -> None:
    order = {"event_type": "profile.update.bio", "payload": {"bio": text}}
    async with aiohttp.ClientSession() as session, session.post(f"{emulator.base_url}/__activity", json=order) as done:
        assert done.status == 200


async def test_a_bearer_token_that_was_revoked_is_fetched_anew() -> None:
    """In the middle of a stream, which goes on; nothing is lost and nothing told twice."""
    async with Emulator() as emulator, open_client(load_settings(emulator.env)) as client:
        await client.subscribe_to_activity(event_type="profile.update.bio")
        await _happen(emulator, "one")
        told: list[Any] = []
        async with aclosing(client.follow_activity(backfill_minutes=1, pulse=PULSE)) as events:
            async for event in events:
                told.append(event.payload["bio"])
                if len(told) == 1:
                    emulator.store.tokens.bearer = None
                    emulator.store.activity.end_streams()
                    await _happen(emulator, "two")
                if len(told) == 2:
                    break
        assert told == ["one", "two"]
        assert emulator.store.tokens.bearer is not None


async def test_a_stream_that_is_left_is_closed() -> None:
    """The service hears that no one reads it any more."""
    async with Emulator() as emulator, open_client(load_settings(emulator.env)) as client:
        await client.subscribe_to_activity()
        await _happen(emulator, "one")
        async with aclosing(client.follow_activity(backfill_minutes=5)) as events:
            assert (await anext(events)).user_id == emulator.store.origin.user_id
        with pytest.raises(UsageError, match="from 1 to 5"):
            await anext(client.follow_activity(backfill_minutes=6))


async def test_a_line_without_end_is_left() -> None:
    """It is not kept in memory."""
    async with Emulator() as emulator, open_client(load_settings(emulator.env)) as client:
        await client.subscribe_to_activity()
        user_id, now = emulator.store.origin.user_id, emulator.clock.now()
        emulator.store.activity.publish(Event("spaces.start", user_id, {"topic": "x" * 1_500_000}, now))
        with pytest.raises(MalformedAnswer, match="more than 1000000 bytes"):
            async for _ in client._lines(5):
                pass
