"""A query to a database as a source. It comes once: the same query may have another result a moment later."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Self, TypeVar
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from audiencekit.errors import AudiencekitError, InputOutputFailed, SourceRefused, UsageError
from audiencekit.sources.bytes.files import WAIT_ON, result_of
from audiencekit.sources.frames import BatchReader, Frame


class DatabaseQuery(Frame):
    """A query to a database, as `from_sql` makes it. It is executed when the source is opened."""

    mark: ClassVar[str] = "query to a database"


class Query:
    """One query and the database that executes it. Its text may name people."""

    def __init__(self, url: DatabaseUrl, sql: str) -> None:
        self._url, self._sql = url, sql

    def open_reader(self) -> BatchReader:
        """Return a reader of the rows, after the query began. Raises UsageError, InputOutputFailed, SourceRefused."""
        reader = self._begin()
        names = [name.casefold() for name in reader.schema.names]
        again = next((place for place, name in enumerate(names) if name in names[:place]), None)
        if again is None:
            return reader
        reader.close()
        raise UsageError(
            f"columns {names.index(names[again]) + 1} and {again + 1} of the query have the same name",
            hint="they may be of two people: give each a name, such as `p.email AS partner_email`",
        )

    def _begin(self) -> BatchReader:
        # A driver is heavy, and most sources are files.
        if self._url.database == "sqlite":
            from audiencekit.sources.databases.sqlite import read_sqlite

            return read_sqlite(self._url, self._sql)
        from audiencekit.sources.databases.adbc import connecting_of, read_by_adbc

        return read_by_adbc(connecting_of(self._url), self._url, self._sql)


def from_sql(url: str, sql: str) -> DatabaseQuery:
    """The rows of one SELECT that the database at `url` executes, to be given in place of a path.

    It is executed read only, when the source is opened, and read once. `url` is postgresql://HOST/DATABASE,
    sqlite:///FILE, snowflake://USER@ACCOUNT/DATABASE, bigquery://PROJECT or grpc+tls://HOST:PORT (Flight SQL). The
    environment has its password. Raises UsageError for a URL that holds one, and for what is not one SELECT.
    """
    refuse_other_statements(sql)
    return DatabaseQuery(Query(DatabaseUrl.parse(url), sql))


_SECRET: Final = re.compile(r"pass|secret|token|private_?key|credential", re.IGNORECASE)
_FILES: Final = frozenset({"passfile", "sslkey"})  # they name files, and hold nothing
_FORMS: Final = (
    "postgresql://HOST/DATABASE, sqlite:///FILE, snowflake://USER@ACCOUNT/DATABASE, bigquery://PROJECT or "
    "grpc+tls://HOST:PORT"
)
# Where each database has its secret from.
SECRETS: Final = {
    "postgresql": "PGPASSWORD, the file ~/.pgpass or a service (PGSERVICE) has the password",
    "sqlite": "a file needs none",
    "snowflake": "SNOWFLAKE_PASSWORD, SNOWFLAKE_TOKEN or SNOWFLAKE_PRIVATE_KEY_FILE has it",
    "bigquery": "GOOGLE_APPLICATION_CREDENTIALS names the file that has them",
    "flightsql": "FLIGHTSQL_PASSWORD or FLIGHTSQL_TOKEN has it",
}
_DATABASES: Final = {
    "postgresql": "postgresql",
    "postgres": "postgresql",
    "sqlite": "sqlite",
    "snowflake": "snowflake",
    "bigquery": "bigquery",
    "grpc": "flightsql",
    "grpc+tls": "flightsql",
}


@dataclass(frozen=True, slots=True)
class DatabaseUrl:
    """A URL that names a database. `database` is its kind, which is one of those in `SECRETS`."""

    database: str
    text: str = field(repr=False)
    parts: SplitResult = field(repr=False)

    @classmethod
    def parse(cls, text: object) -> Self:
        """Raise UsageError for any other text, and for a URL with a secret; neither is quoted."""
        parts = _split(text)
        database = _DATABASES.get(parts.scheme)
        if database is None:
            raise UsageError("`from_sql=` is not the URL of a database that is read", hint=f"write {_FORMS}")
        names = [name for name, _ in parse_qsl(parts.query, keep_blank_values=True)]
        if parts.password is not None or any(_SECRET.search(name) and name not in _FILES for name in names):
            raise UsageError(
                "`from_sql=` holds a password or a key, which lists of processes and histories of shells would show",
                hint=f"take it out: {SECRETS[database]}",
            )
        return cls(database, str(text), parts)

    @property
    def user(self) -> str | None:
        """The name of the user."""
        return None if self.parts.username is None else unquote(self.parts.username)

    @property
    def path(self) -> tuple[str, ...]:
        """The parts of the path."""
        return tuple(unquote(part) for part in self.parts.path.strip("/").split("/") if part)

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters after the question mark."""
        return dict(parse_qsl(self.parts.query))


def _split(text: object) -> SplitResult:
    try:
        parts = urlsplit(text if isinstance(text, str) else "")
        _ = parts.port, parts.password
        return parts
    except ValueError:
        pass
    raise UsageError("`from_sql=` is no URL", hint=f"write {_FORMS}")


