"""The limiter that all processes of a host share, across restarts and clock steps: a line in a small file."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeVar

from audiencekit.delivery.clock import Clock
from audiencekit.delivery.limiter.boottime import boot_id, boot_seconds
from audiencekit.delivery.limiter.waitingline import WaitingLine, advance, believable, interval_seconds, pause, share_of
from audiencekit.delivery.limiter.waitinglinefile import BusyError, WaitingLineFile
from audiencekit.errors import FileHeld
from audiencekit.limits import LIMITER_BUSY_SECONDS, PACED_REQUESTS_PER_MINUTE
from audiencekit.machine.filelocks import HELD_HINT

T = TypeVar("T")

RETRY_SECONDS: Final = 0.01  # between two tries while another process holds the file


class HostLimiter:
    """Spaces requests evenly among all processes that use `quota` under `state_dir`: a context manager.

    In 60 s at most 1,471 requests leave at the default pace, also when processes are stopped, killed or started. What
    keeps the rate is written at the moment of leaving, so a killed process takes nothing with it. All
    should have the same pace. Raises InputOutputFailed when the file fails: then no request may leave.
    """

    def __init__(
        self,
        requests_per_minute: float = PACED_REQUESTS_PER_MINUTE,
        *,
        quota: str,
        state_dir: Path,
        clock: Clock,
        now: Callable[[], float] = boot_seconds,
        boot: str | None = None,
    ) -> None:
        self._interval = interval_seconds(requests_per_minute)
        self._quota, self._clock, self._now = quota, clock, now
        self._file = WaitingLineFile(state_dir, boot_id() if boot is None else boot)
        self._owner = secrets.token_hex(8)
        self._turn = asyncio.Lock()
        self._is_quota_shared = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    @property
    def is_quota_shared(self) -> bool:
        """Whether a 429 came to a process of this host although the pace was kept; once True, it stays."""
        return self._is_quota_shared

    async def acquire(self) -> None:
        """Returns when one request may leave. A cancelled call uses up nothing."""
        async with self._turn:
            due: float | None = None
            while (due := await self._ask(is_due=due is not None)) is not None:
                while (wait_seconds := due - self._now()) > 0:
                    await self._clock.sleep(wait_seconds)

    async def pause(self, seconds: float) -> None:
        """Notes a 429: no process of the host leaves for `seconds`, and the pace halves, once a pause."""

        def paused(line: WaitingLine, now: float) -> tuple[WaitingLine, None]:
            return pause(line, now=now, seconds=seconds), None

        await self._change(paused)

    async def _ask(self, *, is_due: bool) -> float | None:
        def asked(line: WaitingLine, now: float) -> tuple[WaitingLine, float | None]:
            return advance(line, self._owner, now=now, interval=self._interval, is_due=is_due)

        return await self._change(asked)

    async def _change(self, changed: Callable[[WaitingLine, float], tuple[WaitingLine, T]]) -> T:
        """Return the result of `changed` for the line and the moment at which the line is ours alone."""
        patience = self._now() + LIMITER_BUSY_SECONDS
        while True:
            try:
                return self._file.change(self._quota, lambda line: self._changed(line, changed))
            except BusyError:
                if self._now() >= patience:
                    raise _held_too_long() from None
            await self._clock.sleep(RETRY_SECONDS)

    def _changed(
        self, line: WaitingLine | None, changed: Callable[[WaitingLine, float], tuple[WaitingLine, T]]
    ) -> tuple[WaitingLine, T]:
        now = self._now()
        if line is None:
            line = WaitingLine(free_at=now)
        elif not believable(line, now):
            line = WaitingLine(free_at=now + self._interval)  # who left last, and when, is not known
        line, result = changed(line, now)
        self._is_quota_shared |= share_of(line, now) < 1.0
        return line, result


def _held_too_long() -> FileHeld:
    return FileHeld(f"another process has held the limiter's file for {LIMITER_BUSY_SECONDS:.0f} s", hint=HELD_HINT)
