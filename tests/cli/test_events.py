"""`--events`, by real commands: where the lines go, and where the report goes then."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from audiencekit.runs.events import read_events
from audiencekit.runs.reports import report_from_events
from tests.cli.conftest import Run, Service, write_list
from tests.processes import COMMAND, environment


def _events(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [json.loads(line)["event"] for line in done.stdout.splitlines()]


def test_on_stdout_are_events_alone(run: Run, run_process: Run, service: Service, tmp_path: Path) -> None:
    """The report goes to stderr, of a failed run, too; with `--json` nothing is sent."""
    given = ("upload", write_list(tmp_path, 40), "--audience", service.audience_id, "--events", "-")
    done = run(*given, "--json", **service.env)
    assert done.returncode == 2
    assert "--events - and --json both write to stdout" in done.stderr
    assert json.loads(run("runs", "--json", **service.env).stdout) == []
    done = run_process(*given, **service.env)
    assert (done.returncode, _events(done)) == (0, ["begun", "read", "planned", "request", "request", "ended"])
    assert "state: complete" in done.stderr
    (tmp_path / "list.csv").write_text("email\nno address\n")
    done = run_process(*given, **service.env)
    assert (done.returncode, _events(done)) == (3, ["begun", "read", "ended"])
    assert "state: refused" in done.stderr


def test_a_stdout_that_is_not_there_takes_no_events(
    run: Run, service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is begun."""
    monkeypatch.setattr(sys, "__stdout__", None)
    done = run("upload", write_list(tmp_path, 40), "--audience", service.audience_id, "--events", "-", **service.env)
    assert (done.returncode, "stdout cannot be written: it is closed" in done.stderr) == (74, True)
    assert not list((tmp_path / "state").glob("runs/*"))


@pytest.mark.slow
def test_a_closed_stdout_is_no_other_file(service: Service, tmp_path: Path) -> None:
    """The number of a closed stdout may be given to the journal: nothing is begun."""
    command = [*COMMAND, "upload", write_list(tmp_path, 40), "--audience", service.audience_id, "--events", "-"]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *command], env=environment(tmp_path / "state", service.env), cwd=tmp_path,
        stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 74, done.stderr
    assert "stdout cannot be written: it is closed" in done.stderr
    assert not list((tmp_path / "state").glob("runs/*"))


def test_each_command_of_runs_has_events(run: Run, service: Service, tmp_path: Path) -> None:
    """Those of a setup write theirs to one file, and an erasure, which has no report, writes to it, too."""
    where, events = ("--audience", service.audience_id), ("--events", "events.jsonl")
    source = write_list(tmp_path, 40)
    (tmp_path / "setup.toml").write_text(f'[audiences.one]\nsource = "list.csv"\naudience = "{service.audience_id}"\n')
    commands = {
        ("sync", source, *where): "sync",
        ("renew", *where, "--before", "500d"): "renew",
        ("do-not-reach", "upload", source): "update",
        ("run", "one", "--setup", "setup.toml"): "sync",
    }
    for words, operation in commands.items():
        done = run(*words, *events, **service.env)
        assert done.returncode == 0, (words, done.stderr)
        last = list(read_events(tmp_path / "events.jsonl"))[-1]
        assert (last["event"], last["report"]["operation"]) == ("ended", operation), words
        assert run("resume", last["run_id"], *events, **service.env).returncode == 0
    assert len({each["run_id"] for each in read_events(tmp_path / "events.jsonl")}) == len(commands)
    report = report_from_events(tmp_path / "events.jsonl")
    receipt = json.loads(run("forget", "--from", source, "--json", *events, **service.env).stdout)
    assert run("resume", receipt["erasure_id"], *events, **service.env).returncode == 0
    found = [each for each in read_events(tmp_path / "events.jsonl") if each["event"] == "erasure"]
    assert {each["run_id"] for each in found} == {receipt["erasure_id"]}
    assert [each["step"] for each in found] == ["begun", "ended", "resumed", "ended"]
    assert report_from_events(tmp_path / "events.jsonl") == report
