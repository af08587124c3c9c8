"""The lines of a host in one small SQLite file, read and written by all its processes, each time in one transaction.

The file carries the boot id in its name, so it never outlives its clock. Nothing in it is worth a sync to the disk:
what survives a kill is in the memory of the system, and after a power failure there is a new file.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

import orjson

from audiencekit.delivery.limiter.waitingline import Waiter, WaitingLine
from audiencekit.errors import FileHeld, InputOutputFailed
from audiencekit.limits import LIMITER_FILE_DAYS
from audiencekit.machine.filelocks import lock_failure
from audiencekit.machine.openfiles import NEW_FILE
from audiencekit.machine.privatefiles import hint_for
from audiencekit.machine.statedirectory import make_directory

T = TypeVar("T")

FOLDER: Final = "limiter"
SUFFIX: Final = ".sqlite"
OPENING_SECONDS: Final = 5.0  # processes that start together make the table one after the other
# A transaction takes 0.1 ms and runs on the event loop; a process that finds it held longer tries again later.
BUSY_SECONDS: Final = 0.005
SECONDS_PER_DAY: Final = 86_400.0


class BusyError(Exception):
    """Another process holds the file just now. `failure` is what it comes to when it does so for too long."""

    def __init__(self, failure: InputOutputFailed) -> None:
        super().__init__()
        self.failure = failure


class WaitingLineFile:
    """Opens `limiter/<boot id>.sqlite` under the state directory, for its owner only.

    Raises InputOutputFailed when it cannot be made, read or written, FileHeld among them when another process holds it
    while it is opened: without it no request may leave.
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
        """Closes the file."""
        self._connection.close()

    def change(self, quota: str, changed: Callable[[WaitingLine | None], tuple[WaitingLine, T]]) -> T:
        """Write the new line of `quota` that `changed` makes of the old one (None: none yet); return its result.

        No other process reads or writes meanwhile. Raises BusyError when one does.
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
                told = f"the limiter's file {what}: {str(self._path)!r}: {error}"
                failure = found or InputOutputFailed(told, hint=hint_for(None, hint))
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it is damaged, or a link"
            hint = hint_for(getattr(error, "errno", 0), hint)
            failure = InputOutputFailed(f"the limiter's file {what}: {str(self._path)!r}: {reason}", hint=hint)
        raise failure


def _read(text: Any) -> WaitingLine:
    """The line as it was written. Raises ValueError for anything else."""
    try:
        document = orjson.loads(text)
        waiting = tuple(Waiter(str(waiter["owner"]), float(waiter["due"])) for waiter in document.pop("waiting"))
        return WaitingLine(**{name: float(value) for name, value in document.items()}, waiting=waiting)
    except (LookupError, TypeError, AttributeError):
        raise ValueError("not a line") from None


def _make_private(path: Path) -> None:
    """Makes the file for its owner only. Raises OSError, and ValueError when it is a link."""
    if path.is_symlink():
        raise ValueError("a link in place of the limiter's file")
    # A file that exists is not opened here: to close it would let go of the locks that SQLite holds on it.
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, NEW_FILE, 0o600))


def _remove_old(path: Path) -> None:
    """Removes the files of earlier starts, untouched for LIMITER_FILE_DAYS."""
    oldest = time.time() - LIMITER_FILE_DAYS * SECONDS_PER_DAY
    for other in path.parent.glob(f"*{SUFFIX}"):
        with contextlib.suppress(FileNotFoundError):
            if other != path and other.stat().st_mtime < oldest:
                other.unlink()
