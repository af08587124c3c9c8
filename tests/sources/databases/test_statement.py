"""One SELECT is a query, and nothing else is."""

from __future__ import annotations

import pytest

from audiencekit.errors import UsageError
from audiencekit.sources.databases.statement import refuse_other_statements


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT email FROM people",
        "  select 1 ;\n",
        "-- a comment; with more\nSELECT 1",
        "/* one; */ WITH a AS (SELECT 1) SELECT * FROM a; -- the end;",
        "(SELECT 1) UNION ALL (SELECT 2)",
        "VALUES ('a;b')",
        "TABLE people",
        "SELECT ';', \";\", `;`, $$;$$, $a$ ; $b$ ; $a$, 'it''s; so'",
    ],
)
def test_a_query_is_taken(sql: str) -> None:
    """Semicolons in texts, names and comments end nothing."""
    refuse_other_statements(sql)


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("", "holds no query"),
        (None, "holds no query"),
        (" -- nothing", "is no query"),
        ("DELETE FROM people", "is no query"),
        ("COPY people TO '/tmp/x'", "is no query"),
        ("EXPLAIN SELECT 1", "is no query"),
        ("SET TRANSACTION READ WRITE", "is no query"),
        ("/* SELECT */ DROP TABLE people", "is no query"),
        ("SELECT 1; DROP TABLE people", "more than one"),
        ("SELECT ''; DROP TABLE people --'", "more than one"),
        ("SELECT 1;\n-- a comment\nSELECT 2", "more than one"),
    ],
)
def test_anything_else_is_refused(sql: object, words: str) -> None:
    """Without a word of it: a query may name people."""
    with pytest.raises(UsageError, match=words) as caught:
        refuse_other_statements(sql)
    assert "people" not in str(caught.value)
