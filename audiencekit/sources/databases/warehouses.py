"""How the drivers of ADBC reach their databases: options from the URL, secrets from the environment alone."""

from __future__ import annotations

import os
from typing import Final

from audiencekit.errors import UsageError
from audiencekit.sources.databases.adbcreading import Connecting
from audiencekit.sources.databases.databaseurl import DatabaseUrl

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
