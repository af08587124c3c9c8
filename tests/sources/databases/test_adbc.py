"""A query to PostgreSQL: its rows as those of Parquet, of one moment, read only; or a refusal in our words."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audiencekit import from_sql
from audiencekit.errors import AudiencekitError, InputOutputFailed, SourceRefused, UsageError
from audiencekit.sources.databases.adbc import connecting_of
from audiencekit.sources.databases.databases import DatabaseUrl
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.source import open_source
from tests.cases import each_case
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
    assert "pip install '.[postgresql]'" in caught.value.hint


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


SECRETS = (
    *("SNOWFLAKE_PASSWORD", "SNOWFLAKE_TOKEN", "SNOWFLAKE_PRIVATE_KEY_FILE"),
    *("FLIGHTSQL_PASSWORD", "FLIGHTSQL_TOKEN"),
)


@pytest.fixture(autouse=True)
def _without_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SECRETS:
        monkeypatch.delenv(name, raising=False)


def _options(url: str) -> dict[str, Any]:
    arguments = connecting_of(DatabaseUrl.parse(url)).arguments
    options: dict[str, Any] = arguments.get("db_kwargs", arguments)
    return options


# Names by the documentation of the drivers (arrow.apache.org/adbc, driver pages).
SNOWFLAKE = {
    "username": "ann lee",
    "adbc.snowflake.sql.account": "org-shop",
    "adbc.snowflake.sql.db": "CRM",
    "adbc.snowflake.sql.schema": "PUBLIC",
    "adbc.snowflake.sql.warehouse": "SMALL",
    "adbc.snowflake.sql.role": "READER",
}
SNOWFLAKE_URL = "snowflake://ann%20lee@org-shop/CRM/PUBLIC?warehouse=SMALL&role=READER"


@pytest.mark.parametrize(
    ("variable", "more"),
    [
        ("SNOWFLAKE_PASSWORD", {"password": "invented"}),
        (
            "SNOWFLAKE_TOKEN",
            {
                "adbc.snowflake.sql.auth_type": "auth_pat",
                "adbc.snowflake.sql.client_option.auth_token": "invented",
            },
        ),
        (
            "SNOWFLAKE_PRIVATE_KEY_FILE",
            {
                "adbc.snowflake.sql.auth_type": "auth_jwt",
                "adbc.snowflake.sql.client_option.jwt_private_key": "invented",
            },
        ),
    ],
)
def test_snowflake(variable: str, more: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """By a password, a token, or a file with a key."""
    assert _options(SNOWFLAKE_URL) == SNOWFLAKE
    monkeypatch.setenv(variable, "invented")
    assert _options(SNOWFLAKE_URL) == SNOWFLAKE | more


def test_bigquery() -> None:
    """By the default credentials of the machine."""
    assert _options("bigquery://shop-1/crm?location=EU") == {
        "adbc.bigquery.sql.auth_type": "adbc.bigquery.sql.auth_type.auth_bigquery",
        "adbc.bigquery.sql.project_id": "shop-1",
        "adbc.bigquery.sql.dataset_id": "crm",
        "adbc.bigquery.sql.location": "EU",
    }


def test_postgresql_is_given_the_url_as_it_stands() -> None:
    """With a name for its list of connections; the rest is for libpq."""
    assert _options("postgresql://ann@host/shop") == {
        "uri": "postgresql://ann@host/shop?fallback_application_name=audiencekit"
    }
    assert _options("postgres://host/shop?sslmode=require")["uri"].endswith(
        "?sslmode=require&fallback_application_name=audiencekit"
    )


@each_case(
    "url",
    [
        *("snowflake://account/shop", "snowflake://ann@account", "snowflake://ann@account/a/b/c"),
        *("bigquery:///x", "bigquery://a/b/c", "grpc://", "grpc://host/path", "grpc://host?x=1"),
    ],
)
def test_a_url_that_leaves_out_what_is_needed_is_refused(url: str) -> None:
    """With the form."""
    with pytest.raises(UsageError, match="names no") as caught:
        connecting_of(DatabaseUrl.parse(url))
    assert "://" in caught.value.hint


@pytest.fixture
def flight() -> Iterator[Any]:
    """A server that answers any statement of Flight SQL with the same two rows, and remembers who asked."""
    flight = pytest.importorskip("pyarrow.flight", reason="this build of Arrow has no Flight")
    pytest.importorskip("adbc_driver_flightsql", reason="the extra flightsql is not installed")
    table = pa.table({"email": ["ann@example.com", "bob@example.com"]})

    class Middleware(flight.ServerMiddleware):  # type: ignore[misc]
        pass

    class Factory(flight.ServerMiddlewareFactory):  # type: ignore[misc]
        def __init__(self) -> None:
            self.heard: list[Any] = []

        def start_call(self, info: Any, headers: Any) -> Any:
            self.heard += headers.get("authorization", [])
            return Middleware()

    class Server(flight.FlightServerBase):  # type: ignore[misc]
        def get_flight_info(self, context: Any, descriptor: Any) -> Any:
            if b"CommandStatementQuery" not in descriptor.command:
                raise flight.FlightUnimplementedError("a server need not say anything of itself")
            if b"fails" in descriptor.command:
                raise flight.FlightServerError("ann@example.com is not what it should be")
            endpoint = flight.FlightEndpoint(b"rows", [f"grpc://127.0.0.1:{self.port}"])
            return flight.FlightInfo(table.schema, descriptor, [endpoint], 2, -1)

        def do_get(self, context: Any, ticket: Any) -> Any:
            return flight.RecordBatchStream(table)

    factory = Factory()
    with Server("grpc://127.0.0.1:0", middleware={"who": factory}) as server:
        server.heard = factory.heard
        yield server


def test_flight_sql(flight: Any, rows_of: Callable[..., list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows come; the token is in the header, and in no URL."""
    monkeypatch.setenv("FLIGHTSQL_TOKEN", "invented")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "127.0.0.1")
    rows = rows_of(open_source(from_sql(f"grpc://127.0.0.1:{flight.port}", "SELECT email"), SourceOptions()))
    assert [list(row.values())[-1] for row in rows] == ["ann@example.com", "bob@example.com"]
    assert "Bearer invented" in flight.heard
    with pytest.raises((UsageError, InputOutputFailed)) as caught:
        open_source(from_sql(f"grpc://127.0.0.1:{flight.port}", "SELECT fails"), SourceOptions())
    assert "ann@" not in f"{caught.value}{caught.value.hint}"
