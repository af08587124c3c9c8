"""The journal of one run as a file: what is written is durable when a method returns."""

from __future__ import annotations

import contextlib
import dataclasses
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Self

from audiencekit.delivery.results import Miscount, RefusedRow
from audiencekit.destinations.target import Target
from audiencekit.errors import InputOutputFailed, ResumeRefused
from audiencekit.machine.checkeddocuments import read_json, write_json
from audiencekit.machine.crashpoints import pass_point
from audiencekit.machine.filelocks import lock_failure
from audiencekit.machine.keys import StateKey, SubKey
from audiencekit.machine.privatefiles import explained, hint_for, sync_directory
from audiencekit.runs.journal.digests import DOCUMENTS, digest_of
from audiencekit.runs.journal.facts import Ending, PlanFacts, PlannedBody, RunFacts, Sums
from audiencekit.runs.journal.refusals import another_key, damaged
from audiencekit.runs.journal.schema import connect, connect_new, has_tables, without_beginning
from audiencekit.runs.journal.seals import Seals
from audiencekit.runs.journal.senttimes import Moment

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
_DAMAGED: Final = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
_DAMAGED_WHEN_READ: Final = ("SQLITE_ERROR", "")  # a table or column is not there; a text is none
_REQUESTS: Final = "requests"  # in the plan as it is kept: how many there are


class JournalFile:
    """An open journal. One thread at a time writes.

    Raises InputOutputFailed when the disk fails or is full, and ResumeRefused for what is no sound journal.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection, self._path = connection, path

    @classmethod
    def begin(cls, path: Path, facts: RunFacts, key: SubKey) -> Self:
        """A new journal that holds `facts`."""
        pass_point("before begin")
        with explained("the journal cannot be made", path), _explained(path, "made"):
            opened = cls(connect_new(path), path)
            try:
                opened._put(RUN, facts.to_json(), key)
                opened._connection.execute("COMMIT")
                sync_directory(path.parent)
            except BaseException:
                opened.close()
                raise
        pass_point("after begin")
        return opened

    @classmethod
    def open(cls, path: Path) -> Self:
        """The journal at `path`. What it says is not to be acted on before `check`."""
        with _explained(path, "read"):
            return cls(connect(path), path)

    def __repr__(self) -> str:
        return f"<JournalFile {self._path.parent.name}>"

    def close(self) -> None:
        """Gives up the file."""
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
        """The plan, once there is one."""
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
        """How the run ended, when it has ended for good."""
        content = self._document(ENDING)
        with self._sound():
            return None if content is None else Ending(**content)

    def check_by(self, run_id: str, state_key: StateKey) -> SubKey:
        """The key that the journal was made under, by the state key or one before it. Raises as `check`."""
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
        """Raises ResumeRefused for a damaged file, another run's journal, and one that was made under another key."""
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
        """Whether the requests are those that were written."""
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
        """The requests that need not be sent again."""
        return frozenset(self._column("SELECT number FROM requests WHERE state = 'confirmed'"))

    def states(self) -> dict[int, str]:
        """The state of every request of the plan, by number."""
        with _explained(self._path, "read"):
            return dict(self._connection.execute("SELECT number, state FROM requests"))

    def departures(self) -> dict[int, Moment]:
        """When the bytes of each request last left of which an attempt may still be applied, by its number."""
        found = "SELECT number, left_boot, left_seconds FROM requests WHERE left_boot IS NOT NULL"
        with _explained(self._path, "read"):
            rows = self._connection.execute(found).fetchall()
        with self._sound():
            return {_whole(number): Moment(str(boot), float(seconds)) for number, boot, seconds in rows}

    def digests(self) -> dict[int, bytes]:
        """Of the requests that may have left and are not confirmed: number and keyed digest of the body."""
        with _explained(self._path, "read"):
            found = "SELECT number, digest FROM requests WHERE digest IS NOT NULL AND state <> 'confirmed'"
            return dict(self._connection.execute(found))

    # --- what is written ---

    def keep_plan(self, plan: PlanFacts, key: SubKey) -> None:
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
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise

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
        """The refusal of a journal that does not say what the run was begun with: one of ours without it is damaged."""
        with _explained(self._path, "read"):
            return self._damaged() if has_tables(self._connection) else without_beginning(self._path)

    def _damaged(self) -> ResumeRefused:
        return damaged(self._path.parent)

    @contextlib.contextmanager
    def _sound(self) -> Iterator[None]:
        """Raises ResumeRefused for content that was not written so."""
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
    """Raises ResumeRefused for a damaged file, InputOutputFailed for what else SQLite reports; it quotes no values."""
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
