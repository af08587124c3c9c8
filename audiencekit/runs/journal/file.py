"""The journal of one run as a file: each change is durable when its method returns."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Self

from audiencekit.delivery.results import Miscount, RefusedRow
from audiencekit.destinations.target import Target
from audiencekit.errors import InputOutputFailed, ResumeRefused
from audiencekit.process.crash_points import pass_point
from audiencekit.runs.journal.digests import DOCUMENTS, Seals, digest_of
from audiencekit.runs.journal.facts import Ending, Moment, PlanFacts, PlannedBody, RequestFacts, RunFacts, Sums
from audiencekit.runs.store import RUN_HOME, RunOrder, time_of
from audiencekit.runs.watched import says_of_run
from audiencekit.state.durability import is_mirrored, note_change
from audiencekit.state.files import NEW_FILE, explained, hint_for, read_file, read_json, sync_directory, write_json
from audiencekit.state.keys import StateKey, SubKey
from audiencekit.state.locks import lock_failure
from audiencekit.text import option

# --- The journal of one run as a file: each change is durable when its method returns ---

RUN, PLAN, ENDING = "run", "plan", "ending"
_NUMBERS: Final = {RUN: 0, PLAN: 1, ENDING: 2}  # nonces of the documents' digests

# Writes one thing inside an open transaction.
Entry = Callable[[sqlite3.Connection], None]

_SUMS: Final = """
SELECT sum(state = 'confirmed') AS confirmed,
       sum(state IN ('intended', 'unknown')) AS unknown,
       sum(CASE WHEN state = 'confirmed' THEN records ELSE 0 END)
           - (SELECT count(*) FROM refused) AS records_confirmed,
       sum(CASE WHEN state = 'confirmed' THEN body_bytes ELSE 0 END) AS body_bytes,
       sum(CASE WHEN state = 'confirmed' THEN success_count ELSE 0 END) AS success_count,
       sum(CASE WHEN state = 'confirmed' THEN total_count ELSE 0 END) AS total_count,
       sum(attempts + (state = 'intended')) AS attempts,
       sum(rate_limited) AS rate_limited
FROM requests
"""
_MISCOUNTED: Final = """
SELECT number, records, success_count, total_count FROM requests
WHERE state <> 'confirmed' AND success_count IS NOT NULL ORDER BY number
"""
_REQUEST: Final = """
SELECT number, wave, records, body_bytes, state, attempts + (state = 'intended') AS attempts, rate_limited,
       success_count, total_count
