"""`--from-sql`: the query to a database in the place of files."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import click

from audiencekit.cli.output import leave_with
from audiencekit.errors import AudiencekitError

F = TypeVar("F", bound=Callable[..., Any])


def perhaps_from_database(function: F) -> F:
    """`function` with the query to a database as its source, where there is one."""

    @wraps(function)
    def call(source: Any, from_sql: str | None, sql: str | None, **given: Any) -> Any:
        if from_sql is not None:
            source = _query(source, from_sql, sql, as_json=given.get("as_json", False))
        elif sql is not None:
            raise click.UsageError("--sql needs --from-sql URL: a database executes the query.")
        return function(source=source, **given)

    return cast("F", call)


def needs_source(function: F) -> F:
    """`function`, which needs files or a query."""

    @wraps(function)
    def call(source: Any, **given: Any) -> Any:
        if not source:
            raise click.UsageError("Missing argument 'SOURCE...'.")
        return function(source=source, **given)

    return cast("F", call)


def _query(source: tuple[str, ...], url: str, sql: str | None, *, as_json: bool) -> Any:
    from audiencekit.sources.databases.databasequery import from_sql

    if source:
        raise click.UsageError("--from-sql stands in the place of files: give one of them.")
    if sql is None:
        raise click.UsageError("--from-sql needs --sql @FILE with the query that the database executes.")
    try:
        return from_sql(url, sql)
    except AudiencekitError as error:
        leave_with(error, as_json=as_json)
