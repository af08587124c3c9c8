"""One query by an ADBC driver: connect, begin a read-only transaction, fetch the rows in batches of Arrow."""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Generator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from typing import Any, Final

from audiencekit.errors import InputOutputFailed, UsageError
from audiencekit.sources.databases.databases import SECRETS, DatabaseUrl, LongWork, query_failure
from audiencekit.sources.frames import BatchReader
from audiencekit.text import install_extra, shown

_SHOWN_LENGTH: Final = 200  # letters of what a driver says of a connection


@dataclass(frozen=True, slots=True)
class Connecting:
    """How a driver reaches its database: the arguments of its `connect`, and the statements before the query."""

    driver: str
    arguments: dict[str, Any] = field(repr=False)
    begin: tuple[str, ...] = ()


def read_by_adbc(connecting: Connecting, url: DatabaseUrl, sql: str) -> BatchReader:
    """The rows of the query, begun. Raises UsageError for a driver that is not installed and for a query that the
    database does not take, InputOutputFailed when it cannot be reached."""
    if importlib.util.find_spec(connecting.driver) is None:
        raise UsageError(
            f"a query to {url.database} needs the package {connecting.driver.replace('_', '-')}",
            hint=install_extra(url.database),
        )
    with ExitStack() as stack:
        connection = stack.enter_context(_closing(_connected(connecting, url)))
        cursor = stack.enter_context(_closing(connection.cursor()))
        working = LongWork(cursor.adbc_cancel)
        reader = stack.enter_context(_closing(_begun(cursor, connecting, sql, working)))
        return BatchReader(reader.schema, _batches(reader, sql, working, stack.pop_all()))


def _connected(connecting: Connecting, url: DatabaseUrl) -> Any:
    driver = importlib.import_module(f"{connecting.driver}.dbapi")
    told = ""
    try:
        return driver.connect(**connecting.arguments)
    except driver.Error as error:
        # There are no rows yet. It names hosts and users, and never a password.
        first_line = str(error).strip().partition("\n")[0]
        told = shown(first_line.rpartition("Failed to connect: ")[2])[:_SHOWN_LENGTH]
    raise InputOutputFailed(f"the database cannot be reached: {told}", hint=SECRETS[url.database])


def _begun(cursor: Any, connecting: Connecting, sql: str, working: LongWork) -> Any:
    failure = None
    try:
        for statement in connecting.begin:
            cursor.execute(statement)
        working.result(lambda: cursor.execute(sql))
        return _reader_of(cursor)
    except _errors() as error:
        failure = query_failure(error, sql)
    raise failure


def _reader_of(cursor: Any) -> Any:
    """The rows. The reader of pyarrow would lose the SQLSTATE of a query that fails late; the one of ADBC keeps it."""
    try:
        from adbc_driver_manager._reader import AdbcRecordBatchReader
    except ImportError:
        return cursor.fetch_record_batch()
    stream = cursor.fetch_arrow()  # it is released with this object, unless the reader has it by then
    return AdbcRecordBatchReader._import_from_c(stream.address)


def _batches(reader: Any, sql: str, working: LongWork, stack: ExitStack) -> Generator[Any, None, None]:
    """Yield the batches. The connection is closed after the last, and when the caller stops earlier."""
    with stack:
        while (batch := _next(reader, sql, working)) is not None:
            yield batch


def _next(reader: Any, sql: str, working: LongWork) -> Any:
    failure = None
    try:
        return working.result(reader.read_next_batch)
    except StopIteration:
        return None
    except _errors() as error:
        failure = query_failure(error, sql)
    raise failure


def _errors() -> tuple[type[Exception], ...]:
    import adbc_driver_manager
    import pyarrow as pa

    return (adbc_driver_manager.Error, pa.ArrowException, OSError)


class _closing(closing[Any]):  # noqa: N801
    """`contextlib.closing` for a connection that may be lost by then: its rows were read, or are refused."""

    def __exit__(self, *exc_info: object) -> None:
        with suppress(*_errors()):
            super().__exit__(*exc_info)


