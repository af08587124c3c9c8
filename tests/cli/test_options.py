"""Options that several commands share: the values that they take, and the keywords that they become."""

from __future__ import annotations

import json
import logging
import re
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import pytest

from audiencekit.cli import cli
from audiencekit.cli.options import KindAndColumn, OutputPath, PeopleOrKeep, QueryFile, as_keywords, moment_of
from audiencekit.errors import UsageError
from audiencekit.planning.keywords import Keywords, SyncKeywords
from tests.cases import each_case
from tests.cli.conftest import Run, Service

KINDS = "write KIND=COLUMN with a kind of: "
PEOPLE = "is neither a number of people from 1 on nor keep"


@each_case(
    "kind, given, value",
    [
        (KindAndColumn(), "email=E-mail address", ("email", "E-mail address")),
        (KindAndColumn(), "email=a=b", ("email", "a=b")),
        (KindAndColumn(), ("email", "Mail"), ("email", "Mail")),
        (PeopleOrKeep(), "keep", "keep"),
        (PeopleOrKeep(), "1", 1),
        (PeopleOrKeep(), 5, 5),
        (OutputPath(dir_okay=False), "./-", "./-"),
        (OutputPath(dir_okay=False), "new.csv", "new.csv"),
    ],
)
def test_an_option_becomes_its_value(kind: click.ParamType[Any], given: Any, value: Any) -> None:
    """A default comes as a value, and stays so."""
    assert kind.convert(given, None, None) == value


@each_case(
    "kind, given, told",
    [
        *((KindAndColumn(), given, KINDS) for given in ("email", "email=", "=Mail", "mail=Mail", "EMAIL=Mail")),
        *((PeopleOrKeep(), given, PEOPLE) for given in ("0", "-1", "1.5", "", "Keep", "five", "٣")),
        (OutputPath(dir_okay=False), "-", "this is a file, not standard output: give a name, such as ./-"),
        (OutputPath(dir_okay=False), "/", "is a directory"),
        (QueryFile(), "SELECT 1", "write @FILE: others can see a command line, and a query may name people"),
        (QueryFile(), "@nowhere.sql", "the file cannot be read: No such file or directory"),
    ],
)
def test_an_invalid_option_says_the_form(kind: click.ParamType[Any], given: str, told: str) -> None:
    with pytest.raises(click.BadParameter, match=re.escape(told)):
        kind.convert(given, None, None)


def test_a_query_is_read_from_its_file(tmp_path: Path) -> None:
    """As UTF-8, and as nothing else."""
    path = tmp_path / "query.sql"
    path.write_text("SELECT 'é' AS email FROM people\n", encoding="utf-8")
    assert QueryFile().convert(f"@{path}", None, None) == "SELECT 'é' AS email FROM people\n"
    path.write_text("SELECT 'é'", encoding="latin-1")
    with pytest.raises(click.BadParameter, match="the file is not UTF-8"):
        QueryFile().convert(f"@{path}", None, None)


@each_case(
    "given, keywords",
    [
        ({}, {"header": None}),
        ({"country": None, "columns": (), "no_header": False, "suppress_no_header": False}, {"header": None}),
        ({"no_header": True}, {"header": False}),
        ({"suppress_no_header": True}, {"header": None, "suppress_header": False}),
        (
            {"country": "DE", "hashed": ("email",), "max_rejected_share": 0.0, "allow_empty": False},
            {"country": "DE", "hashed": ("email",), "max_rejected_share": 0.0, "allow_empty": False, "header": None},
        ),
    ],
)
def test_options_become_keywords(given: dict[str, Any], keywords: dict[str, Any]) -> None:
    """Those that were not given are left out; nothing else is, a zero and a False included."""
    assert as_keywords(given) == keywords


@each_case(
    "names, keywords, other",
    [
        (["check"], Keywords, set()),
        (["prepare"], Keywords, set()),
        (["upload"], Keywords, set()),
        (["sync"], SyncKeywords, set()),
        (
            ["do-not-reach", "upload"],
            Keywords,
            {"effective_at", "suppress", "consent_column", "confirm_partner_ids", "few_people"},
        ),
    ],
)
def test_every_keyword_is_an_option(names: list[str], keywords: type, other: set[str]) -> None:
    """As docs/python/functions.md says; `other` have no meaning for a do-not-reach list."""
    command: click.Command = cli
    for name in names:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), name)
        assert found is not None
        command = found
    options = {parameter.name for parameter in command.params} | {"header", "suppress_header"}
    missing = {name for name in keywords.__annotations__ if name not in options}
    assert {name for name in missing if not name.startswith("suppress_")} == other


