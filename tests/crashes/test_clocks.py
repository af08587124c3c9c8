"""Runs that were begun under a clock that was ahead."""

from __future__ import annotations

import json
from pathlib import Path

from audiencekit.emulator import Emulator
from tests.crashes.driver import RUN_ID
from tests.crashes.killing import Driver
from tests.crashes.scenario import Source, environment, upload_command

KILLED, MONTH_SECONDS = -9, 30 * 86_400


async def test_last_is_the_run_that_was_begun_last(driver: Driver, emulator: Emulator, tmp_path: Path) -> None:
    """Not the one whose id is the greatest: a clock that was a month ahead makes no run the last one for a month."""
    source = Source.draw(2)
    (tmp_path / "list.csv").write_text(source.text)
    env, upload = environment(emulator, tmp_path), upload_command(emulator, source)
    kill = {"point": "after acknowledgement", "nth": 1}
    begun: list[str] = []
    for ahead_seconds in (0, MONTH_SECONDS, 0):
        assert (await driver.run(tmp_path, env, *upload, kill=kill, ahead_seconds=ahead_seconds)).code == KILLED
        ids = {path.name for path in (tmp_path / "state" / "runs").iterdir()}
        begun.append((ids - set(begun)).pop())
    first, ahead, last = begun
    assert first == RUN_ID
    assert ahead > last
    shown = await driver.run(tmp_path, env, "report", "last", "--json")
    assert json.loads(shown.out)["run_id"] == last
    several = await driver.run(tmp_path, env, "resume", "last", "--json")
    assert (several.code, json.loads(several.out)["error"]["type"]) == (2, "UsageError")
    assert f"{last} (update {emulator.audience_id}), {ahead} (" in several.out
    listed = await driver.run(tmp_path, env, "runs", "--json")
    assert [run["run_id"] for run in json.loads(listed.out)] == [last, ahead, first]
