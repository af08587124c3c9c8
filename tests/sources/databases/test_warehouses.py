"""Each driver is told where its database is by the URL, and its secret by the environment alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest

from audiencekit import from_sql
from audiencekit.errors import InputOutputFailed, UsageError
from audiencekit.sources.databases.databaseurl import DatabaseUrl
from audiencekit.sources.databases.warehouses import connecting_of
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.sourceopening import open_source

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


@pytest.mark.parametrize(
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
