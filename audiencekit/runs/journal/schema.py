"""How a journal is kept on disk: one SQLite file, known by its header, in schema 3."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Final

from audiencekit.errors import ResumeRefused
from audiencekit.machine.openfiles import NEW_FILE
from audiencekit.machine.privatefiles import explained, read_file
from audiencekit.runs.journal.refusals import WHAT_WAS_SENT, another_schema, damaged, not_begun, without_journal
from audiencekit.runs.runorder import Succession

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
    """A new journal at `path`, its tables in an open transaction."""
    os.close(os.open(path, NEW_FILE, 0o600))
    return _connect(path, f"PRAGMA journal_mode=DELETE; BEGIN IMMEDIATE;{_SCHEMA}")


def connect(path: Path) -> sqlite3.Connection:
    """The journal at `path`. A transaction that a kill left open is undone when something is read.

    Raises ResumeRefused, with the file untouched, when there is none or when it is of another schema.
    """
    _check_header(path)
    return _connect(path)


def has_tables(connection: sqlite3.Connection) -> bool:
    """Whether its first transaction was written."""
    return connection.execute("SELECT 1 FROM sqlite_master").fetchone() is not None


def without_beginning(path: Path) -> ResumeRefused:
    """The refusal of a journal that is empty or not there.

    Nothing was sent, unless there is something else of the run, or the list of what was begun has it: both are written
    after what the run was begun with.
    """
    is_there = os.path.lexists(path)
    with explained("the directory of the run cannot be read", path.parent):
        others = {each.name for each in path.parent.iterdir()} - {JOURNAL, f"{JOURNAL}-journal"}
    if not others and not Succession(path.parents[2]).knows(path.parent.name):
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