URL = "sqlite:///shop.db"
QUERY = ("--from-sql", URL, "--sql", "@people.sql")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A database, and a query to it."""
    with sqlite3.connect(tmp_path / "shop.db") as connection:
        connection.execute("CREATE TABLE people (mail, country)")
        rows = [(f"p{number}@example.com", "DE") for number in range(300)]
        connection.executemany("INSERT INTO people VALUES (?, ?)", rows)
    connection.close()
    (tmp_path / "people.sql").write_text("SELECT mail AS email FROM people")
    return tmp_path


def test_it_says_beforehand_that_it_comes_once(run: Run, shop: Path) -> None:
    """And what makes it possible to resume."""
    done = run("check", *QUERY)
    assert done.returncode == 0, done.stderr
    assert "queries to a database can be read only once: give --keep-spool" in done.stdout
    document = json.loads(run("check", *QUERY, "--json").stdout)
    assert document["rows"]["read"] == 300
    assert document["plan"]["resumable"] is False


def test_it_gives_the_records_of_the_same_list_as_a_file(run: Run, shop: Path) -> None:
    """In `prepare`."""
    (shop / "people.csv").write_text("email\n" + "".join(f"p{number}@example.com\n" for number in range(300)))
    assert run("prepare", *QUERY, "--out", "a").returncode == 0
    assert run("prepare", "people.csv", "--out", "b").returncode == 0
    assert (shop / "a" / "records.parquet").read_bytes() == (shop / "b" / "records.parquet").read_bytes()


def test_it_is_uploaded_synced_and_erased(run: Run, service: Service, shop: Path) -> None:
    """The report names the source, and no host or query."""
    for command in ("upload", "sync"):
        done = run(command, *QUERY, "--audience", service.audience_id, "--json", **service.env)
        assert done.returncode == 0, done.stderr
        assert "shop.db" not in done.stdout
        assert "people.sql" not in done.stdout
    done = run("do-not-reach", "upload", *QUERY, "--json", **service.env)
    assert done.returncode == 0, done.stderr
    done = run("forget", *QUERY, "--json", **service.env)
    assert done.returncode == 0, done.stderr


@each_case("query", ["SELECT mail FROM people", "@nothing.sql", "@."])
def test_a_query_comes_from_a_file(run: Run, shop: Path, query: str) -> None:
    """On the command line other users could read it."""
    done = run("check", "--from-sql", URL, "--sql", query)
    assert done.returncode == 2
    assert "Invalid value for '--sql'" in done.stderr
    assert "mail" not in done.stderr


def test_no_log_has_a_word_of_a_query(run: Run, shop: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Although the site logs all that any process says."""
    (shop / "people.sql").write_text("SELECT mail AS email FROM people WHERE mail <> 'zz.canaryword@canarymail.com'")
    with caplog.at_level(1):
        logging.getLogger("site").debug("begun")
        done = run("check", *QUERY)
    assert done.returncode == 0, done.stderr
    assert "begun" in caplog.text
    assert "canaryword" not in caplog.text


@pytest.mark.parametrize("keeps", [False, True])
def test_a_run_that_was_cut_short(run: Run, service: Service, shop: Path, keeps: bool) -> None:
    """Goes on from its spool, or says that it cannot."""
    service.order({"fault": 22, "times": 1, "match": {"path": "*/users"}})
    kept = ["--keep-spool"] if keeps else []
    done = run("upload", *QUERY, "--audience", service.audience_id, *kept, **service.env)
    assert done.returncode != 0
    assert ("its records are kept" if keeps else "give --keep-spool") in done.stderr
    service.clear()
    done = run("resume", **service.env)
    assert done.returncode == (0 if keeps else 3), done.stderr
    assert keeps or "a source was a query to a database, which cannot be read again" in done.stderr


@each_case(
    "arguments, words",
    [
        (("--from-sql", URL), "needs --sql"),
        (("people.csv", "--sql", "@people.sql"), "--sql needs --from-sql"),
        (("people.csv", *QUERY), "in the place of files"),
        ((), "Missing argument 'SOURCE...'"),
        (("--from-sql", "postgresql://ann:hunter2@db.example.com/shop", "--sql", "@people.sql"), "--from-sql holds a"),
        ((*QUERY, "--delimiter", ";"), "--delimiter is for"),
    ],
)
def test_options_that_exclude_each_other_are_refused(
    run: Run, shop: Path, arguments: tuple[str, ...], words: str
) -> None:
    """With exit code 2, and without the password."""
    done = run("check", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "hunter2" not in done.stderr


NOW = datetime(2026, 11, 22, 12, 30, tzinfo=UTC)


@each_case(
    "given, moment",
    [
        ("7d", "2026-11-15T12:30:00Z"),
        ("2h", "2026-11-22T10:30:00Z"),
        ("2026-11-01", "2026-11-01T00:00:00Z"),
        ("2026-11-01T02:00:00+02:00", "2026-11-01T00:00:00Z"),
    ],
)
def test_a_time_and_an_age_are_moments(given: str, moment: str) -> None:
    """Ages count back from now."""
    assert moment_of(given, "--since", NOW) == moment


@each_case("given", ["yesterday", "7x", "-7d", ""])
def test_other_words_are_refused_by_the_name_of_the_option(given: str) -> None:
    """Which the caller has given."""
    with pytest.raises(UsageError, match="--since"):
        moment_of(given, "--since", NOW)
