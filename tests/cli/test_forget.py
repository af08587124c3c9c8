"""`audiencekit forget` as people and programs use it: real processes against a real emulator process."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
Run = Callable[..., subprocess.CompletedProcess[str]]


def _environment(tmp_path: Path, more: dict[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AUDIENCEKIT_")}
    return {**kept, "AUDIENCEKIT_STATE_DIR": str(tmp_path / "state"), "PYTHONPATH": str(ROOT), **more}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs `audiencekit` with these arguments in a directory of its own."""

    def call(*arguments: str, text: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "audiencekit", *arguments],
            input=text, capture_output=True, text=True, cwd=tmp_path, env=_environment(tmp_path, more),
            timeout=120, check=False,
        )  # fmt: skip

    return call


@pytest.fixture
def ready(tmp_path: Path) -> Iterator[dict[str, Any]]:
    """What an emulator in another process says in its one line."""
    command = [sys.executable, "-m", "audiencekit", "emulator"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=_environment(tmp_path, {}))
    assert process.stdout is not None
    yield json.loads(process.stdout.readline())
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=20) == 0
    process.stdout.close()


def _members(ready: dict[str, Any]) -> int:
    with urllib.request.urlopen(f"{ready['ads_url']}/__members/{ready['audience_id']}") as answer:
        return len(json.load(answer)["members"])


def test_people_are_erased_kept_out_and_accounted_for(run: Run, ready: dict[str, Any], tmp_path: Path) -> None:
    """Named on stdin; the receipt comes as text or as JSON, and again from `report`; nothing shows who it was."""
    (tmp_path / "people.csv").write_text("email\nada@example.org\nbo@example.org\ncy@example.org\n")
    uploaded = run("upload", "people.csv", "--audience", ready["audience_id"], **ready["env"])
    assert (uploaded.returncode, _members(ready)) == (0, 3)

    erased = run("forget", "--do-not-reach", text="Ada@example.org\nhandle=ada_l\n", **ready["env"])
    assert (erased.returncode, _members(ready)) == (0, 2), erased.stderr
    assert "complete" in erased.stdout
    assert "ada" not in (erased.stdout + erased.stderr).lower()

    again = run("forget", "--json", "--from", "people.csv", **ready["env"])
    receipt = json.loads(again.stdout)
    assert (again.returncode, receipt["state"], receipt["asked"], _members(ready)) == (0, "complete", 3, 0)
    assert [one["state"] for one in receipt["audiences"]] == ["confirmed"]

    shown = run("report", receipt["erasure_id"], "--json", **ready["env"])
    assert json.loads(shown.stdout) == receipt
    resumed = run("resume", receipt["erasure_id"], **ready["env"])
    assert (resumed.returncode, resumed.stdout) == (0, run("report", receipt["erasure_id"]).stdout)


def test_a_line_that_cannot_be_read_keeps_everything_back(run: Run, ready: dict[str, Any]) -> None:
    """Exit 3, and the number of the line."""
    refused = run("forget", "--json", text="ada@example.org\nAda Lovelace\n", **ready["env"])
    assert refused.returncode == 3
    assert json.loads(refused.stdout)["error"]["type"] == "PlanRefused"
    assert "line 2" in refused.stderr
    assert "Lovelace" not in refused.stderr + refused.stdout


def test_nobody_is_asked_for_identifiers_at_a_terminal(tmp_path: Path) -> None:
    """What is typed there stays on the screen."""
    ours, theirs = pty.openpty()
    env = _environment(tmp_path, {"AUDIENCEKIT_ACCOUNT_ID": "18ce54d4x5t"})
    ended = subprocess.run(
        [sys.executable, "-m", "audiencekit", "forget"], stdin=theirs, capture_output=True, text=True, env=env,
        timeout=60, check=False,
    )  # fmt: skip
    os.close(ours)
    os.close(theirs)
    assert (ended.returncode, "terminal" in ended.stderr) == (2, True)


def test_an_erasure_that_is_not_there(run: Run) -> None:
    """A usage error, for `resume` and `report`."""
    for command in ("resume", "report"):
        ended = run(command, "forget-20261121-120000-abcdef")
        assert (ended.returncode, "no such erasure" in ended.stderr) == (2, True)
