"""Runs that find no more memory, at every named point: they say so, and what was begun is finished, exactly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audiencekit.emulator import Emulator
from audiencekit.process.crash_points import POINTS
from tests.crashes.driver import RUN_ID
from tests.crashes.killing import Driver
from tests.crashes.scenario import CONCURRENCY, Source, check_finished, environment, upload_command
from tests.shortened import shortened


@pytest.mark.parametrize("point", shortened(POINTS, 1))
async def test_a_run_without_memory_is_finished_afterwards(
    driver: Driver, emulator: Emulator, tmp_path: Path, point: str
) -> None:
    """74, two lines on what is wrong and what to do, no traceback; nothing is missing or sent too often in the end."""
    source = Source.draw(1)
    (tmp_path / "list.csv").write_text(source.text)
    env, upload = environment(emulator, tmp_path), upload_command(emulator, source)
    short = await driver.run(tmp_path, env, *upload, kill={"point": point, "nth": 1, "memory": True})
    assert (short.code, "error: there is not enough memory\n  what to do: " in short.err) == (74, True), short.err
    assert not any(word in short.err for word in ("Traceback", "bug:", "@example.com")), short.err
    again = ["resume", RUN_ID, "--json"] if any(tmp_path.glob("state/runs/*/journal.sqlite")) else upload
    ended = await driver.run(tmp_path, env, *again)
    assert ended.code == 0, ended.err
    check_finished(emulator, source, json.loads(ended.out), in_flight=CONCURRENCY)
