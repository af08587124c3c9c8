"""Options of the whole tool: colour, quiet, verbose, and the log."""

from __future__ import annotations

import io
import json
import os
import re
import stat
from pathlib import Path
from typing import Any

import pytest

from audiencekit.cli.log_file import LogFile
from audiencekit.cli.main import Manner
from tests.canary.markers import HEX, WORD
from tests.cli.conftest import Run, Service

ESCAPE = "\x1b["


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.parametrize(
    ("colour", "stream", "variables", "expected"),
    [
        ("auto", Terminal(), {}, True),
        ("auto", io.StringIO(), {}, False),
        ("auto", Terminal(), {"NO_COLOR": "1"}, False),
        ("auto", Terminal(), {"NO_COLOR": ""}, True),  # no-color.org: when present and not empty
        ("auto", Terminal(), {"TERM": "dumb"}, False),
        ("auto", None, {}, False),
        ("always", io.StringIO(), {"NO_COLOR": "1"}, True),
        ("never", Terminal(), {}, False),
    ],
)
def test_colour_is_for_terminals_unless_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, colour: Any, stream: Any, variables: dict[str, str], expected: bool
) -> None:
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert Manner(colour=colour).is_coloured(stream) is expected


def test_a_refusal_and_its_remedy_are_coloured(run: Run, tmp_path: Path) -> None:
    (tmp_path / "list.csv").write_text("name\nAda\n")
    done = run("check", "list.csv", "--color", "always")
    assert f"{ESCAPE}31m{ESCAPE}1merror:{ESCAPE}0m" in done.stderr
    assert f"{ESCAPE}31mverdict: refused" in done.stdout
    plain = run("check", "list.csv")
    assert ESCAPE not in plain.stderr + plain.stdout


@pytest.mark.parametrize("place", ["before", "behind"])
def test_quiet_leaves_data_and_errors(run: Run, service: Service, tmp_path: Path, place: str) -> None:
    """Wherever it stands. The report is data."""
    (tmp_path / "list.csv").write_text("email\n" + "".join(f"p{number}@example.com\n" for number in range(20)))
    words = ["upload", "list.csv", "--audience", service.audience_id, "--json"]
    done = run(*(["-q", *words] if place == "before" else [*words, "--quiet"]), **service.env)
    assert (done.returncode, done.stderr, json.loads(done.stdout)["state"]) == (0, "", "complete")
    refused = run("-q", "check", "missing.csv")
    assert refused.returncode == 3
    assert refused.stderr.startswith("error: ")


def test_a_quiet_command_prints_no_report(run: Run, tmp_path: Path) -> None:
    """So that a schedule that went well sends no mail."""
    (tmp_path / "list.csv").write_text("email\nada@example.com\n")
    done = run("check", "list.csv", "-q")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_report_that_was_asked_for_is_printed(run: Run, service: Service, tmp_path: Path) -> None:
    """Also by a quiet command: it has nothing else to say."""
    (tmp_path / "list.csv").write_text("email\nada@example.com\n")
    assert run("upload", "list.csv", "--audience", service.audience_id, "-q", **service.env).stdout == ""
    shown = run("report", "-q", **service.env).stdout
    assert shown.splitlines()[-1] == "state: complete"


def test_a_verbose_command_prints_all_counts_and_notes(run: Run, tmp_path: Path) -> None:
    (tmp_path / "list.csv").write_text("email\nada@example.com\n")
    short, whole = run("check", "list.csv").stdout, run("check", "list.csv", "--verbose").stdout
    assert "1 of 1 people ready, 100.0%" in short.splitlines()
    assert set(short.splitlines()) - set(whole.splitlines()) == {"notes: 2; --verbose shows them, and all counts"}
    assert {"identifiers            present       valid    rejected", "plan"} <= set(whole.splitlines())


def test_verbose_tells_each_request(run: Run, service: Service, tmp_path: Path) -> None:
    """By the name of the endpoint, with status, bytes and seconds."""
    (tmp_path / "list.csv").write_text("email\nada@example.com\n")
    done = run("upload", "list.csv", "--audience", service.audience_id, "-v", **service.env)
    assert re.search(r"^add_custom_audience_users: status 200, \d+ bytes sent, [\d.]+ s$", done.stderr, re.MULTILINE)
    assert "request 1: confirmed, 1 records" in done.stderr


def test_quiet_and_verbose_exclude_each_other(run: Run) -> None:
    assert run("runs", "-q", "-v").returncode == 2


def test_the_log_has_what_is_told_and_no_person(run: Run, service: Service, tmp_path: Path) -> None:
    """Of an upload whose first request fails, and of a refused one: JSON lines, appended, for the owner alone."""
    service.order({"fault": 13, "nth": 1, "match": {"path": "*/users"}})
    rows = [f"{WORD}{number}@example.com,+1202555{number:04}" for number in range(100, 120)]
    (tmp_path / "list.csv").write_text("\n".join(["email,phone", *rows, f"{WORD} is no address,+1"]) + "\n")
    sent = run("upload", "list.csv", "--audience", service.audience_id, "--log-file", "log.jsonl", **service.env)
    assert sent.returncode == 0, sent.stderr
    refused = run("upload", "list.csv", "--audience", "nosuch1", "--log-file", "log.jsonl", **service.env)
    assert refused.returncode == 3
    path = tmp_path / "log.jsonl"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    lines = _lines(path)
    assert [line["command"] for line in lines if "command" in line] == ["upload", "upload"]
    assert [line["exit_code"] for line in lines if "exit_code" in line] == [0, 3]
    told = [line["message"] for line in lines]
    assert all(message in told for message in sent.stderr.splitlines() if message.startswith("request 1: "))
    assert [line["level"] for line in lines if line["message"].startswith("error: ")] == ["error"]
    users = [line for line in lines if line.get("endpoint") == "add_custom_audience_users"]
    assert len(users) == 2  # the one that failed, and the other
    assert users[-1]["status"] == 200
    content = path.read_bytes()
    secrets = [value for name, value in service.env.items() if "SECRET" in name or "TOKEN" in name or "KEY" in name]
    assert WORD.encode() not in content
    assert b"2555010" not in content
    assert not HEX.search(content)
    assert secrets
    assert not any(secret.encode() in content for secret in secrets)


def test_a_list_is_not_taken_for_a_log(run: Run, tmp_path: Path) -> None:
    """Nor a directory, nor a link."""
    (tmp_path / "list.csv").write_text("email\nada@example.com\n")
    os.symlink("elsewhere", tmp_path / "link")
    assert run("check", "list.csv", "--log-file", "list.csv").returncode == 2
    assert (tmp_path / "list.csv").read_text() == "email\nada@example.com\n"
    assert run("check", "list.csv", "--log-file", ".").returncode == 2
    assert run("check", "list.csv", "--log-file", "link").returncode == 74
    assert not (tmp_path / "elsewhere").exists()


def test_a_full_disk_ends_the_log_and_not_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is told once."""
    log = LogFile(str(tmp_path / "log"))
    full = os.open("/dev/full", os.O_WRONLY)
    own, log._file = log._file, full
    for number in range(3):
        log.write("info", f"line {number}")
    log.finish(0)
    assert capsys.readouterr().err == "note: the log file is not written any more: No space left on device\n"
    for file in (full, own):
        assert file is not None
        os.close(file)
