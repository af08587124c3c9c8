"""`vectors` and `verify`: what they print, and their exit codes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from audiencekit.cli.verify import vectors
from audiencekit.conformance.rule_sets import RULE_SETS
from tests.cases import each_case
from tests.cli.conftest import Run
from tests.reporting.webpages import PageNumbers


def _lists(tmp_path: Path, *, upper: bool) -> list[str]:
    people = [f"p{number}@example.com" for number in range(5)]
    digests = [hashlib.sha256(person.encode()).hexdigest() for person in people]
    (tmp_path / "raw.csv").write_text("email\n" + "\n".join(people) + "\n")
    (tmp_path / "hashed.csv").write_text("x\n" + "\n".join(each.upper() if upper else each for each in digests) + "\n")
    return [str(tmp_path / "raw.csv"), str(tmp_path / "hashed.csv")]


@pytest.mark.parametrize(("upper", "code", "last"), [(False, 0, "verdict: right"), (True, 3, "verdict: wrong")])
def test_two_lists_are_compared(run: Run, tmp_path: Path, upper: bool, code: int, last: str) -> None:
    """The exit code says whether all are right."""
    done = run("verify", *_lists(tmp_path, upper=upper), "--hashed-map", "email=x")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (code, last)


def test_the_json_document_has_the_faults(run: Run, tmp_path: Path) -> None:
    """By their stable codes."""
    done = run("verify", *_lists(tmp_path, upper=True), "--map", "email=email", "--country", "DE", "--json")
    document = json.loads(done.stdout)
    assert [(fault["code"], fault["rows"]) for fault in document["faults"]] == [("upper_hex", 5)]
    assert document["verdict"] == "wrong"


def test_the_page_has_the_counts_and_no_digest(run: Run, tmp_path: Path) -> None:
    """It is written beside the text, also when digests are wrong; a shared one hides the five."""
    lists = _lists(tmp_path, upper=True)
    done = run("verify", *lists, "--html", "page.html")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (3, "verdict: wrong")
    assert "the page is in 'page.html'" in done.stderr
    page = (tmp_path / "page.html").read_text()
    assert PageNumbers(page).cells["faults.0.rows"] == "5"
    assert "example.com" not in page
    assert hashlib.sha256(b"p1@example.com").hexdigest() not in page.lower()
    assert run("verify", *lists, "--html", "page.html", "--share").returncode == 3
    assert "fewer than 10" in PageNumbers((tmp_path / "page.html").read_text()).text


@each_case(
    "words",
    [
        (),
        ("raw.csv", "hashed.csv", "--share"),
        ("raw.csv",),
        ("raw.csv", "hashed.csv", "--kind", "email"),
        ("raw.csv", "hashed.csv", "--command", "true", "--kind", "email"),
        ("--command", "true"),
        ("--command", "'true", "--kind", "email"),
        ("--command", "true", "--kind", "email", "--country-column", "land"),
        ("--sql", "value"),
        ("--sql", "value", "--url", "http://127.0.0.1:9/", "--kind", "email"),
        ("raw.csv", "hashed.csv", "--sql", "value", "--kind", "email"),
        ("--url", "http://example.com/", "--kind", "email"),
    ],
)
def test_lists_and_a_program_exclude_each_other(run: Run, words: tuple[str, ...]) -> None:
    """The message says what is missing, or too much."""
    done = run("verify", *words)
    assert done.returncode == 2
    assert done.stderr.startswith("error:")


def test_an_expression_is_checked_and_nothing_else_is_said(run_process: Run) -> None:
    """Neither by DuckDB at the end of the process."""
    done = run_process("verify", "--sql", "sha256(lower(value))", "--kind", "handle")
    assert (done.returncode, done.stdout.splitlines()[-1], done.stderr) == (3, "verdict: wrong", "")


def test_vectors_are_lines_of_json(run: Run) -> None:
    """Of one kind and rule set."""
    done = run("vectors", "--rule-set", "uid2", "--kind", "email")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) > 1_000
    assert {(line["rule_set"], line["kind"]) for line in lines} == {("uid2", "email")}


def test_every_rule_set_can_be_asked_for() -> None:
    """The command does not load them for its help."""
    choices = next(option.type for option in vectors.params if option.name == "rule_set")
    assert tuple(choices.choices) == tuple(RULE_SETS)  # type: ignore[attr-defined]
