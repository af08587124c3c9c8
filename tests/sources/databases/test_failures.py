"""Errors of a database become ours by their SQLSTATE; their text, which quotes values, is left behind."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from audiencekit.errors import AudiencekitError, InputOutputFailed, SourceRefused, UsageError
from audiencekit.sources.databases.failures import query_failure

SQL = "SELECT email,\n  phne FROM people"


class Failed(Exception):
    """As ADBC raises them."""

    def __init__(self, sqlstate: str | None, status: str = "UNKNOWN", details: Any = ()) -> None:
        super().__init__("ann@example.com is not what it should be")
        self.sqlstate, self.status_code, self.details = sqlstate, SimpleNamespace(name=status), details


# Classes and codes by Appendix A of PostgreSQL's manual.
@pytest.mark.parametrize(
    ("sqlstate", "kind", "words"),
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


@pytest.mark.parametrize(
    ("status", "kind"),
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
