"""Purges that are killed at every named point, and at any time: a run is whole or gone, and the next purge ends it.

PURGE_KILLS raises the number of trials (12) for a longer run.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audiencekit.emulator import Emulator
from audiencekit.process.crash_points import PURGE_POINTS
from audiencekit.runs.journal.file import JOURNAL
from audiencekit.runs.start import KEPT
from tests.crashes.killing import Driver
from tests.crashes.scenario import Source, environment, upload_command
from tests.shortened import shortened

TRIALS = int(os.environ.get("PURGE_KILLS", "12"))
KILLED = -9
PURGE = ("purge", "--older-than", "30d", "--yes", "--json")
DAY = 86_400
Files = dict[str, bytes]


def _trials() -> Iterator[tuple[int, dict[str, Any]]]:
    """Every point of the first and of the third thing that goes, then points and times at random."""
    points = [{"point": point, "nth": nth} for nth in (1, 3) for point in PURGE_POINTS]
    yield from enumerate(point for point in points if point["nth"] == 1 or "order" not in point["point"])
    for seed in itertools.count(len(points)):
        draw = random.Random(seed)
        at_a_time = {"seconds": draw.uniform(0.01, 0.07)}
        yield (
            seed,
            at_a_time if draw.random() < 0.5 else {"point": draw.choice(PURGE_POINTS), "nth": draw.randint(1, 5)},
        )


@pytest.fixture(scope="module")
def old_state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The place of a state directory that all trials copy; made by the first."""
    return tmp_path_factory.mktemp("old") / "state"


async def _make(state: Path, driver: Driver, directory: Path) -> None:
    """Two runs that are complete, one that was refused, two that can be resumed, erasures whole and cut short."""
    async with Emulator() as emulator:
        source = Source.draw(0)
        (directory / "list.csv").write_text(source.text)
        (directory / "none.csv").write_text("email\nx\n")
        env = {**environment(emulator, directory), "AUDIENCEKIT_STATE_DIR": str(state)}
        upload = upload_command(emulator, source)
        cut = {"point": "after acknowledgement", "nth": 2}
        for command, kill in (
            (upload, None),
            (upload, None),
            (["upload", "none.csv", *upload[2:]], None),
            ([*upload, "--keep-spool"], cut),
            (upload, cut),
            (["forget", "--from", "list.csv"], None),
            (["forget", "--from", "list.csv", "--do-not-reach"], cut),
            (["forget", "--from", "list.csv"], {"point": "after begin", "nth": 1}),
        ):
            await driver.run(directory, env, *command, kill=kill)
    max(state.glob("erasures/*/receipt.json")).unlink()  # a kill came between its keys and its receipt
    (left,) = state.glob("runs/*/spool.sealed")
    whole = next(path for path in state.glob("runs/*") if path != left.parent and not _is_cut(path))
    shutil.copyfile(left, whole / KEPT)  # a kill came between its end and the end of its spool
    assert len(list(state.glob("runs/*"))) == 5
    assert len(list(state.glob("erasures/*/receipt.json"))) == 2
    assert len(list(state.glob("erasures/*/keys.sealed"))) == 2


def _is_cut(run: Path) -> bool:
    return b'"state": "incomplete"' in (run / "report.json").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "kill"), list(itertools.islice(_trials(), TRIALS)), ids=str)
