"""Options that several commands share: the values that they take, and the keywords that they become."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click
import pytest

from audiencekit.cli import cli
from audiencekit.cli.options import KindAndColumn, OutputPath, PeopleOrKeep, QueryFile, as_keywords
from audiencekit.planning.keywords import Keywords, SyncKeywords

KINDS = "write KIND=COLUMN with a kind of: "
PEOPLE = "is neither a number of people from 1 on nor keep"


@pytest.mark.parametrize(
    ("kind", "given", "value"),
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


@pytest.mark.parametrize(
    ("kind", "given", "told"),
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


@pytest.mark.parametrize(
    ("given", "keywords"),
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


@pytest.mark.parametrize(
    ("names", "keywords", "other"),
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
    ids=["check", "prepare", "upload", "sync", "do-not-reach upload"],
)
def test_every_keyword_is_an_option(names: list[str], keywords: type, other: set[str]) -> None:
    """As docs/python/keywords.md says; `other` have no meaning for a do-not-reach list."""
    command: click.Command = cli
    for name in names:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), name)
        assert found is not None
        command = found
    options = {parameter.name for parameter in command.params} | {"header", "suppress_header"}
    missing = {name for name in keywords.__annotations__ if name not in options}
    assert {name for name in missing if not name.startswith("suppress_")} == other
