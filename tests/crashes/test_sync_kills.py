"""A replacement killed at any point: at every moment the audience holds what the old and the new list share.

And the next sync ends it as the new list; that the one after it has nothing left to send is seen in
tests/audiences/sync/test_run.py. SYNC_KILLS raises the number of kills (6) for a longer run, such as
200.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audiencekit.emulator import Emulator
from audiencekit.process.crash_points import POINTS, SYNC_POINTS
from tests.crashes.killing import Driver
from tests.crashes.scenario import Entry, check_events, environment, log_of
from tests.shortened import shortened

KILLS = int(os.environ.get("SYNC_KILLS", "6"))
KILLED = -9
OLD, NEW = range(40), range(15, 55)


def _kills() -> Iterator[dict[str, Any]]:
    """Points of a sync first, then all of them and times at random."""
    for point in SYNC_POINTS:
        yield {"point": point, "nth": 1}
    draw = random.Random(1)
    while True:
        if draw.random() < 0.5:
            yield {"seconds": draw.uniform(0.1, 1.5)}
        yield {"point": draw.choice([*POINTS, *SYNC_POINTS]), "nth": draw.randint(1, 5)}


KILL_LIST = [kill for kill, _ in zip(_kills(), range(KILLS), strict=False)]


def _write(path: Path, people: range) -> None:
    lines = [f"person{number}@example.com,handle_{number}" for number in people]
    path.write_text("\n".join(["email,handle", *lines]) + "\n")


def _histories(log: list[dict[str, Any]]) -> Iterator[tuple[str, set[Entry]]]:
    """After every operation: its verb, and who is in the audience."""
    members: set[Entry] = set()
    for line in log:
        entries = {frozenset((kind, key) for kind, keys in user.items() for key in keys) for user in line["users"]}
        if line["operation_type"] == "Update":
            members = members | entries
        else:
            keys = frozenset().union(*entries)
            members = {member for member in members if not member & keys}
        yield line["operation_type"], members


@pytest.mark.parametrize("kill", shortened(KILL_LIST, 1), ids=str)
async def test_a_killed_replacement_is_never_half(
    driver: Driver, emulator: Emulator, tmp_path: Path, kill: dict[str, Any]
) -> None:
    """Neither while it goes on nor between the kill and the next sync; then it is exact, and nothing is left."""
    env = environment(emulator, tmp_path)
    command = ["sync", "list.csv", "--audience", emulator.audience_id, "--replace", "--json"]
    command += ["--events", str(tmp_path / "events.jsonl")]
    _write(tmp_path / "list.csv", OLD)
    assert (await driver.run(tmp_path, env, *command)).code == 0
    begun = len(log_of(emulator))
    _, old = list(_histories(log_of(emulator)))[-1]
    _write(tmp_path / "list.csv", NEW)
    killed = await driver.run(tmp_path, env, *command, kill=kill)
    assert killed.code in (0, KILLED), killed.err
    ended = await driver.run(tmp_path, env, *command)
    assert ended.code == 0, ended.err
    moments = list(_histories(log_of(emulator)))
    _, new = moments[-1]
    assert len(old) == len(new) == 40
    assert len(old & new) == 25
    assert all(members >= old & new for _, members in moments[begun:])
    verbs = [verb for verb, _ in moments[begun:]]
    assert "Delete" in verbs
    assert all(members >= new or members >= old for _, members in moments[begun:])
    assert not list((tmp_path / "state" / "snapshots").glob("*/changes"))
    check_events(tmp_path / "events.jsonl", tmp_path)
