"""State directories that were damaged after an upload was killed: every command says what is true, or how it ended.

A run that can go on does so exactly; one that cannot sends nothing more, claims nothing, and hides no other.
DAMAGE_TRIALS raises the number of trials (5) for a longer run, such as 300; DAMAGE_FIRST leaves out as many before
them.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audiencekit.emulator import Emulator
from tests.crashes.damage import do_damage, leave_half_a_commit
from tests.crashes.driver import RUN_ID
from tests.crashes.killing import Driver, Ended
from tests.crashes.scenario import ROWS, Source, environment, log_of, members_of, upload_command
from tests.shortened import shortened

TRIALS = int(os.environ.get("DAMAGE_TRIALS", "5"))
FIRST = int(os.environ.get("DAMAGE_FIRST", "0"))
KILLED = -9
OTHER = "other@example.com"
POINTS = ("after plan", "after intent", "after send", "before acknowledgement", "after acknowledgement")
USAGE, REFUSED, BROKEN = 2, 3, 74


class TwoRuns:
    """A complete run, one that is killed, and the commands that are asked about both."""

    def __init__(self, driver: Driver, emulator: Emulator, directory: Path, seed: int) -> None:
        self.draw = random.Random(seed)
        self.source = Source.draw(seed)
        self._driver, self._emulator, self._directory = driver, emulator, directory
        self._env = environment(emulator, directory)
        self.state_dir = directory / "state"

    async def begin(self) -> str:
        """The id of the complete run; the other one, RUN_ID, is killed."""
        (self._directory / "list.csv").write_text(self.source.text)
        (self._directory / "other.csv").write_text(f"email\n{OTHER}\n")
        kill: dict[str, Any] = {"point": self.draw.choice(POINTS), "nth": self.draw.randint(1, 5)}
        if kill["point"] == "after plan":
            kill["nth"] = 1
        upload = upload_command(self._emulator, self.source)
        if self.draw.random() < 0.3:
            upload[1:2] = ["-", "--keep-spool"]
        killed = await self.run(*upload, stdin=str(self._directory / "list.csv"), kill=kill)
        assert killed.code == KILLED, killed.err
        other = Source("", 0)
        done = await self.run("upload", "other.csv", *upload_command(self._emulator, other)[2:])
        assert done.code == 0, done.err
        if self.draw.random() < 0.2:
            leave_half_a_commit(self.state_dir / "runs" / RUN_ID / "journal.sqlite")
        return str(json.loads(done.out)["run_id"])

    async def run(self, *argv: str, **how: Any) -> Ended:
        ended = await self._driver.run(self._directory, self._env, *argv, **how)
        assert "Traceback" not in ended.err
        assert "bug:" not in ended.err
        assert ended.code in (0, USAGE, REFUSED, BROKEN, KILLED), ended.err
        return ended

    def log(self) -> list[dict[str, Any]]:
        """Return the requests of the killed run that the service has applied."""
        return [line for line in log_of(self._emulator) if _person(OTHER) not in members_of([line])]


def _person(email: str) -> frozenset[tuple[str, str]]:
    return frozenset({("email", hashlib.sha256(email.encode()).hexdigest())})


@pytest.mark.parametrize("seed", shortened(range(FIRST, FIRST + TRIALS), 1))
async def test_a_damaged_state_directory_causes_no_false_report(
    driver: Driver, emulator: Emulator, tmp_path: Path, seed: int, record_property: Callable[[str, object], None]
) -> None:
    """Whatever file is damaged, and however."""
    runs = TwoRuns(driver, emulator, tmp_path, seed)
    other = await runs.begin()
    sound = tmp_path / "sound"
    shutil.copytree(runs.state_dir, sound)
    before = {run: (await runs.run("report", run, "--json")).out for run in (other, RUN_ID)}
    shutil.rmtree(runs.state_dir)
    shutil.copytree(sound, runs.state_dir)  # to look at a run undoes what a kill has left open
    path, kind = do_damage(runs.state_dir, runs.draw)
    record_property("damage", f"{kind} of {path}")
    listed = await _list(runs, other)
    for run in (other, RUN_ID):
        await _check_report(runs, run, json.loads(before[run]), is_damaged=run in path.parts)
    had = runs.log()
    ended = await runs.run("resume", RUN_ID, "--json")
    if ended.code == 0:
        _check_finished(runs, json.loads(ended.out))
        return
    assert runs.log() == had, "a run that cannot go on sends nothing"
    document = json.loads(ended.out)
    if had:
        assert "nothing was sent" not in ended.err
        assert document["state"] == "incomplete"
    assert listed["state"] in ("incomplete", "unreadable")


@pytest.mark.parametrize("seed", shortened(range(3), 1))
async def test_a_damaged_rollback_journal_hides_no_other_run(
    driver: Driver, emulator: Emulator, tmp_path: Path, seed: int
) -> None:
    """Make the files of a kill in the middle of a commit, with sixteen bytes changed."""
    runs = TwoRuns(driver, emulator, tmp_path, seed)
    other = await runs.begin()
    journal = runs.state_dir / "runs" / RUN_ID / "journal.sqlite"
    leave_half_a_commit(journal)
    hot = journal.with_name("journal.sqlite-journal")
    content, had = bytearray(hot.read_bytes()), runs.log()
    place = runs.draw.randrange(28, len(content) - 16)  # behind the header, without which there is nothing to undo
    content[place : place + 16] = runs.draw.randbytes(16)
    hot.write_bytes(content)
    await _list(runs, other)
    assert (await runs.run("report", other)).code == 0
    ended = await runs.run("resume", RUN_ID, "--json")
    if ended.code == 0:
        _check_finished(runs, json.loads(ended.out))
    else:
        assert runs.log() == had


async def _list(runs: TwoRuns, other: str) -> dict[str, Any]:
    """Return the line of the list on the killed run; the other run is in the list, too."""
    ended = await runs.run("runs", "--json")
    assert ended.code == 0
    assert (await runs.run("runs")).code == 0
    runs = {run["run_id"]: run for run in json.loads(ended.out)}
    assert runs.keys() == {other, RUN_ID}
    assert runs[other]["state"] in ("complete", "unreadable")
    found: dict[str, Any] = runs[RUN_ID]
    return found


async def _check_report(runs: TwoRuns, run: str, before: dict[str, Any], *, is_damaged: bool) -> None:
    """It is as it was, or says what is not known."""
    ended = await runs.run("report", run, "--json")
    assert (await runs.run("report", run)).code == ended.code
    if ended.code == 0:
        assert json.loads(ended.out) == before
        return
    assert ended.code == BROKEN
    assert is_damaged or run == RUN_ID
    if ended.out:
        now = json.loads(ended.out)
        for name, count in (now["requests"] | now["reconciliation"] | now["rows"]).items():
            was = (before["requests"] | before["reconciliation"] | before["rows"])[name]
            assert count in (None, was), f"{name} is {count}, and was {was}"


def _check_finished(runs: TwoRuns, report: dict[str, Any]) -> None:
    """Exactly, with sums that are those of the service."""
    assert members_of(runs.log()) == runs.source.members
    assert {line["expires_at"] for line in runs.log()} == {report["expires_at"]}
    rows, requests, counts = dict(report["rows"]), report["requests"], report["reconciliation"]
    assert rows.pop("read") == ROWS == sum(rows.values())
    assert (report["state"], rows["pending"]) == ("complete", 0)
    assert requests["confirmed"] == requests["planned"] <= requests["attempts"] < 2 * requests["planned"] + 9
    assert set(counts.values()) == {rows["sent"]}
