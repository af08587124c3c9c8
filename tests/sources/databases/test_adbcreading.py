"""A query to PostgreSQL: its rows as those of Parquet, of one moment, read only; or a refusal in our words."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audiencekit import from_sql
from audiencekit.errors import AudiencekitError, InputOutputFailed, SourceRefused, UsageError
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.sourceopening import open_source
from tests.moments import PATIENCE_SECONDS
from tests.postgresserver import execute

adbc = pytest.importorskip("adbc_driver_postgresql.dbapi", reason="the extra postgresql is not installed")
RowsOf = Callable[..., list[dict[str, Any]]]
KINDS: dict[str, Any] = {"columns": (("email", "mail"), ("partner_user_id", "id"))}


@pytest.mark.services
def test_types_are_read_as_those_of_parquet(server: str, rows_of: RowsOf, tmp_path: Any) -> None:
    """Numbers as digits, NUMERIC as a decimal, UUID in its usual form, arrays as several values, NULL as nothing."""
    sql = """SELECT * FROM (VALUES
        ('ann@example.com'::text, 12::int8, 4915112345678::numeric(20, 2), 1.50::numeric,
         '6f9619ff-8b86-d011-b42d-00cf4fc964ff'::uuid, ARRAY['x1', 'x2'], ARRAY[1.00, 2]::numeric[], 'v'::varchar(9)),
        (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)) AS t (mail, i, n, f, u, a, d, v)"""
    columns = tuple(("partner_user_id", name) for name in ("i", "n", "f", "u", "a", "d", "v"))
    (first, second) = rows_of(open_source(from_sql(server, sql), SourceOptions(columns=(("email", "mail"), *columns))))
    texts = {name: value for name, value in first.items() if name != "row"}
    assert list(texts.values()) == [
        "ann@example.com", "12", "4915112345678", "1.50", "6f9619ff-8b86-d011-b42d-00cf4fc964ff",
        ["x1", "x2"], ["1", "2"], "v",
    ]  # fmt: skip
    assert set(second.values()) == {2, None}
    path = tmp_path / "people.parquet"
    table = pa.table({"mail": ["ann@example.com", None], "id": pa.array([12, None], pa.int64())})
    pq.write_table(table, path)
    of_file = rows_of(open_source(path, SourceOptions(**KINDS)))
    assert rows_of(
        open_source(from_sql(server, f"SELECT mail, i AS id FROM ({sql}) AS s"), SourceOptions(**KINDS))
    ) == (of_file)


@pytest.mark.services
def test_a_column_that_has_lost_digits_is_refused(server: str) -> None:
    """As in Parquet."""
    query = from_sql(server, "SELECT 'ann@example.com' AS mail, 1.5::float8 AS id")
    with pytest.raises(SourceRefused, match="floating-point"):
        open_source(query, SourceOptions(**KINDS))


@pytest.mark.services
def test_rows_come_in_batches(server: str, rows_of: RowsOf) -> None:
    """And the last of many is there; the query is read once."""
    source = open_source(
        from_sql(server, "SELECT 'p' || i || '@example.com' AS email FROM generate_series(1, 150000) AS i"),
        SourceOptions(),
    )
    rows = rows_of(source)
    assert (len(rows), rows[-1]["row"]) == (150_000, 150_000)
    assert not source.repeatable
    assert source.description["format"] == "query to a database"
    with pytest.raises(SourceRefused, match="only once"):
        rows_of(source)


LOST = "lost"
OURS = "application_name = 'audiencekit' AND state <> 'idle'"
LATE = "SELECT 1 / (500000 - i) AS id, 'p' || i || '@example.com' AS email FROM generate_series(1, 600000) AS i"


@pytest.mark.services
@pytest.mark.parametrize(
    ("sql", "kind", "words"),
    [
        (LATE, SourceRefused, "failed on a row.*22012"),
        ("SELECT email FROM nowhere", UsageError, "42P01, line 1, column 19"),
        ("SELECT 'ann@example.com'::int AS id", SourceRefused, "22P02"),
        ("WITH a AS (INSERT INTO kept VALUES (1) RETURNING *) SELECT * FROM a", UsageError, "25006"),
        ("SELECT nextval('counter'), 'ann@example.com' AS email", UsageError, "25006"),
        ("SELECT set_config('transaction_read_only', 'off', false) AS email", UsageError, "25001"),
        ("SELECT pg_terminate_backend(pg_backend_pid())::text AS email", InputOutputFailed, LOST),
        ("SELECT 'ann@example.com' AS email, pg_sleep(3600)::text", SourceRefused, "57014"),
    ],
)
def test_a_query_that_fails_is_refused(
    server: str, sql: str, kind: type[AudiencekitError], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Early or late, with its SQLSTATE and without a value; what it would write is not written."""
    execute(server, "CREATE TABLE IF NOT EXISTS kept (a int)", "CREATE SEQUENCE IF NOT EXISTS counter")
    if "pg_sleep" in sql:
        monkeypatch.setenv("PGOPTIONS", "-c statement_timeout=500")
    with pytest.raises(kind, match=words) as caught:
        list(open_source(from_sql(server, sql), SourceOptions()).batches())
    assert "@example" not in f"{caught.value} {caught.value.hint}"
    assert not rows_in(server, "kept")


