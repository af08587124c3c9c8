"""State directories with uploads, syncs and erasures in which one file is damaged: nothing hides the others.

DAMAGE_TRIALS raises the number of trials (5) for a longer run, such as 300; DAMAGE_FIRST leaves out as many before
them.
"""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from audiencekit.emulator import Emulator, EmulatorOptions
from tests.crashes.damage import do_damage
from tests.crashes.killing import Driver, Ended
from tests.crashes.scenario import environment

TRIALS = int(os.environ.get("DAMAGE_TRIALS", "5"))
FIRST = int(os.environ.get("DAMAGE_FIRST", "0"))
KEY = "17" * 32  # a key file that is damaged is another test
USAGE, REFUSED, BROKEN = 2, 3, 74
PEOPLE = [f"person{number}@example.com" for number in range(40)]


@dataclass
class History:
    """The commands that were run in one state directory, and the commands that come next."""

    driver: Driver
    emulator: Emulator
    directory: Path

    async def run(self, *argv: str) -> Ended:
        env = {**environment(self.emulator, self.directory), "AUDIENCEKIT_KEY": KEY}
        ended = await self.driver.run(self.directory, env, *argv)
        assert "Traceback" not in ended.err
        assert "bug:" not in ended.err
        return ended

    def write(self, name: str, people: list[str]) -> str:
        (self.directory / name).write_text("\n".join(["email", *people]) + "\n")
        return name

    @property
    def state_dir(self) -> Path:
        return self.directory / "state"

    async def begin(self) -> set[str]:
        """The ids of all that was done."""
        audience = self.emulator.audience_id
        done = [
            await self.run("sync", self.write("all.csv", PEOPLE), "--audience", audience),
            await self.run("sync", self.write("some.csv", PEOPLE[:35]), "--audience", audience),
            await self.run("forget", "--from", self.write("gone.csv", PEOPLE[:2])),
            await self.run("upload", self.write("more.csv", PEOPLE[5:9]), "--audience", audience),
        ]
        assert [ended.code for ended in done] == [0] * len(done), [ended.err for ended in done]
        return {each["run_id"] for each in json.loads((await self.run("runs", "--json")).out)}


@pytest.fixture
async def history(driver: Driver) -> AsyncIterator[History]:
    async with Emulator(EmulatorOptions(rate=(1_000_000, 1.0))) as emulator:
        with TemporaryDirectory() as directory:
            yield History(driver, emulator, Path(directory))


@pytest.mark.slow
async def test_a_damaged_file_hides_no_other(
    history: History, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """Readable files are shown; the next command works, or is refused with a sentence that names the damage."""
    ids = await history.begin()
    before = {run_id: json.loads((await history.run("report", run_id, "--json")).out) for run_id in ids}
    sound = tmp_path / "sound"
    shutil.copytree(history.state_dir, sound)
    for seed in range(FIRST, FIRST + TRIALS):
        shutil.rmtree(history.state_dir)
        shutil.copytree(sound, history.state_dir)
        path, kind = do_damage(history.state_dir, random.Random(seed))
        damage = f"{seed}: {kind} of {path}"
        listed = await history.run("runs", "--json")
        assert listed.code == 0, damage + listed.err
        shown = {each["run_id"] for each in json.loads(listed.out)}
        assert shown == ids or (path.name, kind) == ("receipt.json", "remove"), damage  # then it was never begun
        assert (await history.run("runs")).code == 0, damage
        for run_id in shown:
            ended = await history.run("report", run_id, "--json")
            assert ended.code in ((0, BROKEN) if run_id in path.parts else (0,)), damage + ended.err
            assert ended.code or json.loads(ended.out) == before[run_id], damage
        await _go_on(history, damage)


async def _go_on(history: History, damage: str) -> None:
    audience = history.emulator.audience_id
    for command in (
        ("resume", "last", "--json"),
        ("upload", "more.csv", "--audience", audience),
        ("sync", "some.csv", "--audience", audience),
        ("forget", "--from", "gone.csv"),
        ("expiry", "--audience", audience),
        ("forgotten", "show"),
    ):
        ended = await history.run(*command)
        assert ended.code in (0, USAGE, REFUSED, BROKEN), f"{damage}: {command[0]} {ended.code} {ended.err}"
        assert ended.code == 0 or ended.err or ended.out, damage