FROM requests ORDER BY number
"""
_DAMAGED: Final = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
_DAMAGED_WHEN_READ: Final = ("SQLITE_ERROR", "")  # a table or column is not there; a text is none
_REQUESTS: Final = "requests"  # in the plan as it is kept: how many there are


class JournalFile:
    """An open journal. One thread at a time writes.

    Raises InputOutputFailed when the disk fails or is full, and ResumeRefused for a damaged journal.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection, self._path = connection, path

    @classmethod
    def begin(cls, path: Path, facts: RunFacts, key: SubKey) -> Self:
        """Make a new journal with `facts`."""
        pass_point("before begin")
        with explained("the journal cannot be made", path), _explained(path, "made"):
            opened = cls(connect_new(path), path)
            try:
                opened._put(RUN, facts.to_json(), key)
                opened._connection.execute("COMMIT")
                sync_directory(path.parent)
                opened._note_change()
            except BaseException:
                opened.close()
                raise
        pass_point("after begin")
        return opened

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the journal at `path`. Do not use its content before `check`."""
        with _explained(path, "read"):
            return cls(connect(path), path)

    def __repr__(self) -> str:
        return f"<JournalFile {self._path.parent.name}>"

    def close(self) -> None:
        """Close the file."""
        with contextlib.suppress(sqlite3.Error):
            self._connection.close()

    # --- what it says ---

    def facts(self) -> RunFacts:
        """The input of the run."""
        content = self._document(RUN)
        if content is None:
            raise self._unbegun()
        with self._sound():
            return RunFacts(**{**content, "target": Target.from_json(content["target"])})

    def plan(self) -> PlanFacts | None:
        """Return the plan; None before there is one."""
        content = self._document(PLAN)
        if content is None:
            return None
        columns = ", ".join(field.name for field in dataclasses.fields(PlannedBody))
        content.pop(_REQUESTS, None)
        with self._sound(), _explained(self._path, "read"):
            rows = self._connection.execute(f"SELECT {columns} FROM requests ORDER BY number")  # noqa: S608
            requests = tuple(PlannedBody(*map(_whole, row)) for row in rows)
            return PlanFacts(**{**content, "verbs": tuple(content["verbs"])}, requests=requests)

    def ending(self) -> Ending | None:
        """Return how the run ended; None if it has not ended for good."""
        content = self._document(ENDING)
        with self._sound():
            return None if content is None else Ending(**content)

    def check_by(self, run_id: str, state_key: StateKey) -> SubKey:
        """Return the key of the journal, from the present state key or an earlier one. Raises as `check`."""
        facts = self.facts()
        for earlier in (state_key, *state_key.earlier):
            key = facts.key(earlier)
            try:
                self.check(run_id, key)
                return key
            except ResumeRefused as error:
                refused = error
                if error.reason != "key":
                    break
        raise refused

    def check(self, run_id: str, key: SubKey) -> None:
        """Raise ResumeRefused for a damaged file, another run's journal, and a journal with another key."""
        facts = self.facts()
        with self._sound(), _explained(self._path, "read"):
            if self._one("PRAGMA integrity_check(1)") != ("ok",):
                raise self._damaged()
            documents = self._connection.execute("SELECT name, content, digest FROM documents").fetchall()
            fits = [digest_of(key, DOCUMENTS, _NUMBERS[name], text.encode()) == seal for name, text, seal in documents]
        if not any(fits):
            raise another_key(self._path.parent)
        if not all(fits) or not self._adds_up(Seals(key)):
            raise self._damaged()
        if facts.run_id != run_id:
            hint = "restore the journal that was there"
            raise ResumeRefused("this is the journal of another run", reason="other_run", hint=hint)

    def _adds_up(self, seals: Seals) -> bool:
        """Whether the requests are as they were written."""
        plan = self._document(PLAN) or {}
        with self._sound(), _explained(self._path, "read"):
            return seals.fit(self._connection, plan.get(_REQUESTS, 0))

    def sums(self) -> Sums:
        """The sums over all requests so far."""
        with _explained(self._path, "read"):
            cursor = self._connection.execute(_SUMS)
            row = cursor.fetchone()
            refused = self._connection.execute("SELECT row, codes FROM refused ORDER BY row").fetchall()
            odd = self._connection.execute(_MISCOUNTED).fetchall()
        with self._sound():
            counts = [_whole(value or 0) for value in row]
            named: dict[str, Any] = dict(zip((column[0] for column in cursor.description), counts, strict=True))
            return Sums(
                **named,
                refused=tuple(RefusedRow(row, tuple(codes.split())) for row, codes in refused),
                miscounted=tuple(Miscount(*map(_whole, row)) for row in odd),
            )

    def confirmed_numbers(self) -> frozenset[int]:
        """Return the requests that need not be sent again."""
        return frozenset(self._column("SELECT number FROM requests WHERE state = 'confirmed'"))

    def states(self) -> dict[int, str]:
        """The state of every request of the plan, by number."""
        with _explained(self._path, "read"):
            return dict(self._connection.execute("SELECT number, state FROM requests"))

    def requests(self) -> tuple[RequestFacts, ...]:
        """Return every request of the plan, and how far it has come."""
        with _explained(self._path, "read"):
            cursor = self._connection.execute(_REQUEST)
            names, rows = [column[0] for column in cursor.description], cursor.fetchall()
            refused = defaultdict[int, list[RefusedRow]](list)
            for number, row, codes in self._connection.execute("SELECT number, row, codes FROM refused ORDER BY row"):
                refused[number].append(RefusedRow(row, tuple(codes.split())))
        found = (dict(zip(names, row, strict=True)) for row in rows)
        return tuple(RequestFacts(**each, refused=tuple(refused[each["number"]])) for each in found)

    def departures(self) -> dict[int, Moment]:
        """Return when each request with an attempt in doubt was last sent, by its number."""
        found = "SELECT number, left_boot, left_seconds FROM requests WHERE left_boot IS NOT NULL"
        with _explained(self._path, "read"):
            rows = self._connection.execute(found).fetchall()
        with self._sound():
            return {_whole(number): Moment(str(boot), float(seconds)) for number, boot, seconds in rows}

    def digests(self) -> dict[int, bytes]:
        """Return number and body digest of the requests that may have been sent and are not confirmed."""
        with _explained(self._path, "read"):
            found = "SELECT number, digest FROM requests WHERE digest IS NOT NULL AND state <> 'confirmed'"
            return dict(self._connection.execute(found))

    # --- what is written ---

    def store_plan(self, plan: PlanFacts, key: SubKey) -> None:
        """Write the plan, before the first request is sent."""
        content = {field.name: getattr(plan, field.name) for field in dataclasses.fields(plan)}
        bodies = [dataclasses.astuple(body) for body in content.pop("requests")]
        content[_REQUESTS] = len(bodies)

        def write(connection: sqlite3.Connection) -> None:
            self._put(PLAN, content, key)
            Seals(key).insert(connection, bodies)

        pass_point("before plan")
        self.write([write])
        pass_point("after plan")

    def finish(self, ending: Ending, key: SubKey) -> None:
        """Write that the run has ended for good."""
        pass_point("before finish")
        self.write([lambda _: self._put(ENDING, dataclasses.asdict(ending), key)])
        pass_point("after finish")

    def write(self, entries: Sequence[Entry]) -> None:
        """Write all of `entries`, or none: one commit."""
        with _explained(self._path, "written"):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                for entry in entries:
                    entry(self._connection)
                self._connection.execute("COMMIT")
                self._note_change()
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise

    def _note_change(self) -> None:
        if is_mirrored(self._path):
            note_change(self._path.parent, (self._path.name, self._connection.serialize()))

    def _put(self, name: str, content: dict[str, Any], key: SubKey) -> None:
        text = write_json(content)
        digest = digest_of(key, DOCUMENTS, _NUMBERS[name], text)
        self._connection.execute("INSERT INTO documents VALUES (?, ?, ?)", (name, text.decode(), digest))

    def _document(self, name: str) -> dict[str, Any] | None:
        with _explained(self._path, "read"):
            if not has_tables(self._connection):
                return None  # ended in the middle of its first transaction
            found = self._one("SELECT content FROM documents WHERE name = ?", name)
        with self._sound():
            return None if found is None else dict(read_json(found[0]))

    def _unbegun(self) -> ResumeRefused:
        """Return the refusal of a journal without the input of its run: a journal of ours without it is damaged."""
        with _explained(self._path, "read"):
            return self._damaged() if has_tables(self._connection) else without_beginning(self._path)

    def _damaged(self) -> ResumeRefused:
        return damaged(self._path.parent)

    @contextlib.contextmanager
    def _sound(self) -> Iterator[None]:
        """Raise ResumeRefused for content that was not written by us."""
        try:
            yield
        except (TypeError, ValueError, KeyError, AttributeError):
            raise self._damaged() from None

    def _one(self, statement: str, *values: Any) -> Any:
        return self._connection.execute(statement, values).fetchone()

    def _column(self, statement: str) -> list[Any]:
        with _explained(self._path, "read"):
            return [value for (value,) in self._connection.execute(statement)]


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise TypeError
    return value


