"""`--suppress` and `--consent-column` as people and programs use them: real processes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.fixture
def source(tmp_path: Path) -> str:
    """Write three people, one of them without consent."""
    path = tmp_path / "list.csv"
    path.write_text("email,ok\nada@example.com,yes\nbob@example.com,no\ncyd@example.com,yes\n")
    return str(path)


def test_both_are_counted(run: Run, source: str) -> None:
    """In the plan for programs and in that for people; a list may be piped in."""
    given = ("check", source, "--suppress", "-", "--consent-column", "ok=yes")
    done = run(*given, "--json", text="email\nada@example.com\n")
    rows = json.loads(done.stdout)["rows"]
    assert (done.returncode, rows["suppressed"], rows["pending"], rows["read"]) == (0, 2, 1, 3)
    assert "1 of 3 people ready, 33.3%; 2 kept out" in run(*given, text="email\nada@example.com\n").stdout


def test_lists_can_be_told_how_they_are_read(run: Run, tmp_path: Path, source: str) -> None:
    """By options of their own; the plan says what was read."""
    (tmp_path / "odd.txt").write_text("ada@example.com/x@example.com^gold\nbroken@example^gold\n")
    given = ("check", source, "--suppress", "odd.txt", "--suppress-map", "email=column1", "--suppress-no-header")
    given += ("--suppress-delimiter", "^", "--suppress-split-cells", "/", "--suppress-encoding", "cp1252")
    refused = run(*given)
    assert (refused.returncode, "row 2, column column1: invalid_syntax" in refused.stderr) == (3, True), refused.stderr
    done = run(*given, "--suppress-max-rejected-share", "0.5", "--verbose")
    assert done.returncode == 0, done.stderr
    assert "odd.txt: email in column1; 2 rows, 1 of them could not be read" in done.stdout


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--consent-column", "ok"), 2, "NAME=VALUE"),
        (("--consent-column", "newsletter=yes"), 3, "there is no column"),
        (("--suppress", "nowhere.csv"), 3, "nowhere.csv"),
        (("--suppress", "empty.csv"), 3, "no usable identifier"),
        (("--suppress", "list.csv"), 3, "no record is left"),
        (("--suppress-map", "email=mail"), 2, "--suppress-map: there is no suppression source"),
        (("--suppress", "list.csv", "--suppress-map", "email=mail"), 3, "suppression source: none has a column 'mail'"),
    ],
)
def test_when_in_doubt_nothing_is_ready(
    run: Run, tmp_path: Path, source: str, options: tuple[str, ...], code: int, words: str
) -> None:
    """With the exit code that fits, and what to do."""
    (tmp_path / "empty.csv").write_text("email\n")
    done = run("check", source, *options)
    assert (done.returncode, words in done.stderr) == (code, True), done.stderr
