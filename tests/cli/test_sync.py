"""`sync`, `renew` and `expiry`, as people run them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Run, Service

PEOPLE = [f"person{number}@example.com,+1201555{number:04}" for number in range(120)]


class Terminal:
    """Runs commands for the audience of an emulator."""

    def __init__(self, run: Run, service: Service, directory: Path) -> None:
        self._run, self.service, self.directory = run, service, directory

    def run(self, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run one command; return its output."""
        done = self._run(*arguments, "--audience", self.service.audience_id, **self.service.env)
        assert done.returncode == code, done.stderr
        return done

    def write(self, people: list[str]) -> None:
        """The source."""
        (self.directory / "list.csv").write_text("\n".join(["email,phone", *people]) + "\n")


@pytest.fixture
def terminal(run: Run, service: Service, tmp_path: Path) -> Terminal:
    return Terminal(run, service, tmp_path)


def test_a_life_of_an_audience(terminal: Terminal) -> None:
    """Planned, synced, synced again, refused, looked at, renewed, damaged, rebuilt; each prints what it did."""
    terminal.write(PEOPLE)
    planned = json.loads(terminal.run("sync", "list.csv", "--dry-run", "--offline", "--json").stdout)
    assert planned["changes"]["additions"] == planned["plan"]["records"] == 120
    assert {"requests", "bytes", "minutes"} <= set(planned["plan"])
    shown = terminal.run("--verbose", "sync", "list.csv", "--dry-run", "--offline").stdout
    assert "the same command continues it" in shown
    assert "can be resumed" not in shown
    smaller = ("--max-records-per-request", "50", "--max-records-per-operation", "1", "--max-body-bytes", "20000")
    planned = json.loads(terminal.run("sync", "list.csv", "--dry-run", "--offline", "--json", *smaller).stdout)
    assert (planned["plan"]["requests"], planned["plan"]["operations"]) == (3, 120)
    assert json.loads(terminal.service.get("/__requests")) == []
    report = json.loads(terminal.run("sync", "list.csv", "--json").stdout)
    assert (report["state"], report["operation"], report["rows"]["sent"]) == ("complete", "sync", 120)
    terminal.write([*PEOPLE[10:], "new@example.com,+12015550999"])
    done = terminal.run("sync", "list.csv")
    assert "1 addition, 0 renewals, 10 removals; 120 members known before, 111 after" in done.stdout
    assert "note: people were put in 0 min ago" in done.stderr
    terminal.write(PEOPLE[:30])
    refused = terminal.run("sync", "list.csv", "--json", code=3)
    assert "shrink from 111 members to 30" in refused.stderr
    assert json.loads(refused.stdout)["state"] == "refused"
    past = terminal.run("upload", "list.csv")
    assert "is under sync: the sync does not know of people" in past.stderr
    found = json.loads(terminal.run("expiry", "--json").stdout)
    assert (found["members"], found["within_days"]["90"], sum(day["members"] for day in found["days"])) == (111, 0, 111)
    assert "111 members" in terminal.run("expiry").stdout
    renewed = json.loads(terminal.run("renew", "--before", "30d", "--json").stdout)
    assert (renewed["operation"], renewed["changes"]["renewals"], renewed["rows"]["unchanged"]) == ("renew", 0, 111)
    (path,) = (terminal.directory / "state" / "snapshots").glob("*/snapshot")
    path.write_bytes(path.read_bytes()[:-1])
    refused = terminal.run("sync", "list.csv", code=3)
    assert "damaged" in refused.stderr
    assert "--rebuild" in refused.stderr
    assert "all members are sent again" in terminal.run("sync", "list.csv", "--rebuild").stderr


def test_an_audience_that_was_never_synced_cannot_be_renewed_or_counted(terminal: Terminal) -> None:
    """Cannot be renewed or counted, and the hint says how it could."""
    assert "audiencekit sync" in terminal.run("expiry", code=3).stderr
    assert "not under sync" in terminal.run("renew", code=3).stderr
