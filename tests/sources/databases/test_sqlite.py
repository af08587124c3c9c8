"""A query to a file of SQLite: every cell as it is stored, read only; or a refusal in our words."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from audiencekit import from_sql
from audiencekit.errors import AudiencekitError, InputOutputFailed, SourceRefused, UsageError
from audiencekit.sources import frames as rowobjects
from audiencekit.sources.databases import sqlite
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.source import open_source
from tests.cases import each_case

RowsOf = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A file of people, whose phones are numbers at first and texts later."""
    path = tmp_path / "lists ? #%41.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE people (email, phone)")
        rows = [(f"p{n}@example.com", 493012345600 + n if n < 5_000 else f"+49301234{n}") for n in range(6_000)]
        connection.executemany("INSERT INTO people VALUES (?, ?)", rows)
    connection.close()
    return path


def _url(path: Path) -> str:
    return f"sqlite:///{path}".replace("?", "%3F").replace("#", "%23").replace("%41", "%2541")


def _read(path: Path, sql: str) -> list[dict[str, Any]]:
    source = open_source(from_sql(_url(path), sql), SourceOptions(columns=(("email", "email"),)))
    return [row for batch in source.batches() for row in batch.columns.unwrap().to_pylist()]


def test_cells_of_several_types_are_read(people: Path, rows_of: RowsOf) -> None:
    """However far down the other type begins. The name of the file is as it stands."""
    query = from_sql(_url(people), "WITH RECURSIVE n(i) AS (SELECT 1) SELECT email, phone FROM people")
    rows = rows_of(open_source(query, SourceOptions(columns=(("email", "email"), ("phone_number", "phone")))))
    assert [list(rows[place].values())[-1] for place in (0, 4_999, -1)] == [
        "493012345600", "493012350599", "+493012345999",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT email FROM nowhere",
        "SELECT load_extension('x') AS email",
        "SELECT email FROM people WHERE (SELECT 1 FROM pragma_journal_mode('wal'))",
        "WITH a AS (SELECT 1) DELETE FROM people",
        "WITH a AS (SELECT 1) INSERT INTO people SELECT 1, 2",
    ],
)
def test_a_statement_that_is_no_query_is_refused(people: Path, sql: str) -> None:
    """And changes nothing."""
    before = people.read_bytes()
    with pytest.raises(UsageError, match="SQLite does not take the query"):
        _read(people, sql)
    assert people.read_bytes() == before
    assert [path.name for path in people.parent.iterdir()] == [people.name]


def test_two_columns_of_one_name_are_refused(people: Path) -> None:
    """The tables of a join have each its person; and the file is closed."""
    with pytest.raises(UsageError, match="columns 1 and 3 of the query have the same name") as caught:
        _read(people, "SELECT a.email, b.phone, b.Email FROM people a JOIN people b ON b.phone = a.phone + 1")
    assert "AS partner_email" in caught.value.hint
    assert len(_read(people, "SELECT a.email, b.email AS other FROM people a JOIN people b USING (phone)")) == 6_000


def test_files_that_cannot_be_read_are_refused(people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Missing, locked, damaged, or of another format."""
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, timeout=0.01))
    text = tmp_path / "people.csv"
    text.write_text("email\nann@example.com\n" * 100)
    damaged = tmp_path / "damaged.db"
    data = people.read_bytes()
    damaged.write_bytes(data[:4_096] + b"x" * 8_192 + data[12_288:])
    cases: list[tuple[Path, type[AudiencekitError], str]] = [
        (tmp_path / "nowhere.db", SourceRefused, "no such file"),
        (text, SourceRefused, "damaged, or is none"),
        (damaged, SourceRefused, "damaged, or is none"),
    ]
    for path, kind, words in cases:
        with pytest.raises(kind, match=words):
            _read(path, "SELECT email FROM people")
    with sqlite3.connect(people, isolation_level=None) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        with pytest.raises(InputOutputFailed, match="SQLITE_BUSY"):
            _read(people, "SELECT email FROM people")
    connection.close()


def test_text_that_is_not_utf_8_is_refused(people: Path) -> None:
    """It is not replaced, nor quoted."""
    with pytest.raises(SourceRefused, match="no text in UTF-8"):
        _read(people, "SELECT email FROM people UNION ALL SELECT CAST(x'ff61' AS TEXT)")
    with pytest.raises(SourceRefused, match="column2 of the result holds bytes that are not UTF-8"):
        _read(people, "SELECT email, x'ff61' FROM people")


@each_case("url", ["sqlite:///", "sqlite://host/people.db", "sqlite:///people.db?mode=rw"])
def test_a_url_without_a_file_is_refused(url: str) -> None:
    """With the form."""
    with pytest.raises(UsageError, match="names no file"):
        open_source(from_sql(url, "SELECT 1"), SourceOptions())


@pytest.mark.parametrize(
    "view",
    [
        "SELECT zeroblob(900000000) AS email",
        "SELECT hex(zeroblob(400000000)) AS email",
        "SELECT group_concat(email, replace(hex(zeroblob(100000)), '0', 'x')) AS email FROM people",
    ],
)
def test_a_value_of_a_view_is_bounded(view: str, people: Path) -> None:
    """SQLite makes a gigabyte of a few words of the file, which is refused before it is made."""
    with sqlite3.connect(people) as connection:
        connection.execute(f"CREATE VIEW planted AS {view}")
    with pytest.raises(SourceRefused, match="a value of more than 1,000,000 bytes"):
        _read(people, "SELECT email FROM planted")


@pytest.mark.slow
def test_many_large_values_are_fetched_few_at_a_time(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is within the bound of one value, and all of them together would be ten gigabytes."""
    with sqlite3.connect(people) as connection:
        connection.execute(
            "CREATE VIEW planted AS SELECT replace(hex(zeroblob(450000)), '0', 'x') AS email FROM people"
        )
    sizes: list[int] = []
    made = rowobjects._batch
    monkeypatch.setattr(rowobjects, "_batch", lambda rows, schema: sizes.append(len(rows)) or made(rows, schema))
    batches = open_source(
        from_sql(_url(people), "SELECT email FROM planted LIMIT 400"), SourceOptions(columns=(("email", "email"),))
    )
    with pytest.raises(SourceRefused, match="too large for an identifier"):
        list(batches.batches())
    assert sum(sizes) >= 400
    assert max(sizes) <= 200


def test_a_large_value_beside_the_wanted_ones_is_none(people: Path) -> None:
    with sqlite3.connect(people) as connection:
        connection.execute("CREATE TABLE pictures AS SELECT email, zeroblob(5000000) AS picture FROM people LIMIT 3")
    assert len(_read(people, "SELECT email FROM pictures")) == 3


@pytest.mark.parametrize("gives", ["no row", "no row after some"])
def test_a_view_that_works_on_without_rows_is_ended(gives: str, people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its work is counted, and no clock is asked."""
    monkeypatch.setattr(sqlite, "MOST_STEPS", 20_000_000)
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
    with sqlite3.connect(people) as connection:
        connection.execute(
            f"CREATE VIEW planted AS {endless} SELECT 'p' || i || '@example.com' AS email FROM n"
            f" WHERE i < {0 if gives == 'no row' else 5_000}"
        )
    with pytest.raises(SourceRefused, match="works on and gives no rows"):
        _read(people, "SELECT email FROM planted")
