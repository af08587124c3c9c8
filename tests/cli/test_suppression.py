"""`--suppress` and `--consent-column` as people and programs use them: real processes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Run


@pytest.fixture
def source(tmp_path: Path) -> str:
    """Three people, one of whom says no."""
    path = tmp_path / "list.csv"
    path.write_text("email,ok\nada@example.com,yes\nbob@example.com,no\ncyd@example.com,yes\n")
    return str(path)


def test_both_are_counted(run: Run, source: str) -> None:
    """In the plan for programs and in that for people; a list may be piped in."""
    given = ("check", source, "--suppress", "-", "--consent-column", "ok=yes")
    done = run(*given, "--json", text="email\nada@example.com\n")
    rows = json.loads(done.stdout)["rows"]
    assert (done.returncode, rows["suppressed"], rows["pending"], rows["read"]) == (0, 2, 1, 3)
    assert "suppressed             2" in run(*given, text="email\nada@example.com\n").stdout


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--consent-column", "ok"), 2, "NAME=VALUE"),
        (("--consent-column", "newsletter=yes"), 3, "there is no column"),
        (("--suppress", "nowhere.csv"), 3, "nowhere.csv"),
        (("--suppress", "empty.csv"), 3, "say nobody"),
        (("--suppress", "list.csv"), 3, "nobody is left"),
    ],
)
def test_when_in_doubt_nothing_is_ready(
    run: Run, tmp_path: Path, source: str, options: tuple[str, str], code: int, words: str
) -> None:
    """With the exit code that fits, and what to do."""
    (tmp_path / "empty.csv").write_text("email\n")
    done = run("check", source, *options)
    assert (done.returncode, words in done.stderr) == (code, True), done.stderr
