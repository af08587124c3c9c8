"""Exit codes, and what every command has in common."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from audiencekit import cli
from tests.cases import each_case
from tests.cli.conftest import Run, write_source

# As libraries in Rust raise it.
PanicException = type("PanicException", (BaseException,), {"__module__": "pyo3_runtime"})


@each_case(
    "arguments, code",
    [
        (["upload", "list.csv"], 2),
        (["upload", "list.csv", "--audience", "abc"], 2),
        (["upload", "list.csv", "--audience", "../x"], 2),
        (["check", "missing.csv"], 3),
        (["check", "."], 3),
        (["check", "list.csv", "--map", "mail=x"], 2),
        (["check", "list.csv", "--map", "email=nowhere"], 3),
        (["check", "list.csv", "--country", "Atlantis"], 2),
        (["check", "list.csv", "--expires-at", "2001-01-01"], 2),
        (["check", "list.csv", "--operation", "update", "--operation-column", "email"], 2),
        (["report", "nonsense"], 2),
        (["resume", "nonsense"], 2),
        (["resume"], 2),
        (["hash", "partner_user_id"], 2),
        (["emulator", "--rate", "many"], 2),
        (["nonsense"], 2),
        (["check", "list.csv"], 0),
        (["runs"], 0),
    ],
)
def test_exit_codes(run: Run, tmp_path: Path, arguments: list[str], code: int) -> None:
    """As the contract has them; a failure says something on stderr and never a traceback."""
    write_source(tmp_path, "email\nada@example.com\n")
    done = run(*arguments)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert bool(done.stderr) or code == 0


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["check", "list.csv"], 0), (["check", "missing.csv"], 3), (["runs"], 0), (["nonsense"], 2), (["--version"], 0)],
)
def test_the_end_of_the_process_is_given_its_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int
) -> None:
    """Commands that leave by themselves, too: else a signal at the end would still change the code."""
    write_source(tmp_path, "email\nada@example.com\n")
    known: list[int] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AUDIENCEKIT_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setattr(cli, "set_up_own_process", lambda: None)  # this one is pytest's
    monkeypatch.setattr(cli, "end_own_process", known.append)
    monkeypatch.setattr(sys, "argv", ["audiencekit", *arguments])
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert known == [left.value.code] == [code]


@each_case(
    "option",
    [
        ["--ttl-days", "3000000"],
        ["--plan-time", "9999-12-31T00:00:00Z"],
        ["--expires-at", "0001-01-01T00:00:00+14:00"],
    ],
)
def test_times_beyond_the_calendar_are_usage(run: Run, tmp_path: Path, option: list[str]) -> None:
    """Not bugs."""
    assert run("check", write_source(tmp_path, "email\nada@example.com\n"), *option).returncode == 2


def test_every_command_explains_itself(run: Run) -> None:
    """--help of each."""
    for command in ([], *([name] for name in cli.COMMANDS)):
        done = run(*command, "--help")
        assert (done.returncode, "Usage:" in done.stdout) == (0, True)


@pytest.mark.parametrize("kind", [ValueError, BaseException, PanicException, asyncio.CancelledError])
def test_an_unexpected_error_is_a_bug_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kind: type[BaseException]
) -> None:
    """Neither its text nor its frames are shown, whatever it is."""

    def stumble(**_: object) -> None:
        raise kind("ada@canarymail.com")

    monkeypatch.setattr(cli.cli, "main", stumble)
    assert cli._run() == 1
    said = capsys.readouterr().err
    assert said.startswith(f"bug: {kind.__name__} in stumble:")
    assert "canarymail" not in said
    assert "Traceback" not in said
