"""`hash`: a line in, a line out."""

from __future__ import annotations

import hashlib
import json

import pytest

from tests.cli.conftest import Run


@pytest.mark.parametrize(
    ("kind", "options", "line", "expected"),
    [
        ("email", [], '" Ada@Example.com"', {"sha256": hashlib.sha256(b"ada@example.com").hexdigest()}),
        ("email", [], '"nonsense"', {"reason": "invalid_syntax"}),
        ("email", [], '""', {"reason": "empty"}),
        ("phone_number", ["--country", "GB"], '"020 7946 0958"', {
            "sha256": hashlib.sha256(b"+442079460958").hexdigest()}),
        ("phone_number", [], '"020 7946 0958"', {"reason": "no_country"}),
        ("handle", ["--show-normalized"], '"@Jack"', {
            "sha256": hashlib.sha256(b"jack").hexdigest(), "normalized": "jack"}),
        ("email", [], '"\\ud800@example.com"', {"reason": "invisible_character"}),
    ],
)  # fmt: skip
def test_hash_answers_line_by_line(
    run: Run, kind: str, options: list[str], line: str, expected: dict[str, str]
) -> None:
    """JSON strings in, one JSON object a line out."""
    done = run("hash", kind, *options, text=f"{line}\n{line}\n")
    assert [json.loads(answer) for answer in done.stdout.splitlines()] == [expected, expected]
    assert done.returncode == 0


def test_hash_refuses_what_is_no_json_string(run: Run) -> None:
    """The line is named, its content is not."""
    done = run("hash", "email", text='"ada@example.com"\nbo@example.com\n')
    assert done.returncode == 2
    assert "line 2" in done.stderr
    assert "bo@" not in done.stderr + done.stdout


def test_hash_answers_blank_lines_too(run: Run) -> None:
    """As many answers as lines, so that they stay side by side."""
    done = run("hash", "handle", text='"@ada"\n\n"@bo"\n')
    assert [list(json.loads(line)) for line in done.stdout.splitlines()] == [["sha256"], ["reason"], ["sha256"]]
