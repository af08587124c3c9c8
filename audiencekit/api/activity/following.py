"""The activity stream over every loss of its connection: opened again with growing waits, nothing told twice."""

from __future__ import annotations

import asyncio
import hashlib
import math
import random
import time
from collections import Counter, deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final, Protocol

from audiencekit.api.activity.event import Event, read_event
from audiencekit.errors import (
    CertificateRefused,
    ExchangeError,
    MalformedAnswer,
    RateLimited,
    TemporarilyUnavailable,
    TransportFailed,
)
from audiencekit.limits import (
    JITTER_SECONDS,
    MAX_BACKFILL_MINUTES,
    MAX_RATE_LIMIT_WAIT_SECONDS,
    OUTAGE_PATIENCE_SECONDS,
    RATE_LIMIT_FALLBACK_SECONDS,
    RECONNECT_CAP_SECONDS,
)

_MINUTE: Final = 60.0
_KEPT_SECONDS: Final = _MINUTE * (2 * MAX_BACKFILL_MINUTES + 1)  # of lines that a backfill may repeat
_PASSING: Final = (TransportFailed, TemporarilyUnavailable, RateLimited, MalformedAnswer)
_END: Final = "the service ended the stream"


class Opener(Protocol):
    """Opens the stream once: its lines until it ends or is lost."""

    def __call__(self, backfill_minutes: int | None) -> AsyncGenerator[bytes]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulse:
    """The clock in epoch seconds, the sleep and the chance that waits go by."""

    clock: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random


class Following:
    """The events of a stream, one after the other. `notice` is told of each loss and what follows from it.

    A stream that was lost is opened again after 1, 2, 4 … seconds, with the minutes that were missed as backfill. What
    comes twice by that is told once; where more was missed than the service keeps, `notice` hears of it. Raises the
    last error when the service was silent for OUTAGE_PATIENCE_SECONDS, and at once any that does not pass, or a first
    attempt that reached no host: the address may be wrong.
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
        self._told = _Told()
        self._heard_at = self._pulse.clock()
        self._has_heard = False
        self._losses = 0
        self._has_tried = False

    async def events(self) -> AsyncGenerator[Event]:
        """Each event, without end."""
        while True:
            loss: ExchangeError | None = None
            minutes = self._minutes()
            self._told.reopen(self._pulse.clock(), minutes or 0)
            try:
                async with aclosing(self._open(minutes)) as lines:
                    async for line in lines:
                        self._hear()
                        if line.strip() and self._told.is_new(line, self._heard_at):
                            yield read_event(line, status=200)
            except CertificateRefused:
                raise
            except _PASSING as error:
                loss = error
            await self._wait(loss)

    def _hear(self) -> None:
        self._heard_at, self._has_heard, self._losses = self._pulse.clock(), True, 0

    def _minutes(self) -> int | None:
        """The backfill to ask for: that of the caller at first, then as much as was missed."""
        if not self._has_heard:
            return self._backfill
        missed = (self._pulse.clock() - self._heard_at) / _MINUTE
        if missed > MAX_BACKFILL_MINUTES:
            self._notice(f"{missed:.0f} minutes were missed, and the service repeats the last {MAX_BACKFILL_MINUTES}")
        return min(max(math.ceil(missed), 1), MAX_BACKFILL_MINUTES)

    async def _wait(self, loss: ExchangeError | None) -> None:
        if loss is not None and self._pulse.clock() - self._heard_at > OUTAGE_PATIENCE_SECONDS:
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


class _Told:
    """The lines of the minutes that a backfill can repeat: each is told as often as it happened."""

    def __init__(self) -> None:
        self._lines: deque[tuple[float, bytes]] = deque()
        self._repeated: Counter[bytes] = Counter()

    def reopen(self, now: float, minutes: int) -> None:
        """Expect the lines of so many minutes once more, and those of one besides: clocks differ."""
        since = now - _MINUTE * (minutes + 1) if minutes else now
        self._repeated = Counter(digest for moment, digest in self._lines if moment >= since)

    def is_new(self, line: bytes, now: float) -> bool:
        """Whether a line is no repetition."""
        digest = hashlib.blake2b(line, digest_size=16).digest()
        if self._repeated[digest]:
            self._repeated[digest] -= 1
            return False
        while self._lines and self._lines[0][0] < now - _KEPT_SECONDS:
            self._lines.popleft()
        self._lines.append((now, digest))
        return True
