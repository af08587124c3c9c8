"""Processes that read standard input and are killed: with `--keep-spool` they are finished without a source."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from audiencekit.emulator import Emulator
from audiencekit.runs.start import KEPT
from tests.crashes.driver import RUN_ID
from tests.crashes.killing import Driver, Ended
from tests.crashes.scenario import Source, check_finished, environment, log_of, requests_in_flight, upload_command
from tests.shortened import shortened

KILLS: list[list[tuple[str, int]]] = [
    [("before plan", 1)],
    [("after plan", 1)],
    [("before intent", 1)],
    [("after send", 2), ("before send", 1)],
    [("before acknowledgement", 3), ("before report", 1), ("after intent", 2)],
    [("before report", 2)],
    [("before finish", 1), ("before finish", 1)],
    [("after finish", 1)],
]


@pytest.mark.parametrize("kills", shortened(KILLS, 1), ids=str)
async def test_a_killed_run_from_standard_input_is_finished_exactly(
    driver: Driver, emulator: Emulator, tmp_path: Path, kills: list[tuple[str, int]]
) -> None:
    """Resuming reads the spool alone, and nothing of it is left in the end."""
    source = Source.draw(len(kills))
    (tmp_path / "rows.csv").write_text(source.text)
    env, kept = environment(emulator, tmp_path), tmp_path / "state" / "runs" / RUN_ID / KEPT
    upload = ["upload", "-", "--keep-spool", *upload_command(emulator, source)[2:]]
    jobs: list[dict[str, Any] | None] = [*({"point": point, "nth": nth} for point, nth in kills), None]
    ended, in_flight = await driver.run(tmp_path, env, *upload, stdin=str(tmp_path / "rows.csv"), kill=jobs[0]), 0
    for kill in jobs[1:]:
        assert ended.code == -9, ended.err
        in_flight += requests_in_flight(tmp_path / "state")
        ended = await driver.run(tmp_path, env, "resume", RUN_ID, "--json", kill=kill)
        if _came_to_nothing(ended):
            assert not log_of(emulator)
            ended = await driver.run(tmp_path, env, *upload, stdin=str(tmp_path / "rows.csv"))
    assert ended.code == 0, ended.err
    check_finished(emulator, source, json.loads(ended.out), in_flight=in_flight)
    assert not kept.exists(), "the spool outlived its run"


def _came_to_nothing(ended: Ended) -> bool:
    """Whether the run had sent nothing because its source was not read to the end."""
    return ended.code == 3 and "ended before it was read to its end" in ended.out


async def test_a_spool_that_was_changed_sends_nothing(driver: Driver, emulator: Emulator, tmp_path: Path) -> None:
    """The refusal says which file, and the run can go on once it is restored."""
    source = Source.draw(0)
    (tmp_path / "rows.csv").write_text(source.text)
    env, kept = environment(emulator, tmp_path), tmp_path / "state" / "runs" / RUN_ID / KEPT
    upload = ["upload", "-", "--keep-spool", *upload_command(emulator, source)[2:]]
    kill = {"point": "after acknowledgement", "nth": 1}
    await driver.run(tmp_path, env, *upload, stdin=str(tmp_path / "rows.csv"), kill=kill)
    content, sent = kept.read_bytes(), log_of(emulator)
    kept.write_bytes(content[:-40] + bytes(40))
    ended = await driver.run(tmp_path, env, "resume", RUN_ID, "--json")
    assert (ended.code, json.loads(ended.out)["error"]["type"]) == (3, "ResumeRefused")
    assert KEPT in ended.out
    assert log_of(emulator) == sent
    kept.write_bytes(content)
    assert (await driver.run(tmp_path, env, "resume", RUN_ID, "--json")).code == 0
