"""Activity: subscribed to, and followed (specification part 0, section 6)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from audiencekit.api.activity.event import Event
from audiencekit.api.activity.following import Following, Pulse
from audiencekit.api.answerstream import AnswerStream
from audiencekit.api.calls import Calls, find_endpoint
from audiencekit.api.refusals import read_refusal
from audiencekit.api.transport import StreamTransport
from audiencekit.api.wire import Answer, require_entity
from audiencekit.errors import Bug, Unauthorized, UsageError
from audiencekit.limits import MAX_BACKFILL_MINUTES, STREAM_SILENCE_SECONDS


class ActivityCalls(Calls):
    """Specification part 0, sections 6 and 8."""

    async def subscribe_to_activity(
        self,
        *,
        event_type: str | None = None,
        user_id: int | str | None = None,
        keyword: str | None = None,
        direction: str | None = None,
    ) -> Answer:
        """A subscription: without `event_type` to every type, without `user_id` to the user of the application.

        `keyword` narrows it to events that have it, `direction` (sent, received, both) those of messages and chats.
        """
        given = {"event_type": event_type, "user_id": user_id, "keyword": keyword, "direction": direction}
        return require_entity(await self.call("create_activity_subscription", given))

    async def follow_activity(
        self,
        *,
        backfill_minutes: int | None = None,
        notice: Callable[[str], None] = lambda words: None,
        pulse: Pulse | None = None,
    ) -> AsyncGenerator[Event]:
        """Every event that is subscribed to, as it happens, without end: leave the loop, or cancel.

        `backfill_minutes`, 1 to 5, begins with those of so long before. A connection that is lost is opened again and
        what was missed asked for; `notice` is told. Raises UsageError, an ExchangeError when the service stays away for
        a quarter of an hour or the first attempt reaches no host, and Unauthorized.
        """
        if backfill_minutes is not None and not 1 <= backfill_minutes <= MAX_BACKFILL_MINUTES:
            raise UsageError(f"backfill_minutes is a whole number from 1 to {MAX_BACKFILL_MINUTES}")
        following = Following(self._lines, backfill_minutes=backfill_minutes, notice=notice, pulse=pulse)
        async with aclosing(following.events()) as events:
            async for event in events:
                yield event

    async def _lines(self, backfill_minutes: int | None) -> AsyncGenerator[bytes]:
        """The lines of one connection. A bearer token that was revoked elsewhere is fetched anew, once."""
        parameters = {"backfill_minutes": backfill_minutes}
        try:
            stream = await self._open(parameters)
        except Unauthorized as error:
            if error.status != 401:
                raise
            stream = await self._open(parameters)
        try:
            async with aclosing(stream.lines()) as lines:
                async for line in lines:
                    yield line
        finally:
            stream.close()

    async def _open(self, parameters: dict[str, Any]) -> AnswerStream:
        request = await self._request(find_endpoint("open_activity_stream"), parameters)
        if not isinstance(self._transport, StreamTransport):
            raise Bug("the transport of this client opens no streams")
        stream = await self._transport.open_stream(request, silence_seconds=STREAM_SILENCE_SECONDS)
        if 200 <= stream.head.status <= 299:
            return stream
        try:
            refusal = read_refusal(replace(stream.head, body=await stream.whole()))
        finally:
            stream.close()
        if isinstance(refusal, Unauthorized):
            self._bearer = None
        raise refusal
