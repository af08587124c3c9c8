"""A wrong audience or secret is told before the source is read, and leaves no run to be resumed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.conftest import Run, Service
from tests.forking import FASTER

COMMANDS = pytest.mark.parametrize("command", ["upload", "sync"])


@pytest.fixture
def source(tmp_path: Path) -> str:
    """A pipe into which nothing is ever written: a command that opens it waits until it is killed."""
    os.mkfifo(tmp_path / "list.csv")
    return "list.csv"


@COMMANDS
@pytest.mark.parametrize(
    ("audience", "wrong", "code", "words"),
    [
        ("zzzzz", {}, 3, ("has no audience zzzzz", "audiencekit audiences list")),
        ("", {"AUDIENCEKIT_ACCESS_TOKEN_SECRET": "wrong"}, 77, ("401", "check all four credentials")),
        ("", {"AUDIENCEKIT_CONSUMER_KEY": "wrong"}, 77, ("401",)),
        ("", {"AUDIENCEKIT_ACCOUNT_ID": "zzzzz"}, 77, ("nothing was read", "check the account id")),
        ("", {"AUDIENCEKIT_ADS_URL": "https://127.0.0.1:9", FASTER: "1000"}, 69, ("nothing was read",)),
    ],
    ids=["audience", "secret", "key", "account", "no answer"],
)
def test_a_fault_of_the_audience_is_told_first(
    run: Run, run_process: Run, service: Service, source: str, command: str, audience: str, wrong: dict[str, str],
    code: int, words: tuple[str, ...],
) -> None:  # fmt: skip
    """With the exit code that fits, without a word on resuming."""
    begun = run_process if FASTER in wrong else run  # its retries would take a minute
    done = begun(command, source, "--audience", audience or service.audience_id, "--json", **{**service.env, **wrong})
    assert done.returncode == code, done.stderr
    assert [word for word in words if word not in done.stderr] == []
    assert "resume" not in done.stderr
    assert json.loads(done.stdout)["state"] == ("incomplete" if code == 69 else "refused")
    assert json.loads(run("runs", "--json").stdout) == []


@COMMANDS
def test_an_audience_that_was_deleted(run: Run, service: Service, source: str, command: str) -> None:
    """It is there no more."""
    audience = json.loads(run("audiences", "create", "Gone", "--json", **service.env).stdout)["id"]
    assert run("audiences", "delete", audience, "--yes", **service.env).returncode == 0
    done = run(command, source, "--audience", audience, **service.env)
    assert (done.returncode, f"has no audience {audience}" in done.stderr) == (3, True), done.stderr


def test_its_name_is_told(run: Run, service: Service, tmp_path: Path) -> None:
    """On stderr, before the source is read."""
    (tmp_path / "people.csv").write_text("email\nada@example.com\n")
    audience = json.loads(run("audiences", "create", "Spring 2027", "--json", **service.env).stdout)["id"]
    done = run("upload", "people.csv", "--audience", audience, **service.env)
    lines = done.stderr.splitlines()
    assert lines[1] == f"audience {audience}: Spring 2027"  # behind the note of a new state key
    assert any(line.startswith("reading:") for line in lines[1:])