@contextlib.contextmanager
def _explained(path: Path, what: str) -> Iterator[None]:
    """Raise ResumeRefused for a damaged file, InputOutputFailed for other errors of SQLite, without values."""
    try:
        yield
    except UnicodeDecodeError:  # words of SQLite that quote a damaged schema
        raise damaged(path.parent) from None
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
        is_odd = isinstance(error, sqlite3.OperationalError) and name in _DAMAGED_WHEN_READ
        if name.startswith(_DAMAGED) or (what == "read" and is_odd):
            raise damaged(path.parent) from None
        if locked_out := lock_failure(error, path, "the journal of the run"):
            raise locked_out from None
        raise InputOutputFailed(
            f"the journal cannot be {what}: {str(path)!r}: {error} ({name or type(error).__name__})",
            hint=hint_for(None, "check the space and the health of the disk that holds the state directory"),
        ) from None


# --- Why a journal cannot be trusted, and what to do; with the plan time of the run, if its report has it ---

WHAT_WAS_SENT: Final = "whether anything was sent"
NOTHING_SENT: Final = frozenset({"no_journal", "not_begun"})  # reasons


def damaged(directory: Path, what: str = "the journal is damaged") -> ResumeRefused:
    """Return the refusal of a run in `directory` whose journal is damaged."""
    return ResumeRefused(what, reason="damaged", hint=f"restore it; or {how_to_repeat(directory)}")