def rows_in(server: str, table: str) -> list[Any]:
    """The rows of a table, all of them: a query whose rows are not fetched need not have been carried out."""
    with adbc.connect(server) as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {table}")
        return list(cursor.fetchall())


@pytest.mark.services
def test_a_connection_that_is_cut_refuses_the_source(server: str) -> None:
    """After rows have come, as when a firewall or an administrator ends it."""
    sql = "SELECT 'p' || i || '@example.com' AS email FROM generate_series(1, 3000000) AS i"
    batches = open_source(from_sql(server, sql), SourceOptions()).batches()
    next(batches)
    assert rows_in(server, f"(SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {OURS}) AS ended") == [
        (True,)
    ]
    with pytest.raises(InputOutputFailed, match=LOST):
        list(batches)


@pytest.mark.services
def test_a_source_that_is_not_read_to_its_end_leaves_no_connection(server: str) -> None:
    """A refusal half-way must not hold locks or a snapshot of the database."""
    sql = "SELECT 'p' || i || '@example.com' AS email FROM generate_series(1, 3000000) AS i"
    source = open_source(from_sql(server, sql), SourceOptions())
    next(batches := source.batches())
    del batches, source
    end = time.monotonic() + PATIENCE_SECONDS
    while rows_in(server, f"pg_stat_activity WHERE {OURS}"):  # the server notices when it next writes
        assert time.monotonic() < end, "it is still connected"
        time.sleep(0.1)


@pytest.mark.services
def test_the_query_sees_one_moment(server: str, rows_of: RowsOf) -> None:
    """Rows that others commit meanwhile are not in it."""
    execute(server, "DROP TABLE IF EXISTS grows", "CREATE TABLE grows (email text)")
    execute(server, "INSERT INTO grows SELECT 'p' || i || '@example.com' FROM generate_series(1, 300000) AS i")
    source = open_source(from_sql(server, "SELECT email FROM grows"), SourceOptions())
    execute(server, "INSERT INTO grows VALUES ('late@example.com')")
    rows = rows_of(source)
    assert len(rows) == 300_000


@pytest.mark.services
def test_a_database_that_cannot_be_reached_is_told(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the place of its password."""
    monkeypatch.setenv("PGPASSWORD", "hunter2")
    for url in (server.replace("/postgres", "/nowhere"), "postgresql://test@127.0.0.1:1/postgres"):
        with pytest.raises(InputOutputFailed, match="cannot be reached") as caught:
            open_source(from_sql(url, "SELECT 1 AS email"), SourceOptions())
        assert "PGPASSWORD" in caught.value.hint
        assert "hunter2" not in str(caught.value)


def test_a_driver_that_is_missing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the extra that installs it."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError, match="adbc-driver-postgresql") as caught:
        open_source(from_sql("postgresql://host/shop", "SELECT 1"), SourceOptions())
    assert "audiencekit[postgresql]" in caught.value.hint


@pytest.mark.services
def test_a_cursor_of_the_caller_gives_the_same(server: str, rows_of: RowsOf) -> None:
    """NUMERIC among them, which Arrow has no type for."""
    sql = "SELECT 'ann@example.com' AS mail, 7.00::numeric AS id"
    with adbc.connect(server) as connection, connection.cursor() as cursor:
        cursor.execute(sql)
        of_cursor = rows_of(open_source(cursor, SourceOptions(**KINDS)))
    assert of_cursor == rows_of(open_source(from_sql(server, sql), SourceOptions(**KINDS)))
    assert [row["partner_user_id"] if "partner_user_id" in row else list(row.values())[-1] for row in of_cursor] == [
        "7"
    ]
