"""`--dry-run` refuses what the command itself refuses before it sends: with the same code, and in the same words."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from audiencekit.state.keys import StateKey
from tests.audit.edits import write_log
from tests.cli.conftest import Run, Service, write_list

HOOK = {"AUDIENCEKIT_NOTIFY_URL": "https://hooks.example.com/of-a-test"}
RULES = ("nonsense", "rejected=20", "fewer=20%", "minutes=nan", "Empty")
REFUSED: list[tuple[tuple[str, ...], dict[str, str]]] = [
    *((("--notify-on", rule), variables) for rule in RULES for variables in ({}, HOOK)),
    (("--notify-on", "empty"), {}),
    (("--notify", "unknown"), {}),
    (("--events", "list.csv"), {}),
    (("--events", "missing/events.jsonl"), {}),
    (("--events", "."), {}),
    (("--events", "-", "--json"), {}),
    (("--purpose", "call +49 171 1234567"), {}),
    (("--requests-per-minute", "9999"), {}),
    ((), {"AUDIENCEKIT_REQUIRE": "purpose"}),
    ((), {"AUDIENCEKIT_KEY_PLACE": "apart", "AUDIENCEKIT_KEY": ""}),
]
COMMANDS = ("upload", "do-not-reach", "sync", "renew")


def _error_of(done: subprocess.CompletedProcess[str]) -> tuple[int, list[str]]:
    lines = [line for line in done.stderr.splitlines() if line.startswith(("error:", "  what to do:"))]
    return done.returncode, lines


@pytest.fixture
def line_of(service: Service, tmp_path: Path) -> dict[str, tuple[str, ...]]:
    """The words of each command, for a list of forty people."""
    path = write_list(tmp_path, 40)
    return {
        "upload": ("upload", path, "--audience", service.audience_id),
        "do-not-reach": ("do-not-reach", "upload", path),
        "sync": ("sync", path, "--audience", service.audience_id),
        "renew": ("renew", "--audience", service.audience_id),
    }


@pytest.mark.parametrize("command", COMMANDS)
def test_a_dry_run_is_refused_as_the_command_is(
    command: str, line_of: dict[str, tuple[str, ...]], run: Run, service: Service, tmp_path: Path
) -> None:
    """Neither asks the service anything."""
    before = service.get("/__requests")
    for options, variables in REFUSED:
        really = _error_of(run(*line_of[command], *options, **service.env, **variables))
        dryly = _error_of(run(*line_of[command], *options, "--dry-run", **service.env, **variables))
        assert really[0] in (2, 74, 77), (options, variables, really)
        assert dryly == really, (options, variables)
    assert service.get("/__requests") == before
    assert not list((tmp_path / "state").glob("runs/*"))


def test_an_offline_dry_run_is_refused_as_the_command_is(
    line_of: dict[str, tuple[str, ...]], run: Run, service: Service
) -> None:
    for options, variables in REFUSED:
        really = _error_of(run(*line_of["sync"], *options, **service.env, **variables))
        dryly = _error_of(run(*line_of["sync"], *options, "--dry-run", "--offline", **service.env, **variables))
        assert dryly == really, (options, variables)


@pytest.mark.parametrize("command", ["upload", "do-not-reach"])
def test_an_invalid_id_is_refused_in_a_dry_run_too(
    command: str, line_of: dict[str, tuple[str, ...]], run: Run, service: Service
) -> None:
    really = _error_of(run(*line_of[command], "--run-id", "x", **service.env))
    assert (really[0], "not a valid run id" in really[1][0]) == (2, True)
    assert _error_of(run(*line_of[command], "--run-id", "x", "--dry-run", **service.env)) == really


@pytest.mark.parametrize("command", COMMANDS)
def test_a_log_under_another_key_refuses_a_dry_run_too(
    command: str, line_of: dict[str, tuple[str, ...]], run: Run, service: Service, tmp_path: Path
) -> None:
    (tmp_path / "state").mkdir(mode=0o700)
    write_log(tmp_path / "state", 1, StateKey(b"\x07" * 32))
    key = {"AUDIENCEKIT_KEY": "08" * 32}
    really = _error_of(run(*line_of[command], **service.env, **key))
    assert (really[0], "another state key" in really[1][0]) == (77, True), really
    assert _error_of(run(*line_of[command], "--dry-run", **service.env, **key)) == really


def test_a_dry_run_makes_no_events_and_tells_no_one(
    line_of: dict[str, tuple[str, ...]], run: Run, service: Service, tmp_path: Path
) -> None:
    """Valid ones are checked, and left alone."""
    (tmp_path / "there.jsonl").write_text('{"version":1,"event":"read","run_id":"20260101-000000"')
    before = (tmp_path / "there.jsonl").read_bytes()
    for options in (("--events", "new.jsonl"), ("--events", "-"), ("--notify-on", "empty")):
        done = run(*line_of["upload"], *options, "--purpose", "Spring sale", "--dry-run", **service.env, **HOOK)
        assert (done.returncode, "not delivered" in done.stderr) == (0, False), (options, done.stderr)
    assert run(*line_of["upload"], "--events", "there.jsonl", "--dry-run", **service.env).returncode == 2
    assert (tmp_path / "there.jsonl").read_bytes() == before
    assert not (tmp_path / "new.jsonl").exists()


def test_a_refused_upload_creates_no_do_not_reach_list(
    line_of: dict[str, tuple[str, ...]], run: Run, service: Service
) -> None:
    """Not even when it is refused for its own options, and not for its list."""
    for options in (("--run-id", "x"), ("--events", "list.csv"), ("--purpose", "call +49 171 1234567")):
        done = run(*line_of["do-not-reach"], *options, **service.env)
        assert done.returncode == 2, (options, done.stderr)
    assert json.loads(run("do-not-reach", "show", "--json", **service.env).stdout) is None