def another_key(directory: Path) -> ResumeRefused:
    """Return the refusal of a journal that does not fit this state key."""
    return ResumeRefused(
        "the journal was written under another state key, or was changed",
        reason="key",
        hint=f"give the AUDIENCEKIT_KEY, keyring or key file of that time; or {how_to_repeat(directory)}",
    )


def without_key(directory: Path) -> ResumeRefused:
    """Return the refusal of a run whose state key is missing or invalid: a new one would not help."""
    return ResumeRefused(
        "the state key that the journal was written under is gone, or cannot be read",
        reason="key",
        hint=f"give the AUDIENCEKIT_KEY, keyring or key file of that time; or {how_to_repeat(directory)}",
    )


def another_schema(directory: Path, version: int, known: int) -> ResumeRefused:
    """Return the refusal of a journal with another schema than the `known` one of this version."""
    return ResumeRefused(
        f"the journal says that it has schema {version}, and this version reads schema {known} only",
        reason="schema",
        hint="resume with the version of audiencekit that began the run; if this one did, the journal is damaged: "
        f"{how_to_repeat(directory)}",
    )


def without_journal() -> ResumeRefused:
    """Return the refusal of a run that ended before it had a journal."""
    return ResumeRefused(
        "the run has no journal: nothing was sent", reason="no_journal", hint="upload the source again"
    )


def not_begun() -> ResumeRefused:
    """Return the refusal of a run that ended before its journal had any content."""
    return ResumeRefused(
        "the run ended before it began: nothing was sent", reason="not_begun", hint="upload the source again"
    )


def how_to_repeat(directory: Path) -> str:
    """Return the hint for a run in `directory` that cannot continue: upload the same once more, with the same times."""
    plan_time = _plan_time(directory)
    again = option("plan_time", plan_time) if plan_time else "`plan_time=` of the run"
    if plan_time is None and (begun_at := time_of(directory.name)) is not None:
        again = f"{option('plan_time', begun_at)}, or the one that it was given"
    return f"upload the source again with {again}: a repeated Update or Delete changes nothing"


def _plan_time(directory: Path) -> str | None:
    try:
        found = RUN_HOME.read(directory).get("plan_time")
    except InputOutputFailed:
        return None
    return found if isinstance(found, str) else None


# --- The file of a journal: one SQLite file, recognised by its header, in schema 3 ---

JOURNAL: Final = "journal.sqlite"
APPLICATION_ID: Final = 0x41_4B_4A_4C  # "AKJL"
VERSION: Final = 3
BUSY_SECONDS: Final = 5.0  # another process looks into the journal
# Where the file format of SQLite (sqlite.org/fileformat) keeps what we need before SQLite itself looks at a file.
_MAGIC: Final = b"SQLite format 3\0"
_HEADER_BYTES, _VERSION_AT, _APPLICATION_AT = 100, 60, 68

