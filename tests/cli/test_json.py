"""`--json` of every command: one document on stdout, whatever happens, with the state that the error means."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import click
import pytest

import audiencekit.cli
from audiencekit import errors
from audiencekit.audiences.setups.one_audience import AudienceResult
from audiencekit.errors import AudiencekitError
from tests.cases import each_case
from tests.cli.conftest import Run, Service
from tests.commandtree import all_commands
from tests.forking import FASTER

SERVERS = ("emulator",)


def _takes_json(command: click.Command) -> bool:
    return any("--json" in one.opts for one in command.params)


COMMANDS = {
    path: command
    for path, command in all_commands(audiencekit.cli.cli)
    if _takes_json(command) and path[-1] not in SERVERS
}


def test_the_walk_finds_the_commands() -> None:
    """The one below would pass with none."""
    assert {("upload",), ("runs",), ("audiences", "list"), ("key", "show"), ("doctor",)} <= set(COMMANDS) | {
        ("key", "show")
    }
    assert len(COMMANDS) > 20


def _calls(path: tuple[str, ...], command: click.Command) -> list[list[str]]:
    """Lines that cannot be parsed."""
    given = ["list.csv" for one in command.params if isinstance(one, click.Argument) and one.required]
    calls = [["--no-such-option"], [*given, "too", "many", "--no-such-option"]]
    for one in command.params:
        if isinstance(one, click.Option) and not one.is_flag:
            calls += [[*given, one.opts[-1]]]  # without its value
    return [[*path, "--json", *call] for call in calls] + [[*path, *call[:-1], "--json"] for call in calls[:1]]


@pytest.mark.parametrize("path", COMMANDS, ids="-".join)
def test_a_usage_error_is_one_json_document(
    path: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Also where the line cannot be parsed; and every other failure of a machine without any setting."""
    (tmp_path / "list.csv").write_text("email\nbea@example.com\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AUDIENCEKIT_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setattr(audiencekit.cli, "take_any_letter", lambda: None)
    failures = 0
    with open(os.devnull) as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        for call in _calls(path, COMMANDS[path]):
            monkeypatch.setattr(sys, "argv", ["audiencekit", *call])
            capfd.readouterr()
            code = audiencekit.cli._run()
            out = capfd.readouterr().out
            document = json.loads(out)  # which more than one is not
            if code != 0 and "error" in document:
                failures += 1
                assert set(document["error"]) == {"type", "message", "hint"}
                assert document["state"] == ("refused" if code in (2, 3, 77) else "incomplete"), (call, code)
                assert document["continue_with"] is None
    assert failures > 1


def test_an_option_behind_two_dashes_asks_for_nothing(run: Run) -> None:
    """A file of that name."""
    assert run("check", "--", "--json").stdout == ""


def _errors() -> list[type[AudiencekitError]]:
    found, left = list[type[AudiencekitError]](), [AudiencekitError]
    while left:
        one = left.pop()
        found.append(one)
        left += one.__subclasses__()
    return sorted({one for one in found if one.__module__ == errors.__name__}, key=lambda one: one.__name__)


@each_case("kind", _errors())
def test_only_what_would_be_refused_again_is_refused(kind: type[AudiencekitError]) -> None:
    """By the table of docs/messages.md: of 69, 74, 75 and 1 more may be possible, so that they are incomplete."""
    error = AudiencekitError.__new__(kind)
    error.document = None
    assert error.state == ("refused" if kind.exit_code in (2, 3, 77) else "incomplete")
    for known in ("complete", "incomplete", "refused"):
        error.document = {"state": known}
        assert error.state == known


@pytest.mark.parametrize(("kind", "state"), [(errors.ServiceUnavailable, "incomplete"), (errors.Refused, "refused")])
def test_an_audience_of_a_setup_has_the_same_state(kind: type[AudiencekitError], state: str) -> None:
    """Without a document."""
    assert AudienceResult(setup=Any, account_id="a1", error=kind("no")).state == state  # type: ignore[arg-type]


def _failed(run: Run, *arguments: str, code: int, **env: str) -> dict[str, Any]:
    done = run(*arguments, "--json", **env)
    assert done.returncode == code, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_a_job_goes_on_with_its_own_run(run: Run, service: Service, tmp_path: Path) -> None:
    """Two jobs share a state directory: the follow-up of the first is not answered with the run of the second."""
    (tmp_path / "one.csv").write_text("email\nada@example.com\n")
    (tmp_path / "two.csv").write_text("email\nbo@example.com\n")
    upload = ("upload", "one.csv", "--audience", service.audience_id)
    service.order({"fault": 24, "kind": "account", "match": {"method": "POST", "path": "*/users"}})
    first = _failed(run, *upload, code=77, **service.env)
    assert (first["state"], first["continue_with"]) == ("incomplete", f"audiencekit resume {first['run_id']}")
    service.clear()
    second = run("upload", "two.csv", "--audience", service.audience_id, "--json", **service.env)
    assert second.returncode == 0, second.stderr
    assert "continue_with" not in json.loads(second.stdout)
    done = run("resume", "--json", **service.env)
    assert done.returncode == 0, done.stderr
    assert (json.loads(done.stdout)["run_id"], json.loads(done.stdout)["state"]) == (first["run_id"], "complete")
    nothing = _failed(run, "resume", "last", code=2, **service.env)
    assert "no run can be resumed" in nothing["error"]["message"]
    assert nothing["continue_with"] is None


def test_an_upload_with_a_run_id_is_the_same_command_again(run: Run, service: Service, tmp_path: Path) -> None:
    """It finishes its run, and then sends nothing twice; a dry run keeps none."""
    (tmp_path / "one.csv").write_text("email\nada@example.com\n")
    upload = ("upload", "one.csv", "--audience", service.audience_id, "--run-id", "nightly-20261128")
    service.order({"fault": 24, "kind": "account", "match": {"method": "POST", "path": "*/users"}})
    assert _failed(run, *upload, code=77, **service.env)["run_id"] == "nightly-20261128"
    service.clear()
    for _ in range(2):
        done = run(*upload, "--json", **service.env)
        assert done.returncode == 0, done.stderr
        report = json.loads(done.stdout)
        assert (report["run_id"], report["state"], report["requests"]["confirmed"]) == (
            "nightly-20261128",
            "complete",
            1,
        )
    assert len(json.loads(run("runs", "--json").stdout)) == 1
    assert len(service.get("/__log").splitlines()) == 1
    assert _failed(run, *upload, "--dry-run", code=2, **service.env)["error"]["type"] == "UsageError"
    listed = run("do-not-reach", "upload", "one.csv", "--run-id", "objections-1", "--json", **service.env)
    assert json.loads(listed.stdout)["run_id"] == "objections-1"


@pytest.mark.parametrize("more", [(), ("--run-id", "nightly-20261128")])
def test_a_usage_error_leaves_no_run(run: Run, service: Service, tmp_path: Path, more: tuple[str, ...]) -> None:
    """Also one that only the source shows."""
    (tmp_path / "one.csv").write_text("email\nada@example.com\n")
    given = ("--map", "email=email", "--ignore", "email", *more)
    for command in ("upload", "sync") if not more else ("upload",):
        told = _failed(run, command, "one.csv", "--audience", service.audience_id, *given, code=2, **service.env)
        assert (told["state"], told["continue_with"]) == ("refused", None)
        assert "run_id" not in told
    assert json.loads(run("runs", "--json").stdout) == []
    state = tmp_path / "state"
    assert list((state / "runs").iterdir()) == []
    assert (state / "begun").read_text() == ""


def test_a_failure_before_a_run_is_not_refused_for_good(
    run: Run, run_process: Run, service: Service, tmp_path: Path
) -> None:
    """69: the service is away; 74: the state directory cannot be used."""
    (tmp_path / "one.csv").write_text("email\nada@example.com\n")
    upload = ("upload", "one.csv", "--audience", service.audience_id)
    (tmp_path / "state").write_text("not a directory")
    assert _failed(run, *upload, code=74, **service.env)["state"] == "incomplete"
    (tmp_path / "state").unlink()
    away = {**service.env, "AUDIENCEKIT_ADS_URL": "http://127.0.0.1:9", FASTER: "1000"}
    assert _failed(run_process, *upload, code=69, **away)["state"] == "incomplete"


def test_a_sync_that_failed_names_itself(run: Run, service: Service, tmp_path: Path) -> None:
    """It is not resumed, but begun again."""
    (tmp_path / "one.csv").write_text("email\nada@example.com\n")
    service.order({"fault": 24, "kind": "account", "match": {"method": "POST", "path": "*/users"}})
    told = _failed(run, "sync", "one.csv", "--audience", service.audience_id, code=77, **service.env)
    assert told["continue_with"] == f"audiencekit sync one.csv --audience {service.audience_id} --json"


def test_the_command_that_goes_on_names_an_account_that_was_given(run: Run, service: Service, tmp_path: Path) -> None:
    """The environment of the next command names another one: it is refused without it."""
    (tmp_path / "one.csv").write_text("email\nada@example.com\n")
    account, env = service.env["AUDIENCEKIT_ACCOUNT_ID"], {**service.env, "AUDIENCEKIT_ACCOUNT_ID": "other1"}
    upload = ("upload", "one.csv", "--audience", service.audience_id, "--account", account)
    service.order({"fault": 24, "kind": "account", "match": {"method": "POST", "path": "*/users"}})
    going_on = _failed(run, *upload, code=77, **env)["continue_with"]
    service.clear()
    name, *words = going_on.split()
    assert (name, words[-2:]) == ("audiencekit", ["--account", account])
    assert "--account" in _failed(run, *words[:-2], code=3, **env)["error"]["hint"]
    done = run(*words, "--json", **env)
    assert (done.returncode, json.loads(done.stdout)["state"]) == (0, "complete"), done.stderr