_AGAIN: Final = "nothing was sent: run the same again"
_ITS_CLIENT: Final = "execute it with the client of the database, whose message says more"
_LOST: Final = re.compile("08|57P")  # connections, shut-downs
_UNFINISHED: Final = re.compile("40|53|58|XX")  # other transactions, resources, the system, faults of the server
_CANCELLED: Final = "57014"
_READ_ONLY: Final = "25006"
_NO_RIGHT: Final = re.compile("42501|28")
_WRONG_QUERY: Final = re.compile("42|0A|25")
_WRONG_WORDS: Final = frozenset({"NOT_FOUND", "INVALID_ARGUMENT", "NOT_IMPLEMENTED"})  # of drivers without SQLSTATE
_NO_RIGHTS: Final = frozenset({"UNAUTHENTICATED", "UNAUTHORIZED"})


def query_failure(error: BaseException, sql: str) -> AudiencekitError:
    """Why a query failed, or did not begin. `error` is one of ADBC."""
    state = getattr(error, "sqlstate", None)
    status = getattr(getattr(error, "status_code", None), "name", "")
    if not state:
        return _by_status(status)
    told = f"SQLSTATE {state}{_place(error, sql)}" if re.fullmatch("[0-9A-Z]{5}", state) else "no SQLSTATE"
    if state == _CANCELLED:
        return SourceRefused(
            f"the database ended the query ({told}): it took longer than allowed, or a person ended it",
            hint="allow more time, as with PGOPTIONS='-c statement_timeout=…', or make the query faster",
        )
    if state == _READ_ONLY:
        return UsageError(f"the query writes ({told}), and it is executed read only", hint="give a SELECT")
    if _NO_RIGHT.match(state):
        return InputOutputFailed(f"the database does not let this user read it ({told})", hint=_ITS_CLIENT)
    if _WRONG_QUERY.match(state):
        return UsageError(f"the database does not take the query ({told})", hint=_ITS_CLIENT)
    if _LOST.match(state):
        return InputOutputFailed(f"the connection to the database was lost ({told})", hint=_AGAIN)
    if _UNFINISHED.match(state):
        return InputOutputFailed(f"the database could not finish the query ({told})", hint=_AGAIN)
    return SourceRefused(
        f"the query failed on a row ({told}): a value is not what a function or CAST wants", hint=_ITS_CLIENT
    )


def _by_status(status: str) -> AudiencekitError:
    if status in _WRONG_WORDS:
        return UsageError("the database does not take the query", hint=_ITS_CLIENT)
    if status in _NO_RIGHTS:
        return InputOutputFailed("the database does not let this user read it", hint=_ITS_CLIENT)
    if status == "INVALID_DATA":
        return SourceRefused("the query failed on a row", hint=_ITS_CLIENT)
    return InputOutputFailed("the connection to the database was lost", hint=_AGAIN)


def _place(error: Any, sql: str) -> str:
    """Where in the query the error is, if the database says so."""
    details = {bytes(name): value for name, value in getattr(error, "details", None) or ()}
    position = details.get(b"PG_DIAG_STATEMENT_POSITION", b"")
    if not position.isdigit() or int(position) > len(sql):
        return ""
    before = sql[: int(position) - 1]
    return f", line {before.count(chr(10)) + 1}, column {len(before) - before.rfind(chr(10))}"


T = TypeVar("T")


class LongWork:
    """Work on one connection; `cancel` ends it from another thread. Made in the thread that opens the source."""

    def __init__(self, cancel: Callable[[], object]) -> None:
        self._cancel, self._wait_on = cancel, WAIT_ON.get()

    def result(self, work: Callable[[], T]) -> T:
        """Return the result of `work`. Raises its exceptions, and the one that ends the wait."""
        with ThreadPoolExecutor(1, "audiencekit-query") as pool:
            coming = pool.submit(work)
            try:
                return result_of(coming, self._wait_on)
            except BaseException:
                if not coming.done():
                    self._cancel()
                raise


_FIRST_WORDS: Final = ("SELECT", "WITH", "VALUES", "TABLE", "FROM")
# Comments, and all in which a semicolon ends nothing: texts, quoted names, and the texts of PostgreSQL between dollars.
_PASSED_OVER: Final = re.compile(
    r"""--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\$(\w*)\$.*?\$\1\$""", re.DOTALL
)


def refuse_other_statements(sql: object) -> None:
    """Raise UsageError unless this is the text of one SELECT."""
    if not isinstance(sql, str) or not sql.strip():
        raise UsageError("`sql=` holds no query", hint="it is the SELECT that the database executes")
    bare = _PASSED_OVER.sub(lambda found: " " if found[0][:2] in ("--", "/*") else "''", sql).strip()
    statement, _, rest = bare.partition(";")
    first = re.match(r"[\s(]*(\w+)", statement)
    if first is None or first[1].upper() not in _FIRST_WORDS:
        raise UsageError("`sql=` is no query", hint="it must be one SELECT, which may begin with WITH")
    if rest.strip("; \t\r\n"):
        raise UsageError("`sql=` holds more than one statement", hint="give one SELECT")
