"""A query to a database as a source. It comes once: the same query may have another result a moment later."""

from __future__ import annotations

from typing import ClassVar

from audiencekit.sources.databases.databaseurl import DatabaseUrl
from audiencekit.sources.databases.statement import refuse_other_statements
from audiencekit.sources.frames.frames import BatchReader, Frame


class DatabaseQuery(Frame):
    """A query to a database, as `from_sql` makes it. It is executed when the source is opened."""

    mark: ClassVar[str] = "query to a database"


class Query:
    """One query and the database that executes it. Its text may name people."""

    def __init__(self, url: DatabaseUrl, sql: str) -> None:
        self._url, self._sql = url, sql

    def open_reader(self) -> BatchReader:
        """The rows, begun. Raises UsageError, InputOutputFailed, SourceRefused."""
        # A driver is heavy, and most sources are files.
        if self._url.database == "sqlite":
            from audiencekit.sources.databases.sqlitereading import read_sqlite

            return read_sqlite(self._url, self._sql)
        from audiencekit.sources.databases.adbcreading import read_by_adbc
        from audiencekit.sources.databases.warehouses import connecting_of

        return read_by_adbc(connecting_of(self._url), self._url, self._sql)


def from_sql(url: str, sql: str) -> DatabaseQuery:
    """The rows of one SELECT that the database at `url` executes, to be given in place of a path.

    It is executed read only, when the source is opened, and read once. `url` is postgresql://HOST/DATABASE,
    sqlite:///FILE, snowflake://USER@ACCOUNT/DATABASE, bigquery://PROJECT or grpc+tls://HOST:PORT (Flight SQL). The
    environment has its password. Raises UsageError for a URL that holds one, and for what is not one SELECT.
    """
    refuse_other_statements(sql)
    return DatabaseQuery(Query(DatabaseUrl.parse(url), sql))
