"""`sync`, `renew` and `expiry`, as people run them."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path

import pytest

from audiencekit.emulator import Emulator
from tests.processes import Commands, environment

PEOPLE = [f"person{number}@example.com,+1201555{number:04}" for number in range(120)]


class Terminal:
    """Runs commands beside an emulator."""

    def __init__(self, directory: Path, emulator: Emulator, commands: Commands) -> None:
        self.directory, self._emulator, self._commands = directory, emulator, commands
        self._env = environment(directory / "state", emulator.env)

    async def run(self, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run one command; return its output."""
        given = (*arguments, "--audience", self._emulator.audience_id)
        done = await asyncio.to_thread(self._commands.run, *given, env=self._env, cwd=self.directory)
        assert done.returncode == code, done.stderr
        return done

    def write(self, people: list[str]) -> None:
        """The source."""
        (self.directory / "list.csv").write_text("\n".join(["email,phone", *people]) + "\n")


@pytest.fixture
def terminal(tmp_path: Path, emulator: Emulator, commands: Commands) -> Terminal:
    return Terminal(tmp_path, emulator, commands)


async def test_a_life_of_an_audience(terminal: Terminal, emulator: Emulator) -> None:
    """Planned, synced, synced again, refused, looked at, renewed; each prints what it did."""
    terminal.write(PEOPLE)
    planned = json.loads((await terminal.run("sync", "list.csv", "--dry-run", "--offline", "--json")).stdout)
    assert planned["changes"]["additions"] == planned["plan"]["records"] == 120
    assert {"requests", "bytes", "minutes"} <= set(planned["plan"])
    shown = (await terminal.run("--verbose", "sync", "list.csv", "--dry-run", "--offline")).stdout
    assert "the same command continues it" in shown
    assert "can be resumed" not in shown
    smaller = ("--max-records-per-request", "50", "--max-records-per-operation", "1", "--max-body-bytes", "20000")
    planned = json.loads((await terminal.run("sync", "list.csv", "--dry-run", "--offline", "--json", *smaller)).stdout)
    assert (planned["plan"]["requests"], planned["plan"]["operations"]) == (3, 120)
    assert not emulator.store.requests.documents()
    report = json.loads((await terminal.run("sync", "list.csv", "--json")).stdout)
    assert (report["state"], report["operation"], report["rows"]["sent"]) == ("complete", "sync", 120)
    terminal.write([*PEOPLE[10:], "new@example.com,+12015550999"])
    done = await terminal.run("sync", "list.csv")
    assert "1 addition, 0 renewals, 10 removals; 120 members known before, 111 after" in done.stdout
    assert "note: people were put in 0 min ago" in done.stderr
    terminal.write(PEOPLE[:30])
    refused = await terminal.run("sync", "list.csv", "--json", code=3)
    assert "shrink from 111 members to 30" in refused.stderr
    assert json.loads(refused.stdout)["state"] == "refused"
    past = await terminal.run("upload", "list.csv")
    assert "is under sync: the sync does not know of people" in past.stderr
    found = json.loads((await terminal.run("expiry", "--json")).stdout)
    assert (found["members"], found["within_days"]["90"], sum(day["members"] for day in found["days"])) == (111, 0, 111)
    assert "111 members" in (await terminal.run("expiry")).stdout
    renewed = json.loads((await terminal.run("renew", "--before", "30d", "--json")).stdout)
    assert (renewed["operation"], renewed["changes"]["renewals"], renewed["rows"]["unchanged"]) == ("renew", 0, 111)


async def test_an_audience_that_was_never_synced_cannot_be_renewed_or_counted(terminal: Terminal) -> None:
    """Cannot be renewed or counted, and the hint says how it could."""
    assert "audiencekit sync" in (await terminal.run("expiry", code=3)).stderr
    assert "not under sync" in (await terminal.run("renew", code=3)).stderr


async def test_a_damaged_snapshot_is_refused(terminal: Terminal) -> None:
    """With the way out; --rebuild says what it does."""
    terminal.write(PEOPLE)
    await terminal.run("sync", "list.csv")
    (path,) = (terminal.directory / "state" / "snapshots").glob("*/snapshot")
    path.write_bytes(path.read_bytes()[:-1])
    refused = await terminal.run("sync", "list.csv", code=3)
    assert "damaged" in refused.stderr
    assert "--rebuild" in refused.stderr
    assert "all members are sent again" in (await terminal.run("sync", "list.csv", "--rebuild")).stderr
