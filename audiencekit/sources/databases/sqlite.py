"""One query to a file of SQLite, by the module of Python: cells of one column may be of several types there.

The driver of ADBC takes the type of a column from the first thousand rows, and fails at a later one of another type.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote

from audiencekit.errors import AudiencekitError, InputOutputFailed, SourceRefused, UsageError
from audiencekit.sources.databases.databases import DatabaseUrl, LongWork
from audiencekit.sources.frames import BatchReader, rows_of

# All that a SELECT needs, and nothing that writes, attaches a file or changes a setting.
_ALLOWED: Final = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, 33})  # 33: recursion
_MOST_CELL_BYTES: Final = (
    1_000_000  # of any value on the way, far above MAX_CELL_BYTES: a view can make one of a gigabyte
)
_STEPS: Final = 1_000_000  # of SQLite's machine between two looks
MOST_STEPS: Final = 30_000_000_000  # without rows: minutes on any machine, and enough to sort a hundred million of them
_DAMAGED: Final = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
_TAKEN: Final = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_IOERR", "SQLITE_CANTOPEN", "SQLITE_NOMEM", "SQLITE_PERM")
_WRONG: Final = ("SQLITE_ERROR", "SQLITE_AUTH", "SQLITE_READONLY")


def read_sqlite(url: DatabaseUrl, sql: str) -> BatchReader:
    """The rows of the query, begun. Raises SourceRefused for a file that is not there or no database, UsageError for a
    query that it does not take."""
    if url.parts.netloc or url.parts.query or not url.parts.path.strip("/"):
        raise UsageError("`from_sql=` names no file", hint="write sqlite:///FILE, or sqlite:////DIRECTORY/FILE")
    path = Path(unquote(url.parts.path.removeprefix("/")))
    if not path.is_file():
        raise SourceRefused(
            "there is no such file of SQLite", hint="a path from the root has four slashes: sqlite:////DIRECTORY/FILE"
        )
    rows = _rows(path, sql)
    reader, working, steps = next(rows)
    return BatchReader(reader.schema, _batches(rows, reader, working, steps))


class _Steps:
    """The steps of SQLite since it returned rows: a query, or a view of the file, may never end."""

    def __init__(self) -> None:
        self._done = 0

    def begin(self) -> None:
        """Count from here."""
        self._done = 0

    def is_enough(self) -> bool:
        """Count the steps of the query, and return whether it exceeds MOST_STEPS and must end."""
        self._done += _STEPS
        return self._done > MOST_STEPS


def _rows(path: Path, sql: str) -> Generator[Any, None, None]:
    """A reader of the rows with how it works, and nothing more; the file is closed when the generator is."""
    failure = None
    try:
        # Read in the thread of the source, which is not the one that opened it.
        connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, check_same_thread=False)
    except sqlite3.Error as error:
        failure = _failure_of(error)
    if failure is not None:
        raise failure
    with closing(connection):
        connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_CELL_BYTES)
        steps = _Steps()
        connection.set_progress_handler(steps.is_enough, _STEPS)
        working = LongWork(connection.interrupt)
        reader = _attempt(lambda: working.result(lambda: rows_of(connection.execute(sql))))
        yield reader, working, steps


def _batches(rows: Generator[Any, None, None], reader: Any, working: LongWork, steps: _Steps) -> Iterator[Any]:
    with closing(rows):
        while (batch := _attempt(lambda: working.result(lambda: next(reader, None)))) is not None:
            yield batch
            steps.begin()


def _attempt(work: Any) -> Any:
    failure = None
    try:
        return work()
    except (sqlite3.Error, sqlite3.Warning) as error:
        failure = _failure_of(error)
    raise failure


def _failure_of(error: Exception) -> AudiencekitError:
    """The error to raise, with the name of the error of SQLite. Its text may quote a value, and is not shown."""
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith(_DAMAGED):
        return SourceRefused("the file of SQLite is damaged, or is none", hint="sqlite3 FILE 'PRAGMA integrity_check'")
    if name == "SQLITE_TOOBIG":
        return SourceRefused(
            f"the query makes a value of more than {_MOST_CELL_BYTES:,} bytes", hint="leave its column out of the query"
        )
    if name == "SQLITE_INTERRUPT":
        return SourceRefused("the query works on and gives no rows", hint="it or a view of the file may be endless")
    if name.startswith(_TAKEN):
        return InputOutputFailed(
            f"the file of SQLite cannot be read ({name})", hint="run again when it is not written to"
        )
    if name.startswith(_WRONG) or isinstance(error, sqlite3.ProgrammingError | sqlite3.Warning):
        return UsageError(
            "SQLite does not take the query", hint="execute it with `sqlite3 -readonly FILE`, whose message says more"
        )
    return SourceRefused(
        "the query failed on a row: it is no text in UTF-8, or no value that a function wants",
        hint="leave columns that are not needed out of the query; hex(COLUMN) shows the bytes of a text",
    )
