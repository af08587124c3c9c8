"""A rotation of the state key that is killed at any moment: all is under one key, and nothing of it is left.

KEY_KILLS raises the number of kills (6) for a longer run, such as 300.
"""

from __future__ import annotations

import json
import os
import random
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audiencekit.emulator import Emulator
from audiencekit.process.crash_points import ERASURE_POINTS, SYNC_POINTS
from tests.crashes.killing import Driver
from tests.crashes.scenario import environment

KILLS = int(os.environ.get("KEY_KILLS", "6"))
KILLED = -9
POINTS = ("before ready", "after ready", "before forward", "after forward", *ERASURE_POINTS[:4], *SYNC_POINTS[2:6])


def _kills() -> Iterator[dict[str, Any]]:
    draw = random.Random(3)
    while True:
        yield {"point": draw.choice(POINTS), "nth": draw.randint(1, 6)}
        yield {"seconds": draw.uniform(0.0, 0.25)}


KILL_LIST = [kill for kill, _ in zip(_kills(), range(KILLS), strict=False)]
TIMES = 6  # rotations of one state directory, each killed


@pytest.mark.slow
@pytest.mark.parametrize("place", ["file", "environment"])
@pytest.mark.parametrize("kills", [KILL_LIST[at : at + TIMES] for at in range(0, KILLS, TIMES)], ids=len)
async def test_all_is_under_one_key(
    place: str, kills: list[dict[str, Any]], driver: Driver, emulator: Emulator, tmp_path: Path
) -> None:
    env = environment(emulator, tmp_path)
    old = secrets.token_hex(32)
    given = {} if place == "file" else {"AUDIENCEKIT_KEY": old}
    people = "".join(f"person{number}@example.com\n" for number in range(40))
    (tmp_path / "list.csv").write_text("email\n" + people)
    (tmp_path / "gone.csv").write_text("email\nperson1@example.com\n")
    sync = ("sync", "list.csv", "--audience", emulator.audience_id, "--json")
    assert (await driver.run(tmp_path, env | given, *sync)).code == 0
    assert (await driver.run(tmp_path, env | given, "forget", "--from", "gone.csv")).code == 0
    for kill in kills:
        fresh = secrets.token_hex(32)
        rotate = env | given | ({} if place == "file" else {"AUDIENCEKIT_NEW_KEY": fresh})
        ended = await driver.run(tmp_path, rotate, "key", "rotate", kill=kill)
        assert ended.code in (0, KILLED), ended.err
        if place == "environment":
            given = {"AUDIENCEKIT_KEY": await _the_one(driver, tmp_path, env, given["AUDIENCEKIT_KEY"], fresh)}
        shown = await driver.run(tmp_path, env | given, "key", "show", "--json")
        files = json.loads(shown.out)["files"]
        assert (shown.code, set(files)) == (0, {"memory of erased people", "snapshots", "journals"}), shown.err
        assert not list(tmp_path.rglob(".rotation"))
        report = json.loads((await driver.run(tmp_path, env | given, *sync)).out)
        assert (report["state"], report["rows"]["unchanged"], report["rows"]["suppressed"]) == ("complete", 39, 1)


async def _the_one(driver: Driver, directory: Path, env: dict[str, str], *keys: str) -> str:
    """That of `keys` which opens everything; the other is refused, or opens journals at most."""
    codes = [(await driver.run(directory, env | {"AUDIENCEKIT_KEY": key}, "key", "show")).code for key in keys]
    assert sorted(codes) in ([0, 3], [0, 77])
    return keys[codes.index(0)]
