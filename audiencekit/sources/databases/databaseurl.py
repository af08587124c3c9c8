"""The URL of a database: which one, where, and nothing secret."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, Self
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from audiencekit.errors import UsageError

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
        """Raises UsageError for what is no such URL, and for one that holds a secret; neither is quoted."""
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
        """Those behind the question mark."""
        return dict(parse_qsl(self.parts.query))


def _split(text: object) -> SplitResult:
    try:
        parts = urlsplit(text if isinstance(text, str) else "")
        _ = parts.port, parts.password
        return parts
    except ValueError:
        pass
    raise UsageError("`from_sql=` is no URL", hint=f"write {_FORMS}")
