"""The limiter of one host: a queue in a file that all processes share, timed from the start of the machine."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeVar

import orjson

from audiencekit.delivery.retry import Clock
from audiencekit.errors import FileHeld, InputOutputFailed, UsageError
from audiencekit.limits import (
    FARTHEST_PLACE_SECONDS,
    LIMITER_BUSY_SECONDS,
    LIMITER_FILE_DAYS,
    PACED_REQUESTS_PER_MINUTE,
    RATE_FLOOR_SHARE,
    RATE_RECOVERY_PER_MINUTE,
)
from audiencekit.process.boot import boot_id, boot_seconds
from audiencekit.state.directory import make_directory
from audiencekit.state.files import NEW_FILE, hint_for
from audiencekit.state.locks import HELD_HINT, lock_failure

# --- The limiter that all processes of a host share, across restarts and clock steps: a queue in a small file ---


class HostLimiter:
    """A context manager that spaces requests evenly among all processes with the same `quota` under `state_dir`.

    In 60 s at most 1,471 requests leave at the default pace, also when processes are stopped, killed or started. The
    file is written when a request leaves, so a killed process loses nothing. All processes should have the same pace.
    Raises InputOutputFailed when the file fails: then no request may leave.
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
        """Whether a process of this host got a 429 although the pace was kept; once True, it stays True."""
        return self._is_quota_shared

    async def acquire(self) -> None:
        """Return when one request may leave. A cancelled call uses up nothing."""
        async with self._turn:
            due: float | None = None
            while (due := await self._ask(is_due=due is not None)) is not None:
                while (wait_seconds := due - self._now()) > 0:
                    await self._clock.sleep(wait_seconds)

    async def pause(self, seconds: float) -> None:
        """Note a 429: no process of the host sends for `seconds`, and the pace is halved, once in each pause."""

        def paused(line: WaitingLine, now: float) -> tuple[WaitingLine, None]:
            return pause(line, now=now, seconds=seconds), None

        await self._change(paused)

    async def _ask(self, *, is_due: bool) -> float | None:
        def asked(line: WaitingLine, now: float) -> tuple[WaitingLine, float | None]:
            return advance(line, self._owner, now=now, interval=self._interval, is_due=is_due)

        return await self._change(asked)

    async def _change(self, changed: Callable[[WaitingLine, float], tuple[WaitingLine, T]]) -> T:
        """Return the result of `changed`, given the queue and the time, while no other process can use the file."""
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


# --- The lines of a host in one SQLite file: all its processes read and write it, in one transaction each time ---
#
# The file carries the boot id in its name, so it never outlives its clock. Nothing in it is worth a sync to the disk:
# what survives a kill is in the memory of the system, and after a power failure there is a new file.

T = TypeVar("T")

FOLDER: Final = "limiter"
SUFFIX: Final = ".sqlite"
OPENING_SECONDS: Final = 5.0  # processes that start together make the table one after the other
# A transaction takes 0.1 ms and runs on the event loop; a process that finds it held longer tries again later.
BUSY_SECONDS: Final = 0.005
SECONDS_PER_DAY: Final = 86_400.0


class BusyError(Exception):
    """Another process holds the file just now. `failure` is the error to raise when it holds the file for too long."""

    def __init__(self, failure: InputOutputFailed) -> None:
        super().__init__()
        self.failure = failure


class WaitingLineFile:
    """The file `limiter/<boot id>.sqlite` in the state directory, readable by its owner only.

    Raises InputOutputFailed when it cannot be made, read or written (FileHeld when another process holds it while it is
    opened). Without the file no request may leave.
    """

    def __init__(self, state_dir: Path, boot_id: str) -> None:
        self._path = state_dir / FOLDER / f"{boot_id}{SUFFIX}"
        make_directory(state_dir, FOLDER)
        with self._explained("cannot be opened"):
            _make_private(self._path)
            _remove_old(self._path)
            self._connection = sqlite3.connect(self._path, timeout=OPENING_SECONDS, isolation_level=None)
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def _prepare(self) -> None:
        try:
            with self._explained("cannot be opened"):
                self._connection.execute("PRAGMA journal_mode=DELETE")
                self._connection.execute("PRAGMA synchronous=OFF")
                self._connection.execute(
                    "CREATE TABLE IF NOT EXISTS lines (quota TEXT PRIMARY KEY, line BLOB NOT NULL)"
                )
                self._connection.execute(f"PRAGMA busy_timeout={round(BUSY_SECONDS * 1000)}")
        except BusyError as busy:
            failure = busy.failure
        else:
            return
        raise failure

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def change(self, quota: str, changed: Callable[[WaitingLine | None], tuple[WaitingLine, T]]) -> T:
        """Replace the queue of `quota` by the one that `changed` makes of it; return its result.

        `changed` is given None when there is no queue yet. No other process reads or writes it meanwhile. Raises
        BusyError when another process holds the file.
        """
        with self._explained("cannot be written"), self._transaction():
            row = self._connection.execute("SELECT line FROM lines WHERE quota = ?", (quota,)).fetchone()
            line, result = changed(None if row is None else _read(row[0]))
            self._connection.execute("INSERT OR REPLACE INTO lines VALUES (?, ?)", (quota, orjson.dumps(line)))
        return result

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    @contextlib.contextmanager
    def _explained(self, what: str) -> Iterator[None]:
        hint = "check the disk and its permissions; delete a damaged file only while no run is at work"
        failure: Exception
        try:
            yield
            return
        except sqlite3.Error as error:
            found = lock_failure(error, self._path, "the limiter's file")
            if isinstance(found, FileHeld):
                failure = BusyError(found)
            else:
                message = f"the limiter's file {what}: {str(self._path)!r}: {error}"
                failure = found or InputOutputFailed(message, hint=hint_for(None, hint))
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it is damaged, or a link"
            hint = hint_for(getattr(error, "errno", 0), hint)
            failure = InputOutputFailed(f"the limiter's file {what}: {str(self._path)!r}: {reason}", hint=hint)
        raise failure


