"""`audiencekit forget` as people and programs use it: real processes against a real emulator process."""

from __future__ import annotations

import json
import os
import pty
from pathlib import Path

from tests.cli.conftest import Run, Service


def _members(service: Service) -> int:
    return len(json.loads(service.get(f"/__members/{service.audience_id}"))["members"])


def test_people_are_erased_kept_out_and_accounted_for(run: Run, service: Service, tmp_path: Path) -> None:
    """Named on stdin; the receipt comes as text or as JSON, and again from `report`; nothing shows who it was."""
    (tmp_path / "people.csv").write_text("email\nada@example.org\nbo@example.org\ncy@example.org\n")
    uploaded = run("upload", "people.csv", "--audience", service.audience_id, **service.env)
    assert (uploaded.returncode, _members(service)) == (0, 3)

    erased = run("forget", "--do-not-reach", text="Ada@example.org\nhandle=ada_l\n", **service.env)
    assert (erased.returncode, _members(service)) == (0, 2), erased.stderr
    assert "complete" in erased.stdout
    assert "ada" not in (erased.stdout + erased.stderr).lower()

    again = run("forget", "--json", "--from", "people.csv", **service.env)
    receipt = json.loads(again.stdout)
    assert (again.returncode, receipt["state"], receipt["asked"], _members(service)) == (0, "complete", 3, 0)
    assert [one["state"] for one in receipt["audiences"]] == ["confirmed"]

    shown = run("report", receipt["erasure_id"], "--json", **service.env)
    assert json.loads(shown.stdout) == receipt
    resumed = run("resume", receipt["erasure_id"], **service.env)
    assert (resumed.returncode, resumed.stdout) == (0, run("report", receipt["erasure_id"]).stdout)


def test_a_line_that_cannot_be_read_keeps_everything_back(run: Run, service: Service) -> None:
    """Exit 3, and the number of the line."""
    refused = run("forget", "--json", text="ada@example.org\nAda Lovelace\n", **service.env)
    assert refused.returncode == 3
    assert json.loads(refused.stdout)["error"]["type"] == "PlanRefused"
    assert "line 2" in refused.stderr
    assert "Lovelace" not in refused.stderr + refused.stdout


def test_identifiers_are_not_read_from_a_terminal(run: Run) -> None:
    """Identifiers typed there would stay on the screen."""
    ours, theirs = pty.openpty()
    ended = run("forget", stdin=theirs, AUDIENCEKIT_ACCOUNT_ID="18ce54d4x5t")
    os.close(ours)
    os.close(theirs)
    assert (ended.returncode, "terminal" in ended.stderr) == (2, True)


def test_an_erasure_that_is_not_there(run: Run) -> None:
    """A usage error, for `resume` and `report`."""
    for command in ("resume", "report"):
        ended = run(command, "forget-20261121-120000-abcdef00")
        assert (ended.returncode, "no such erasure" in ended.stderr) == (2, True)
