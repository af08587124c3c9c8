"""A state directory that stands elsewhere, or is copied, between a kill and what comes after it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from audiencekit.emulator import Emulator
from tests.crashes.driver import RUN_ID
from tests.crashes.killing import Driver
from tests.crashes.scenario import CONCURRENCY, Source, check_finished, environment, upload_command
from tests.shortened import shortened

KILLED = -9


def _content(directory: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


@pytest.mark.parametrize("is_copy", shortened([False, True], 1), ids=["moved", "copied"])
async def test_a_run_goes_on_where_its_state_directory_stands(
    driver: Driver, emulator: Emulator, tmp_path: Path, is_copy: bool
) -> None:
    """Exactly, with its rejections beside its journal; the original of a copy stays as it is."""
    source, state, elsewhere = Source.draw(2), tmp_path / "state", tmp_path / "mounted" / "elsewhere"
    (tmp_path / "list.csv").write_text(source.text)
    env = environment(emulator, tmp_path)
    kill = {"point": "after acknowledgement", "nth": 2}
    assert (await driver.run(tmp_path, env, *upload_command(emulator, source), kill=kill)).code == KILLED
    elsewhere.parent.mkdir()
    if is_copy:
        shutil.copytree(state, elsewhere)
    else:
        state.rename(elsewhere)
    before = _content(state)
    (elsewhere / "runs" / RUN_ID / "rejections.csv").unlink()
    env["AUDIENCEKIT_STATE_DIR"] = str(elsewhere)
    ended = await driver.run(tmp_path, env, "resume", "last", "--json")
    assert ended.code == 0, ended.err
    check_finished(emulator, source, json.loads(ended.out), in_flight=CONCURRENCY)
    assert (elsewhere / "runs" / RUN_ID / "rejections.csv").exists()
    assert _content(state) == before
    assert state.exists() is is_copy
