"""A URL says which database, and never a secret."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import audiencekit
from audiencekit.emulator import Emulator
from audiencekit.errors import AudiencekitError, InputOutputFailed, NotFinished, SourceRefused, UsageError
from audiencekit.settings import load_settings
from audiencekit.sources.bytes.files import WAIT_ON
from audiencekit.sources.databases.databases import (
    SECRETS,
    DatabaseUrl,
    LongWork,
    query_failure,
    refuse_other_statements,
)
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.source import open_source
from tests.cases import each_case
from tests.moments import PATIENCE_SECONDS


@each_case(
    "text, database",
    [
        ("postgresql://host/shop", "postgresql"),
        ("postgres://ann@host:5433/shop?sslmode=verify-full", "postgresql"),
        ("postgresql:///?service=shop", "postgresql"),
        ("postgresql://host/shop?passfile=/home/ann/pgpass&sslkey=/home/ann/key", "postgresql"),
        ("sqlite:///people.db", "sqlite"),
        ("snowflake://ann@account/shop", "snowflake"),
        ("bigquery://project", "bigquery"),
        ("grpc+tls://host:443", "flightsql"),
        ("grpc://host:80", "flightsql"),
    ],
)
def test_which_database(text: str, database: str) -> None:
    """By its scheme."""
    assert DatabaseUrl.parse(text).database == database
    assert database in SECRETS


@each_case(
    "text",
    [
        "postgresql://ann:hunter2@host/shop",
        "postgresql://ann:@host/shop",
        "postgresql://host/shop?password=hunter2",
        "postgresql://host/shop?sslpassword=hunter2",
        "snowflake://ann@account/shop?token=hunter2",
        "snowflake://ann@account/shop?privateKey=hunter2",
        "snowflake://ann@account/shop?private_key=hunter2",
    ],
)
def test_a_secret_is_refused(text: str) -> None:
    """It is not quoted, and the hint says where it goes."""
    with pytest.raises(UsageError, match="a password or a key") as caught:
        DatabaseUrl.parse(text)
    assert "hunter2" not in f"{caught.value} {caught.value.hint} {caught.value!r}"
    assert "it" in caught.value.hint


@each_case(
    "text", ["", None, 3, "people.csv", "mysql://host/shop", "host=a dbname=b", "http://[", "postgresql://h:x/d"]
)
def test_an_invalid_database_url_is_refused(text: object) -> None:
    """With the forms that are taken."""
    with pytest.raises(UsageError, match="URL") as caught:
        DatabaseUrl.parse(text)
    assert "postgresql://HOST/DATABASE" in caught.value.hint


def test_it_is_not_shown() -> None:
    """Hosts and users are of the caller's, and go into no log."""
    assert "shop" not in repr(DatabaseUrl.parse("postgresql://ann@host/shop"))


SQL = "SELECT email,\n  phne FROM people"


class Failed(Exception):
    """As ADBC raises them."""

    def __init__(self, sqlstate: str | None, status: str = "UNKNOWN", details: Any = ()) -> None:
        super().__init__("ann@example.com is not what it should be")
        self.sqlstate, self.status_code, self.details = sqlstate, SimpleNamespace(name=status), details


# Classes and codes by Appendix A of PostgreSQL's manual.
@each_case(
    "sqlstate, kind, words",
    [
        ("42P01", UsageError, "does not take the query"),
        ("42601", UsageError, "does not take the query"),
        ("25006", UsageError, "the query writes"),
        ("42501", InputOutputFailed, "does not let this user"),
        ("28P01", InputOutputFailed, "does not let this user"),
        ("57014", SourceRefused, "ended the query"),
        ("57P01", InputOutputFailed, "was lost"),
        ("08006", InputOutputFailed, "was lost"),
        ("53200", InputOutputFailed, "could not finish"),
        ("40001", InputOutputFailed, "could not finish"),
        ("22012", SourceRefused, "failed on a row"),
        ("22P02", SourceRefused, "failed on a row"),
    ],
)
def test_the_state_decides(sqlstate: str, kind: type[AudiencekitError], words: str) -> None:
    """And is told; the text is not."""
    failure = query_failure(Failed(sqlstate), SQL)
    assert type(failure) is kind
    assert words in str(failure)
    assert sqlstate in str(failure)
    assert "ann@" not in str(failure) + failure.hint
    assert failure.hint


@each_case(
    "status, kind",
    [
        ("NOT_FOUND", UsageError),
        ("INVALID_ARGUMENT", UsageError),
        ("UNAUTHENTICATED", InputOutputFailed),
        ("INVALID_DATA", SourceRefused),
        ("IO", InputOutputFailed),
        ("", InputOutputFailed),
    ],
)
def test_without_a_state_the_status_decides(status: str, kind: type[AudiencekitError]) -> None:
    """Of drivers that have none."""
    assert type(query_failure(Failed(None, status), SQL)) is kind


