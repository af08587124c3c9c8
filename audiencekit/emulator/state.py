"""A state file: what makes an emulator continue where an earlier one ended.

SQLite, readable by its owner alone, since it holds hashes and tokens. It keeps the calls that changed something, as
they came: the same calls, handled again in the same order at the same times, give the same emulator, ids included. It
also keeps the request log and how far the clock was moved. Faults, rate-limit windows and
spent nonces begin afresh.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any, Final

from audiencekit.emulator.clock import Clock
from audiencekit.emulator.journal import RequestEntry
from audiencekit.emulator.options import EmulatorOptions

_FORMAT: Final = 1
_SCHEMA: Final = """
    BEGIN EXCLUSIVE;
    CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS requests (
        seq INTEGER PRIMARY KEY, arrival REAL, method TEXT, path TEXT, bytes INTEGER, status INTEGER
    );
    CREATE TABLE IF NOT EXISTS calls (
        seq INTEGER PRIMARY KEY, now REAL, address TEXT, method TEXT, path TEXT, query BLOB, attributes TEXT,
        media_type TEXT, body BLOB
    );
    COMMIT;
"""
_TABLES: Final = {"facts", "requests", "calls"}
_UNFIT: Final = "the state file is damaged, cut short, or no state file of an emulator; remove it to begin afresh"


class StateError(Exception):
    """The state file cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class ReceivedCall:
    """A call that was let in, as it came; `now` in epoch seconds."""

    now: float
    address: str
    method: str
    path: str
    query: bytes
    attributes: str = field(repr=False)  # of the header, as JSON
    media_type: str
    body: bytes = field(repr=False)


# A restart without data, which is a fault, stands among the calls: no HTTP method has a space.
SET_ACCOUNT: Final = "SET ACCOUNT"  # what the door of accounts did; the path is the id
LOST_MEMBERS: Final = ReceivedCall(0.0, "", "LOSE MEMBERS", "", b"", "{}", "", b"")


def open_state(options: EmulatorOptions, clock: Clock) -> StateFile | None:
    """Return the state file of some options, if they name one; `clock` is moved to where it was. Raises StateError."""
    if options.state is None:
        return None
    state = StateFile(options.state)
    try:
        state.claim(format=_FORMAT, seed=options.seed, profile=options.profile)
    except StateError:
        state.close()
        raise
    clock.advance(state.fact("clock_offset", 0.0))
    return state


class StateFile:
    """One open file. Another process cannot open it meanwhile."""

    def __init__(self, path: Path) -> None:
        self._database = _open(path)

    def claim(self, **facts: Any) -> None:
        """Write what must not change from one start to the next. Raises StateError when it did."""
        for name, value in facts.items():
            before = self.fact(name, value)
            if before != value:
                raise StateError(f"the state file was made with {name} {before!r}, not {value!r}")

    def fact(self, name: str, default: Any) -> Any:
        """Return the fact under a name; when there is none, `default`, which is kept from now on."""
        found = self._database.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        if found is None:
            self.keep(name, default)
            return default
        return found[0]

    def keep(self, name: str, value: Any) -> None:
        """Keep a value under a name."""
        with self._database:
            self._database.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    def add_request(self, entry: RequestEntry) -> None:
        """Keep an entry of the request log."""
        with self._database:
            self._database.execute("INSERT OR REPLACE INTO requests VALUES (?, ?, ?, ?, ?, ?)", astuple(entry))

    def add_call(self, call: ReceivedCall) -> None:
        """Keep a call, before its answer is sent."""
        with self._database:
            self._database.execute("INSERT INTO calls VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)", astuple(call))

    def requests(self) -> Iterator[RequestEntry]:
        """Return the request log."""
        return (RequestEntry(*row) for row in self._database.execute("SELECT * FROM requests ORDER BY seq"))

    def calls(self) -> Iterator[ReceivedCall]:
        """Return the calls in the order in which they were handled."""
        rows = self._database.execute(
            "SELECT now, address, method, path, query, attributes, media_type, body FROM calls ORDER BY seq"
        )
        return (ReceivedCall(*row) for row in rows)

    def close(self) -> None:
        """Let the next emulator have the file."""
        self._database.close()


def _open(path: Path) -> sqlite3.Connection:
    try:
        is_new = not path.exists()
        if not is_new and path.stat().st_size == 0:
            raise StateError("the state file is empty: what it held is lost; remove it to begin afresh")
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        database = sqlite3.connect(path, timeout=0)
    except (OSError, sqlite3.Error) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise StateError(f"the state file cannot be opened: {reason}") from None
    try:
        _set_up(database, path, is_new=is_new)
    except sqlite3.Error as error:
        database.close()
        if "locked" in str(error):
            raise StateError("the state file is in use by another emulator") from None
        raise StateError(_UNFIT) from None
    except StateError:
        database.close()
        raise
    return database


def _set_up(database: sqlite3.Connection, path: Path, *, is_new: bool) -> None:
    """Raises StateError and sqlite3.Error for a file that is not whole, or not ours."""
    database.execute("PRAGMA locking_mode = EXCLUSIVE")
    # Answered changes survive the end of the emulator, not a crash of the machine.
    database.execute("PRAGMA synchronous = OFF")
    database.execute("BEGIN EXCLUSIVE")
    if not is_new:
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        # SQLite fills up a last page that was cut short, and says nothing.
        (page_bytes,) = database.execute("PRAGMA page_size").fetchone()
        is_whole = path.stat().st_size % page_bytes == 0
        if not (is_whole and tables == _TABLES and database.execute("PRAGMA quick_check").fetchall() == [("ok",)]):
            raise StateError(_UNFIT)
    database.execute("COMMIT")
    database.executescript(_SCHEMA)