# `left_boot`, `left_seconds`: when the bytes last left; null once no attempt can still be applied late.
# `success_count`, `total_count`: what the service last said of it; null until it did. `seal`: see `seals`.
# Never an identifier, neither raw nor hashed: counts, numbers of rows, keyed digests, words of the service.
_SCHEMA: Final = f"""
PRAGMA application_id={APPLICATION_ID};
PRAGMA user_version={VERSION};
CREATE TABLE documents (name TEXT PRIMARY KEY, content TEXT NOT NULL, digest BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE requests (
    number INTEGER PRIMARY KEY,
    wave INTEGER NOT NULL,
    records INTEGER NOT NULL,
    body_bytes INTEGER NOT NULL,
    first_row INTEGER,
    last_row INTEGER,
    digest BLOB,
    left_boot TEXT,
    left_seconds REAL,
    state TEXT NOT NULL DEFAULT 'planned'
        CHECK (state IN ('planned', 'intended', 'confirmed', 'refused', 'unknown')),
    attempts INTEGER NOT NULL DEFAULT 0,
    rate_limited INTEGER NOT NULL DEFAULT 0,
    success_count INTEGER,
    total_count INTEGER,
    seal BLOB NOT NULL
);
CREATE TABLE refused (
    row INTEGER PRIMARY KEY,
    number INTEGER NOT NULL,
    codes TEXT NOT NULL
);
"""


def connect_new(path: Path) -> sqlite3.Connection:
    """Open a new journal at `path`, with its tables in an open transaction."""
    os.close(os.open(path, NEW_FILE, 0o600))
    return _connect(path, f"PRAGMA journal_mode=DELETE; BEGIN IMMEDIATE;{_SCHEMA}")


def connect(path: Path) -> sqlite3.Connection:
    """Open the journal at `path`. A transaction that a kill left open is undone at the first read.

    Raises ResumeRefused, without changing the file, when there is none or it has another schema.
    """
    _check_header(path)
    return _connect(path)


def has_tables(connection: sqlite3.Connection) -> bool:
    """Whether its first transaction was written."""
    return connection.execute("SELECT 1 FROM sqlite_master").fetchone() is not None


def without_beginning(path: Path) -> ResumeRefused:
    """Return the refusal of a journal that is empty or missing.

    Nothing was sent, unless the run has other files or is in the list of begun runs: both are written after the input
    of the run.
    """
    is_there = os.path.lexists(path)
    with explained("the directory of the run cannot be read", path.parent):
        names = {each.name for each in path.parent.iterdir()} - {JOURNAL, f"{JOURNAL}-journal"}
        others = set(filter(says_of_run, names))
    if not others and not RunOrder(path.parents[2]).knows(path.parent.name):
        return not_begun() if is_there else without_journal()
    what = "damaged: it is empty" if is_there else "gone"
    return damaged(path.parent, f"the journal is {what}, and the run had begun: it is not known {WHAT_WAS_SENT}")


def _connect(path: Path, first: str = "") -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode=rw"  # never makes a file
    connection = sqlite3.connect(
        uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=16
    )
    try:
        # FULL does not sync the directory: without EXTRA the last commit can be undone by a loss of power.
        connection.executescript("PRAGMA synchronous=EXTRA; PRAGMA temp_store=MEMORY; PRAGMA trusted_schema=OFF;")
        connection.executescript(first)
    except BaseException:
        connection.close()
        raise
    return connection


def _check_header(path: Path) -> None:
    if not os.path.lexists(path):
        raise without_beginning(path)
    with explained("the journal cannot be read", path):
        header = read_file(path, _HEADER_BYTES)
    if not header:
        raise without_beginning(path)
    if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
        raise damaged(path.parent)
    if int.from_bytes(header[_APPLICATION_AT : _APPLICATION_AT + 4], "big") != APPLICATION_ID:
        raise damaged(path.parent)
    version = int.from_bytes(header[_VERSION_AT : _VERSION_AT + 4], "big")
    if version != VERSION:
        raise another_schema(path.parent, version, VERSION)
