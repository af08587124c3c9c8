"""Commands that notify, killed at every named point and at any time: each of their runs is told at least once.

NOTIFICATION_RUNS raises the number of runs (30) for a longer campaign.
"""

from __future__ import annotations

import itertools
import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audiencekit.emulator import Emulator
from audiencekit.process.crash_points import POINTS, TOLD_POINTS
from audiencekit.runs.store import RunStore
from tests.crashes.killing import Driver
from tests.crashes.scenario import Source, environment, upload_command
from tests.notifications.localreceiver import local_receiver

RUNS = int(os.environ.get("NOTIFICATION_RUNS", "30"))
KILLED = -9
FURTHER = 20  # commands that are not killed, at most
RULE = ("--notify-on", "expiry=500d")  # true of every complete run


def _kills() -> Iterator[dict[str, Any]]:
    """Every point, those of the notification most, then points and times at random."""
    yield from ({"point": point, "nth": nth} for nth in (1, 2) for point in TOLD_POINTS)
    yield from ({"point": point, "nth": 1} for point in POINTS)
    for seed in itertools.count():
        draw = random.Random(seed)
        at_a_time = {"seconds": draw.uniform(0.01, 0.6)}
        yield (at_a_time if draw.random() < 0.6 else {"point": draw.choice(TOLD_POINTS), "nth": draw.randint(1, 4)})


@pytest.mark.slow
@pytest.mark.parametrize("count", [RUNS])
async def test_each_run_is_told_under_its_id(driver: Driver, tmp_path: Path, count: int) -> None:
    """By its own command or by the next; twice only where the command was killed before it could note the answer."""
    source = Source.draw(0)
    (tmp_path / "list.csv").write_text(source.text)
    lost = 0
    with local_receiver() as receiver:
        async with Emulator() as emulator:
            env = {**environment(emulator, tmp_path), "AUDIENCEKIT_NOTIFY_URL": receiver.url}
            command = [*upload_command(emulator, source), *RULE]
            store = RunStore(tmp_path / "state")
            for kill in _kills():
                if len(store.ids()) >= count:
                    break
                ended = await driver.run(tmp_path, env, *command, kill=kill)
                assert ended.code in (0, KILLED), ended.err
                lost += ended.code == KILLED
            for _ in range(FURTHER):  # each has a few seconds for all that is left
                ended = await driver.run(tmp_path, env, *command)
                assert ended.code == 0, ended.err
                told = {run for run, _ in receiver.notices}
                if told == set(store.ids()):
                    break
        assert told == set(store.ids())
        assert sum(times - 1 for times in Counter(receiver.ids).values()) <= lost
        bodies = [json.loads(body) for body in receiver.bodies]
        rules = {notice["id"]: (body["run_id"], notice["rule"]) for body in bodies for notice in body["notices"]}
        assert len(rules) == len(set(rules.values()))  # one id for each run and rule
