"""The activity stream: its events, its calls, and how it continues after every loss of its connection."""

from __future__ import annotations

import asyncio
import hashlib
import math
import random
import time
from collections import Counter, deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

from audiencekit.api.answers import Answer, Document, read_document, read_refusal, require_entity
from audiencekit.api.calls import Calls, find_endpoint
from audiencekit.api.transport import AnswerStream, StreamTransport
from audiencekit.errors import (
    Bug,
    CertificateRefused,
    ExchangeError,
    MalformedAnswer,
    RateLimited,
    TemporarilyUnavailable,
    TransportFailed,
    Unauthorized,
    UsageError,
)
from audiencekit.limits import (
    JITTER_SECONDS,
    MAX_BACKFILL_MINUTES,
    MAX_RATE_LIMIT_WAIT_SECONDS,
    OUTAGE_PATIENCE_SECONDS,
    RATE_LIMIT_FALLBACK_SECONDS,
    RECONNECT_CAP_SECONDS,
    STREAM_SILENCE_SECONDS,
)

# --- Subscribing to activity, and following it (specification part 0, section 6) ---


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
        """Subscribe: without `event_type` to every type, without `user_id` to the user of the application.

        `keyword` limits it to events that contain it, `direction` (sent, received, both) is for messages and chats.
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
        """Yield every subscribed event as it happens, without end: leave the loop, or cancel.

        `backfill_minutes`, 1 to 5, begins with the events of the last minutes. A connection that is lost is opened
        again and the missed events are requested; `notice` is called. Raises UsageError, an ExchangeError when the
        service stays away for a quarter of an hour or the first attempt reaches no host, and Unauthorized.
        """
        if backfill_minutes is not None and not 1 <= backfill_minutes <= MAX_BACKFILL_MINUTES:
            raise UsageError(f"backfill_minutes is a whole number from 1 to {MAX_BACKFILL_MINUTES}")
        following = Following(self._lines, backfill_minutes=backfill_minutes, notice=notice, pulse=pulse)
        async with aclosing(following.events()) as events:
            async for event in events:
                yield event

    async def _lines(self, backfill_minutes: int | None) -> AsyncGenerator[bytes]:
        """Yield the lines of one connection. A bearer token that was revoked elsewhere is fetched anew, once."""
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


# --- The activity stream after a lost connection: opened again after growing waits, each event once ---

_MINUTE: Final = 60.0
_KEPT_SECONDS: Final = _MINUTE * (2 * MAX_BACKFILL_MINUTES + 1)  # of lines that a backfill may repeat
_PASSING: Final = (TransportFailed, TemporarilyUnavailable, RateLimited, MalformedAnswer)
_END: Final = "the service ended the stream"


class Opener(Protocol):
    """A function that opens the stream once: its lines until it ends or is lost."""

    def __call__(self, backfill_minutes: int | None) -> AsyncGenerator[bytes]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulse:
    """The clock in epoch seconds, the sleep and the randomness of waits."""

    clock: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random


class Following:
    """The events of a stream, one after the other. `notice` is called with each loss and what follows from it.

    A stream that was lost is opened again after 1, 2, 4 … seconds, with the missed minutes as backfill. Events that
    come twice because of that are returned once; if more was missed than the service stores, `notice` is called. Raises
    the last error when the service was silent for OUTAGE_PATIENCE_SECONDS; at once any error that a retry does not
    help, or a first attempt that reached no host: the address may be wrong.
    """

    def __init__(
        self,
        open_stream: Opener,
        *,
        backfill_minutes: int | None = None,
        notice: Callable[[str], None] = lambda words: None,
        pulse: Pulse | None = None,
    ) -> None:
        self._open, self._backfill, self._notice = open_stream, backfill_minutes, notice
        self._pulse = pulse or Pulse()
        self._seen = _SeenLines()
        self._last_line_at = self._pulse.clock()
        self._was_connected = False
        self._losses = 0
        self._has_tried = False

    async def events(self) -> AsyncGenerator[Event]:
        """Each event, without end."""
        while True:
            loss: ExchangeError | None = None
            minutes = self._minutes()
            self._seen.reopen(self._pulse.clock(), minutes or 0)
            try:
                async with aclosing(self._open(minutes)) as lines:
                    async for line in lines:
                        self._note_activity()
                        if line.strip() and self._seen.is_new(line, self._last_line_at):
                            yield read_event(line, status=200)
            except CertificateRefused:
                raise
            except _PASSING as error:
                loss = error
            await self._wait(loss)

    def _note_activity(self) -> None:
        self._last_line_at, self._was_connected, self._losses = self._pulse.clock(), True, 0

    def _minutes(self) -> int | None:
        """Return the backfill to request: that of the caller at first, then as much as was missed."""
        if not self._was_connected:
            return self._backfill
        missed = (self._pulse.clock() - self._last_line_at) / _MINUTE
        if missed > MAX_BACKFILL_MINUTES:
            self._notice(f"{missed:.0f} minutes were missed, and the service repeats the last {MAX_BACKFILL_MINUTES}")
        return min(max(math.ceil(missed), 1), MAX_BACKFILL_MINUTES)

    async def _wait(self, loss: ExchangeError | None) -> None:
        if loss is not None and self._pulse.clock() - self._last_line_at > OUTAGE_PATIENCE_SECONDS:
            raise loss
        if isinstance(loss, TransportFailed) and not loss.sent and not self._has_tried:
            raise loss
        self._has_tried = True
        seconds = min(2.0**self._losses, RECONNECT_CAP_SECONDS) + JITTER_SECONDS * self._pulse.chance()
        if isinstance(loss, RateLimited):
            seconds = max(seconds, self._until_reset(loss))
        elif isinstance(loss, TemporarilyUnavailable):
            seconds = max(seconds, min(loss.retry_after or 0.0, RECONNECT_CAP_SECONDS))
        self._losses = min(self._losses + 1, 10)
        self._notice(f"{loss or _END}; it is opened again in {seconds:.0f} s")
        await self._pulse.sleep(seconds)

    def _until_reset(self, loss: RateLimited) -> float:
        if loss.reset_at is None:
            return RATE_LIMIT_FALLBACK_SECONDS
        now = self._pulse.clock() if loss.answered_at is None else loss.answered_at
        return min(max(loss.reset_at - now, 0.0), MAX_RATE_LIMIT_WAIT_SECONDS)


class _SeenLines:
    """The lines of the minutes that a backfill can repeat. Each event is returned as often as it happened."""

    def __init__(self) -> None:
        self._lines: deque[tuple[float, bytes]] = deque()
        self._repeated: Counter[bytes] = Counter()

    def reopen(self, now: float, minutes: int) -> None:
        """Expect the lines of so many minutes again, and of one minute more: clocks differ."""
        since = now - _MINUTE * (minutes + 1) if minutes else now
        self._repeated = Counter(digest for moment, digest in self._lines if moment >= since)

    def is_new(self, line: bytes, now: float) -> bool:
        """Whether a line is not a repetition."""
        digest = hashlib.blake2b(line, digest_size=16).digest()
        if self._repeated[digest]:
            self._repeated[digest] -= 1
            return False
        while self._lines and self._lines[0][0] < now - _KEPT_SECONDS:
            self._lines.popleft()
        self._lines.append((now, digest))
        return True


# --- One line of the activity stream -> an event. The specification does not show its form (part 0, section 6) ---


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a person: `document` is all that the service says about it. It is personal data."""

    document: Document = field(repr=False)

    @property
    def event_type(self) -> str | None:
        """The type, such as `profile.update.bio`; None if the service does not give it."""
        return self._text(self._data.get("event_type"))

    @property
    def user_id(self) -> str | None:
        """The id of the person; None if the service does not give it."""
        given = self._data.get("filter")
        return self._text(given.get("user_id")) if isinstance(given, dict) else None

    @property
    def created_at(self) -> str | None:
        """The time, as the service writes it; None if the service does not give it."""
        return self._text(self._data.get("created_at"))

    @property
    def payload(self) -> Any:
        """The content of the event, as the service gave it."""
        return self._data.get("payload")

    @property
    def _data(self) -> Document:
        data = self.document.get("data")
        return data if isinstance(data, dict) else self.document

    @staticmethod
    def _text(given: object) -> str | None:
        return given if isinstance(given, str) else None


def read_event(line: bytes, *, status: int) -> Event:
    """Return the event of a line. Raises MalformedAnswer for a line that is not a JSON object."""
    document = read_document(line)
    if document is None:
        raise MalformedAnswer("a line of the stream is not one JSON object", status=status)
    return Event(document)