# One moment, and nothing written. Texts as UTF-8, whatever the database holds them in.
_POSTGRESQL: Final = (
    "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
    "SET client_encoding TO 'UTF8'",
)
_SNOWFLAKE_PARAMETERS: Final = ("warehouse", "role")


def connecting_of(url: DatabaseUrl) -> Connecting:
    """How to reach the database of `url`. Raises UsageError for a URL that leaves out what the driver needs."""
    match url.database:
        case "snowflake":
            return _snowflake(url)
        case "bigquery":
            return _bigquery(url)
        case "flightsql":
            return _flight_sql(url)
    joint = "&" if url.parts.query else "?"
    # libpq heeds PGPASSWORD, PGSERVICE, .pgpass and the like.
    uri = f"{url.text}{joint}fallback_application_name=audiencekit"
    return Connecting("adbc_driver_postgresql", {"uri": uri}, _POSTGRESQL)


def _snowflake(url: DatabaseUrl) -> Connecting:
    place = url.path
    if url.user is None or not url.parts.hostname or not 1 <= len(place) <= 2:
        raise UsageError(
            "`from_sql=` names no database of Snowflake",
            hint="write snowflake://USER@ACCOUNT/DATABASE/SCHEMA?warehouse=NAME&role=NAME",
        )
    prefix = "adbc.snowflake.sql"
    options = {"username": url.user, f"{prefix}.account": url.parts.hostname}
    options |= dict(zip((f"{prefix}.db", f"{prefix}.schema"), place, strict=False))
    options |= {f"{prefix}.{name}": url.parameters[name] for name in _SNOWFLAKE_PARAMETERS if name in url.parameters}
    if key_file := os.environ.get("SNOWFLAKE_PRIVATE_KEY_FILE"):
        options |= {f"{prefix}.auth_type": "auth_jwt", f"{prefix}.client_option.jwt_private_key": key_file}
    elif token := os.environ.get("SNOWFLAKE_TOKEN"):
        options |= {f"{prefix}.auth_type": "auth_pat", f"{prefix}.client_option.auth_token": token}
    elif password := os.environ.get("SNOWFLAKE_PASSWORD"):
        options["password"] = password
    return Connecting("adbc_driver_snowflake", {"db_kwargs": options, "autocommit": True})


def _bigquery(url: DatabaseUrl) -> Connecting:
    if not url.parts.hostname or len(url.path) > 1:
        raise UsageError(
            "`from_sql=` names no project of BigQuery", hint="write bigquery://PROJECT/DATASET?location=EU"
        )
    prefix = "adbc.bigquery.sql"
    options = {f"{prefix}.auth_type": f"{prefix}.auth_type.auth_bigquery", f"{prefix}.project_id": url.parts.hostname}
    if url.path:
        options[f"{prefix}.dataset_id"] = url.path[0]
    if "location" in url.parameters:
        options[f"{prefix}.location"] = url.parameters["location"]
    return Connecting("adbc_driver_bigquery", {"db_kwargs": options, "autocommit": True})


def _flight_sql(url: DatabaseUrl) -> Connecting:
    if not url.parts.hostname or url.path or url.parts.query:
        raise UsageError("`from_sql=` names no server of Flight SQL", hint="write grpc+tls://USER@HOST:PORT")
    options: dict[str, str] = {}
    if token := os.environ.get("FLIGHTSQL_TOKEN"):
        options["adbc.flight.sql.authorization_header"] = f"Bearer {token}"
    elif url.user is not None:
        options |= {"username": url.user, "password": os.environ.get("FLIGHTSQL_PASSWORD", "")}
    place = url.parts.netloc.rpartition("@")[2]
    uri = f"{url.parts.scheme}://{place}"
    return Connecting("adbc_driver_flightsql", {"uri": uri, "db_kwargs": options, "autocommit": True})
