"""The records of the emulator, its clock, and its state file."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from audiencekit.emulator.authentication import base36, long_id, make_origin
from audiencekit.emulator.endpoints.accounts import Account, seed_account
from audiencekit.emulator.endpoints.activity import Activity
from audiencekit.emulator.endpoints.audience_members import Membership
from audiencekit.emulator.endpoints.custom_audiences import PROCESSING_SECONDS, Audience, Population
from audiencekit.emulator.endpoints.do_not_reach import DoNotReachList
from audiencekit.emulator.endpoints.flexible_audiences import Segment, count_matched
from audiencekit.emulator.endpoints.media import seed_media
from audiencekit.emulator.endpoints.stream_rules import StreamRules
from audiencekit.emulator.endpoints.users import Tokens
from audiencekit.emulator.endpoints.webhooks import Webhooks
from audiencekit.emulator.journal import OperationLog, RequestEntry, RequestLog
from audiencekit.emulator.options import DEFAULT_MATCH_RATE, EmulatorOptions

# --- The records of the emulator ---


class Store:
    """The accounts with all their records, and the two logs."""

    def __init__(
        self,
        seed: int,
        now: float,
        match_rate: float = DEFAULT_MATCH_RATE,
        processing_seconds: float = PROCESSING_SECONDS,
        outside: frozenset[str] = frozenset(),
    ) -> None:
        self._seed, self._processing_seconds, self._outside = seed, processing_seconds, outside
        self.origin = make_origin(seed)
        self.operations = OperationLog()
        self.requests = RequestLog()
        self.tokens = Tokens(self.origin)
        self.users = self.tokens.users
        self.activity, self.stream_rules, self.webhooks = Activity(), StreamRules(), Webhooks()
        self.population = Population(seed, match_rate)
        self.accounts: dict[str, Account] = {}
        self.ids_made = 0  # set back by who takes back what got an id
        account = self._add_account(self.origin.account_id, "Local account", self.origin.business_id, now)
        self.audience_id = self.make_audience(account, "Ready for uploads", None, now).id
        foreign_id, business_id = self.origin.foreign_account_id, self.origin.foreign_business_id
        self._add_account(foreign_id, "Account of another business", business_id, now).is_foreign = True

    def make_id(self) -> str:
        """Return a unique id."""
        # Ids do not follow each other, so that no client comes to rely on their order.
        serial = self.origin.first_serial + 37 * self.ids_made
        self.ids_made += 1
        return base36(serial)

    def make_long_id(self, now: float) -> str:
        """Return a unique id of the kind that tweets and cards have."""
        serial = self.ids_made
        self.ids_made += 1
        return long_id(now, serial)

    def make_account(self, now: float) -> Account:
        """Return a new account of the user's business."""
        return self._add_account(self.make_id(), "Sandbox account", self.origin.business_id, now)

    def _add_account(self, account_id: str, name: str, business_id: str, now: float) -> Account:
        account = Account(account_id, name, business_id, created_at=now, updated_at=now, outside=self._outside)
        account.records.update(seed_media(account_id, now))
        seed_account(account, self.origin.user_id, self._seed)
        self.accounts[account_id] = account
        return account

    def accounts_of_user(self) -> Iterator[Account]:
        """Return the accounts that the user may use, also deleted ones."""
        return (account for account in self.accounts.values() if not account.is_foreign)

    def make_audience(
        self,
        account: Account,
        name: str,
        description: str | None,
        now: float,
        *,
        audience_type: str = "CRM",
        segments: Segment | None = None,
    ) -> Audience:
        """Return a new audience of `account`."""
        audience = Audience(
            self.make_id(), account.id, name, description, now, now, audience_type=audience_type, segments=segments
        )
        account.audiences[audience.id] = audience
        return audience

    def find_audience(self, audience_id: str) -> Audience | None:
        """Return the audience with this id, of any account, deleted or not."""
        for account in self.accounts.values():
            if audience_id in account.audiences:
                return account.audiences[audience_id]
        return None

    def find_list(self, list_id: str) -> Audience | DoNotReachList | None:
        """Return the audience or do-not-reach list with this id, of any account, deleted or not."""
        for account in self.accounts.values():
            if list_id in account.do_not_reach_lists:
                return account.do_not_reach_lists[list_id]
        return self.find_audience(list_id)

    def shared_with(self, account: Account) -> Iterator[Audience]:
        """Return the audiences of other accounts on which `account` has a permission."""
        for owner in self.accounts.values():
            for audience in owner.audiences.values():
                if audience.permission_of(account.id) is not None:
                    yield audience

    def catch_up(self, account: Account, now: float) -> None:
        """Make the counts that are due. Call it before anything of `account` is changed or shown."""
        for counted in account.lists():
            if not counted.deleted:
                counted.processing.catch_up(now, partial(self._count, account, counted), self._processing_seconds)

    def _count(self, account: Account, counted: Audience | DoNotReachList, moment: float) -> int:
        if isinstance(counted, Audience) and counted.segments is not None:
            return count_matched(counted.segments, account.audiences, self.population, moment)
        return self.population.count(counted.members.members(moment))

    def lose_members(self) -> None:
        """Empty every list. The logs stay, as evidence."""
        for account in self.accounts.values():
            for emptied in account.lists():
                emptied.members = Membership()
                emptied.processing.has_changed = True


# --- The state file, with which an emulator continues where an earlier one ended ---
#
# SQLite, readable by its owner alone, since it holds hashes and tokens. It keeps the calls that changed something, as
# they came: the same calls, handled again in the same order at the same times, give the same emulator, ids included. It
# also keeps the request log and how far the clock was moved. Faults, rate-limit windows and spent nonces begin afresh.

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
    """An authorized call as received; `now` in epoch seconds."""

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
    """Return the state file of some options, None without one; move `clock` to its time. Raises StateError."""
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
        """Write the values that must not change from one start to the next. Raises StateError if they did."""
        for name, value in facts.items():
            before = self.fact(name, value)
            if before != value:
                raise StateError(f"the state file was made with {name} {before!r}, not {value!r}")

    def fact(self, name: str, default: Any) -> Any:
        """Return the value with a name; without one, store and return `default`."""
        found = self._database.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        if found is None:
            self.store(name, default)
            return default
        return found[0]

    def store(self, name: str, value: Any) -> None:
        """Store a value under a name."""
        with self._database:
            self._database.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    def add_request(self, entry: RequestEntry) -> None:
        """Store an entry of the request log."""
        with self._database:
            self._database.execute("INSERT OR REPLACE INTO requests VALUES (?, ?, ?, ?, ?, ?)", astuple(entry))

    def add_call(self, call: ReceivedCall) -> None:
        """Store a call, before its answer is sent."""
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
        """Release the file for the next emulator."""
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
    """Raise StateError or sqlite3.Error for an incomplete or foreign file."""
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


# --- The emulator's clock: the time for all of its rules ---


class Clock:
    """A source of epoch seconds, and the offset by which it was moved."""

    def __init__(self, source: Callable[[], float]) -> None:
        self._source = source
        self.offset_seconds = 0.0

    def now(self) -> float:
        """Return epoch seconds."""
        return self._source() + self.offset_seconds

    def advance(self, seconds: float) -> None:
        """Move the clock, backwards when `seconds` is negative."""
        self.offset_seconds += seconds

    def set(self, epoch: float) -> None:
        """Move the clock to `epoch`; it continues from there."""
        self.offset_seconds = epoch - self._source()