async def test_a_killed_purge_leaves_each_run_whole_or_gone(
    driver: Driver, emulator: Emulator, tmp_path: Path, old_state: Path, seed: int, kill: dict[str, Any]
) -> None:
    """Nothing is lost that was to stay, and nothing is left that was to go; every other command works meanwhile."""
    if not old_state.exists():
        await _make(old_state, driver, tmp_path)
    state, unfinished = tmp_path / "state", seed % 2 == 1
    shutil.copytree(old_state, state)
    _age(state)
    before = {path.name: _files(path) for path in state.glob("runs/*")}
    stays = {path.name for path in state.glob("runs/*") if _is_cut(path) and not unfinished}
    kept = {name: _files(state / name) for name in ("forgotten", "forgotten.serial", "key")}
    erasures = {path.parent.name: path.read_bytes() for path in state.glob("erasures/*/receipt.json")}
    env, options = environment(emulator, tmp_path), (["--unfinished"] if unfinished else [])

    killed = await driver.run(tmp_path, env, *PURGE, *options, kill=kill)
    assert killed.code in (KILLED, 0), killed.err
    _check_whole_or_gone(state, before, stays)
    _check_no_keys_without_their_run(state, kill)
    listed = await driver.run(tmp_path, env, "runs", "--json")
    ids = {one["run_id"] for one in json.loads(listed.out)}
    assert ids == {path.parent.name for path in state.glob("runs/[0-9]*/report.json")} | set(erasures)
    for run_id in ids:
        assert (await driver.run(tmp_path, env, "report", run_id, "--json")).code == 0

    ended = await driver.run(tmp_path, env, *PURGE, *options)
    assert (ended.code, json.loads(ended.out)["state"]) == (0, "complete"), ended.err
    assert {path.name: _files(path) for path in state.glob("runs/*")} == {name: before[name] for name in stays}
    assert [
        *state.glob("runs/.*"),
        *state.glob("erasures/.purged*"),
        *state.glob(".begun*"),
        *state.glob("purges/.*"),
    ] == []
    assert {path.parent.name: path.read_bytes() for path in state.glob("erasures/*/receipt.json")} == erasures
    assert len(list(state.glob("erasures/*/keys.sealed"))) == 1  # of the one that is not finished
    assert {name: _files(state / name) for name in kept} == kept
    assert {*(state / "begun").read_text().split()} == stays | set(erasures)
    for receipt in state.glob("purges/*.json"):
        assert json.loads(receipt.read_bytes())["state"] in ("begun", "complete")


def _age(state: Path) -> None:
    moment = time.time() - 40 * DAY
    for path in (*state.glob("runs/*"), *state.glob("erasures/*"), *state.glob("erasures/*/*")):
        os.utime(path, (moment, moment))


def _files(path: Path) -> Files:
    files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
    return {str(each.relative_to(path)): each.read_bytes() for each in files}


def _check_whole_or_gone(state: Path, before: dict[str, Files], stays: set[str]) -> None:
    there = {path.name: _files(path) for path in state.glob("runs/[0-9]*")}
    assert stays <= set(there)
    for name, files in there.items():
        assert files == before[name]


def _check_no_keys_without_their_run(state: Path, kill: dict[str, Any]) -> None:
    """At most one is out of sight, and after its keys went nothing of it can be read."""
    left = list(state.glob("*/.purged-*"))
    assert len(left) <= 1
    if kill.get("point") in ("after keys", "before files"):
        for path in left:
            assert not list(path.glob("*.sealed"))
            assert not (path / JOURNAL).exists() or not (path / JOURNAL).read_bytes().strip(b"\0")


async def test_a_run_that_a_purge_left_alone_can_be_resumed(driver: Driver, emulator: Emulator, tmp_path: Path) -> None:
    """After a kill in the middle of a purge of another run."""
    source = Source.draw(2)
    (tmp_path / "list.csv").write_text(source.text)
    env, upload = environment(emulator, tmp_path), upload_command(emulator, source)
    assert (await driver.run(tmp_path, env, *upload)).code == 0
    cut = await driver.run(tmp_path, env, *upload, kill={"point": "after acknowledgement", "nth": 1})
    assert cut.code == KILLED
    _age(tmp_path / "state")
    killed = await driver.run(tmp_path, env, *PURGE, kill={"point": "after keys", "nth": 1})
    assert killed.code == KILLED
    ended = await driver.run(tmp_path, env, "resume", "last", "--json")
    assert (ended.code, json.loads(ended.out)["state"]) == (0, "complete"), ended.err
    assert (await driver.run(tmp_path, env, "report", "last")).code == 0


@pytest.mark.parametrize("point", shortened((point for point in PURGE_POINTS if "order" not in point), 1))
async def test_a_run_that_is_killed_while_the_retention_purges_is_begun_anew(
    driver: Driver, emulator: Emulator, tmp_path: Path, point: str
) -> None:
    """Nothing was sent yet, and the next one takes what was left."""
    source = Source.draw(4)
    (tmp_path / "list.csv").write_text(source.text)
    upload = upload_command(emulator, source)
    env = {**environment(emulator, tmp_path), "AUDIENCEKIT_RETENTION": "30d"}
    assert (await driver.run(tmp_path, env, *upload)).code == 0
    _age(tmp_path / "state")
    killed = await driver.run(tmp_path, env, *upload, kill={"point": point, "nth": 1})
    assert killed.code == KILLED
    ended = await driver.run(tmp_path, env, *upload)
    assert (ended.code, json.loads(ended.out)["state"]) == (0, "complete"), ended.err
    (run,) = (tmp_path / "state" / "runs").iterdir()
    assert run.name == json.loads(ended.out)["run_id"]