def _read(text: Any) -> WaitingLine:
    """Read a queue as it was written. Raises ValueError for anything else."""
    try:
        document = orjson.loads(text)
        waiting = tuple(Waiter(str(waiter["owner"]), float(waiter["due"])) for waiter in document.pop("waiting"))
        return WaitingLine(**{name: float(value) for name, value in document.items()}, waiting=waiting)
    except (LookupError, TypeError, AttributeError):
        raise ValueError("not a line") from None


def _make_private(path: Path) -> None:
    """Make the file for its owner only. Raises OSError, and ValueError for a link."""
    if path.is_symlink():
        raise ValueError("a link in place of the limiter's file")
    # A file that exists is not opened here: to close it would let go of the locks that SQLite holds on it.
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, NEW_FILE, 0o600))


def _remove_old(path: Path) -> None:
    """Remove the files of earlier starts of the machine that are older than LIMITER_FILE_DAYS."""
    oldest = time.time() - LIMITER_FILE_DAYS * SECONDS_PER_DAY
    for other in path.parent.glob(f"*{SUFFIX}"):
        with contextlib.suppress(FileNotFoundError):
            if other != path and other.stat().st_mtime < oldest:
                other.unlink()


RETRY_SECONDS: Final = 0.01  # between two tries while another process holds the file


# --- The line of callers that share a quota: one value and two pure functions. Times are seconds of one clock ---
#
# Places in the line only say who goes first and when to look again. What keeps the rate is `free_at`, which moves when
# a request really leaves: a process that is late, stopped or killed in the line takes nothing from the quota.

SECONDS_PER_MINUTE: Final = 60.0
# Lateness is made up for, up to half an interval: that adds no request to a window of a whole number of intervals.
CATCH_UP_INTERVALS: Final = 0.5
# The next in line looks so long before its own turn: when its predecessor is dead by then, the turn is not lost.
HEAD_START_INTERVALS: Final = 0.75
# A caller that does not come back for so long has left the line, or is dead.
ABSENCE_INTERVALS: Final = 1.0


def interval_seconds(requests_per_minute: float) -> float:
    """Return the seconds from one request to the next. Raises UsageError unless the pace is a number above 0."""
    if not (requests_per_minute > 0 and math.isfinite(requests_per_minute)):
        raise UsageError("requests per minute must be a number above 0")
    return SECONDS_PER_MINUTE / requests_per_minute


@dataclass(frozen=True, slots=True)
class Waiter:
    """One process in the queue, and the moment at which it asks again."""

    owner: str
    due: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingLine:
    """The queue. The next request may leave at `free_at`; `share` of the full rate was allowed at `share_at`."""

    free_at: float
    paused_until: float = 0.0
    share: float = 1.0
    share_at: float = 0.0
    waiting: tuple[Waiter, ...] = ()


def believable(line: WaitingLine, now: float) -> bool:
    """Whether the times of `line` fit this clock. After a restart of the clock they are far in the future."""
    return max(line.free_at, line.paused_until) <= now + FARTHEST_PLACE_SECONDS


def share_of(line: WaitingLine, now: float) -> float:
    """The share of the full rate at `now`: it recovers by RATE_RECOVERY_PER_MINUTE."""
    recovered = RATE_RECOVERY_PER_MINUTE * max(0.0, now - line.share_at) / SECONDS_PER_MINUTE
    return min(1.0, line.share + recovered)


def advance(
    line: WaitingLine, owner: str, *, now: float, interval: float, is_due: bool
) -> tuple[WaitingLine, float | None]:
    """Return the queue after `owner` asked, and when `owner` must ask again; None: its request leaves now.

    `interval` is that of the full rate. `is_due` says that `owner` asks at the time it was given, so that it need not
    queue behind others. In a closed window of n intervals at most n + 1 requests leave.
    """
    interval /= share_of(line, now)
    others = tuple(waiter for waiter in line.waiting if waiter.due >= now - ABSENCE_INTERVALS * interval)
    if now < line.paused_until:
        return replace(line, waiting=_without(others, owner)), line.paused_until
    ahead = next((place for place, waiter in enumerate(others) if waiter.owner == owner), len(others))
    if now >= line.free_at and (is_due or ahead == 0):
        free_at = max(line.free_at, line.paused_until, now - CATCH_UP_INTERVALS * interval) + interval
        return replace(line, free_at=free_at, waiting=_without(others, owner)), None
    due = max(line.free_at, now) + max(0.0, ahead - HEAD_START_INTERVALS) * interval
    waiting = (*others[:ahead], Waiter(owner, due), *others[ahead + 1 :])
    return replace(line, waiting=waiting), due


def pause(line: WaitingLine, *, now: float, seconds: float) -> WaitingLine:
    """Return the queue after a 429: closed for at least `seconds`.

    The first 429 of a pause halves the rate, down to a floor.
    """
    share = share_of(line, now)
    if now >= line.paused_until:
        share = max(RATE_FLOOR_SHARE, share / 2)
    paused_until = max(line.paused_until, now + seconds)
    return replace(line, paused_until=paused_until, share=share, share_at=paused_until)


def _without(waiting: tuple[Waiter, ...], owner: str) -> tuple[Waiter, ...]:
    return tuple(waiter for waiter in waiting if waiter.owner != owner)