def test_the_place_is_told() -> None:
    """As line and column of the query; one that is not in it is not."""
    place = [(b"PG_DIAG_STATEMENT_POSITION", str(SQL.index("phne") + 1).encode())]
    assert "line 2, column 3" in str(query_failure(Failed("42703", details=place), SQL))
    for odd in (b"999", b"x", b""):
        assert "line" not in str(query_failure(Failed("42703", details=[(b"PG_DIAG_STATEMENT_POSITION", odd)]), SQL))


def test_an_odd_state_is_not_quoted() -> None:
    """A driver may put anything there."""
    assert "ann" not in str(query_failure(Failed("ann@example.com"), SQL))


MINUTES = """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 300000000)
    SELECT i || '@example.com' AS email FROM n WHERE i < 0"""


def test_the_result_or_the_exception_of_the_work_comes_back() -> None:
    """A timeout of its own among them. It is not cancelled."""
    cancelled: list[int] = []
    working = LongWork(lambda: cancelled.append(1))
    assert working.result(lambda: 7) == 7
    with pytest.raises(TimeoutError, match="its own"):
        working.result(_time_out)
    assert not cancelled


def _time_out() -> None:
    raise TimeoutError("its own")


def test_work_that_is_not_waited_for_is_cancelled() -> None:
    """From the thread that waits; its end is waited for."""
    ends, steps = threading.Event(), []

    def no_more() -> None:
        raise NotFinished("interrupted")

    def work() -> None:
        assert ends.wait(PATIENCE_SECONDS)
        steps.append("ended")

    before = WAIT_ON.set(no_more)
    working = LongWork(ends.set)
    WAIT_ON.reset(before)  # as in the thread that reads the rows
    with pytest.raises(NotFinished):
        working.result(work)
    assert steps == ["ended"]


async def test_a_cancelled_upload_leaves_a_query_of_sqlite(tmp_path: Path) -> None:
    """At once, not after its first row: it finds none."""
    path = tmp_path / "people.db"
    sqlite3.connect(path).close()
    async with Emulator() as emulator:
        settings = load_settings(emulator.env, directory=tmp_path, state_dir=tmp_path / "state")
        query = audiencekit.from_sql(f"sqlite:///{path}", MINUTES)
        uploading = asyncio.create_task(
            audiencekit.upload_async(query, audience=emulator.audience_id, settings=settings)
        )
        while not uploading.done() and not any(
            each.name.startswith("audiencekit-query") for each in threading.enumerate()
        ):
            await asyncio.sleep(0.01)
        uploading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await uploading
    assert not any(each.name.startswith("audiencekit-query") for each in threading.enumerate())


@pytest.mark.services
@pytest.mark.parametrize("sql", ["SELECT 'a@example.com' AS email, pg_sleep(3600)::text", "slow rows"])
def test_a_query_of_postgresql_is_cancelled(sql: str, server: str) -> None:
    """Before its first row, and between rows."""
    if sql == "slow rows":
        sql = "SELECT 'a@example.com' AS email, pg_sleep(CASE WHEN i = 250000 THEN 3600 ELSE 0 END)::text"
        sql += " FROM generate_series(1, 300000) AS i"
    asked: list[int] = []

    def twice() -> None:
        asked.append(1)
        if len(asked) > 1:
            raise NotFinished("interrupted")

    WAIT_ON.set(twice)
    try:
        with pytest.raises(NotFinished):
            list(open_source(audiencekit.from_sql(server, sql), SourceOptions()).batches())
    finally:
        WAIT_ON.set(lambda: None)


@each_case(
    "sql",
    [
        *("SELECT email FROM people", "  select 1 ;\n", "-- a comment; with more\nSELECT 1"),
        *("/* one; */ WITH a AS (SELECT 1) SELECT * FROM a; -- the end;", "(SELECT 1) UNION ALL (SELECT 2)"),
        *("VALUES ('a;b')", "TABLE people", "SELECT ';', \";\", `;`, $$;$$, $a$ ; $b$ ; $a$, 'it''s; so'"),
    ],
)
def test_a_query_is_taken(sql: str) -> None:
    """Semicolons in texts, names and comments end nothing."""
    refuse_other_statements(sql)


@each_case(
    "sql, words",
    [
        ("", "holds no query"),
        (None, "holds no query"),
        (" -- nothing", "is no query"),
        ("DELETE FROM people", "is no query"),
        ("COPY people TO '/tmp/x'", "is no query"),
        ("EXPLAIN SELECT 1", "is no query"),
        ("SET TRANSACTION READ WRITE", "is no query"),
        ("/* SELECT */ DROP TABLE people", "is no query"),
        ("SELECT 1; DROP TABLE people", "more than one"),
        ("SELECT ''; DROP TABLE people --'", "more than one"),
        ("SELECT 1;\n-- a comment\nSELECT 2", "more than one"),
    ],
)
def test_anything_else_is_refused(sql: object, words: str) -> None:
    """Without a word of it: a query may name people."""
    with pytest.raises(UsageError, match=words) as caught:
        refuse_other_statements(sql)
    assert "people" not in str(caught.value)
