"""`--from-sql`: the result of a query in the place of files, for every command that reads a list."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run, Service

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


@pytest.mark.parametrize("query", ["SELECT mail FROM people", "@nothing.sql", "@."])
def test_a_query_comes_from_a_file(run: Run, shop: Path, query: str) -> None:
    """On the command line other users could read it."""
    done = run("check", "--from-sql", URL, "--sql", query)
    assert done.returncode == 2
    assert "Invalid value for '--sql'" in done.stderr
    assert "mail" not in done.stderr


def test_no_log_has_a_word_of_a_query(shop: Path) -> None:
    """Although the site logs all that any process says."""
    (shop / "sitecustomize.py").write_text(
        f"import logging\nlogging.basicConfig(filename={str(shop / 'log')!r}, level=1)\n"
        "logging.getLogger('site').debug('begun')\n"
    )
    (shop / "people.sql").write_text("SELECT mail AS email FROM people WHERE mail <> 'zz.canaryword@canarymail.com'")
    done = subprocess.run(
        [sys.executable, "-m", "audiencekit", "check", *QUERY],
        env={**os.environ, "PYTHONPATH": str(shop), "AUDIENCEKIT_STATE_DIR": str(shop / "state")},
        cwd=shop, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    log = (shop / "log").read_text()
    assert "begun" in log
    assert "canaryword" not in log


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


@pytest.mark.parametrize(
    ("arguments", "words"),
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
