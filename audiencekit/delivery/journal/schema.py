"""How a journal stands on disk: one SQLite file, known by its header, in schema 2."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Final

from audiencekit.errors import ResumeRefused
from audiencekit.machine.privatefiles import explained, read_file

JOURNAL: Final = "journal.sqlite"
APPLICATION_ID: Final = 0x41_4B_4A_4C  # "AKJL"
VERSION: Final = 2
BUSY_SECONDS: Final = 5.0  # somebody else looks into the journal
# Where the file format of SQLite (sqlite.org/fileformat) keeps what we need before SQLite itself looks at a file.
_MAGIC: Final = b"SQLite format 3\0"
_HEADER_BYTES, _VERSION_AT, _APPLICATION_AT = 100, 60, 68

# `left_boot`, `left_seconds`: when the bytes last left; null once no attempt can still be applied late.
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
    success_count INTEGER NOT NULL DEFAULT 0,
    total_count INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE refused (
    row INTEGER PRIMARY KEY,
    number INTEGER NOT NULL,
    codes TEXT NOT NULL
);
"""


def connect_new(path: Path) -> sqlite3.Connection:
    """A new journal at `path`, its tables in an open transaction."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
    connection = _connect(path)
    connection.execute("PRAGMA journal_mode=DELETE")
    connection.executescript(f"BEGIN IMMEDIATE;{_SCHEMA}")
    return connection


def connect(path: Path) -> sqlite3.Connection:
    """The journal at `path`. A transaction that a kill left open is undone when something is read.

    Raises ResumeRefused, with the file untouched, when there is none or when it is not of schema 2.
    """
    _check_header(path)
    return _connect(path)


def _connect(path: Path) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode=rw"  # never makes a file
    connection = sqlite3.connect(
        uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=16
    )
    # FULL does not sync the directory: without EXTRA the last commit can be undone by a loss of power.
    connection.executescript("PRAGMA synchronous=EXTRA; PRAGMA temp_store=MEMORY; PRAGMA trusted_schema=OFF;")
    return connection


def _check_header(path: Path) -> None:
    if not os.path.lexists(path):
        raise ResumeRefused(
            "the run has no journal",
            reason="no_journal",
            hint="upload the source again, with --plan-time of the run if it may have sent something",
        )
    with explained("the journal cannot be read", path):
        header = read_file(path, _HEADER_BYTES)
    if not header:
        raise not_begun()
    if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
        raise damaged()
    if int.from_bytes(header[_APPLICATION_AT : _APPLICATION_AT + 4], "big") != APPLICATION_ID:
        raise damaged()
    version = int.from_bytes(header[_VERSION_AT : _VERSION_AT + 4], "big")
    if version != VERSION:
        raise ResumeRefused(
            f"the journal has schema {version}, and this version knows schema {VERSION}",
            reason="newer",
            hint="resume with the version of audiencekit that began the run, or a later one",
        )


def damaged() -> ResumeRefused:
    """The refusal of a file that is no sound journal."""
    return ResumeRefused(
        "the journal is damaged",
        reason="damaged",
        hint="restore it; or upload the source again with --plan-time of the run: a repeated Update or Delete changes "
        "nothing",
    )


def not_begun() -> ResumeRefused:
    """The refusal of a run that ended before its journal said anything."""
    return ResumeRefused(
        "the run ended before it began: nothing was sent", reason="not_begun", hint="upload the source again"
    )
