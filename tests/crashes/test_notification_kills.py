"""Commands that notify, killed at every named point and at any time: each of their runs is told at least once.

NOTIFICATION_RUNS raises the number of runs (30) for a longer campaign, such as 500 with `-n 4`, in nights of at most
NIGHT runs: each has its own state directory and receiver.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audiencekit.emulator import Emulator, EmulatorOptions
from audiencekit.errors import PlanRefused
from audiencekit.notifications.deliveries import MOST_SECONDS
from audiencekit.process.crash_points import POINTS, TOLD_POINTS
from audiencekit.runs.store import RunStore
from tests.crashes.killing import Driver
from tests.crashes.scenario import environment
from tests.notifications.localreceiver import LocalReceiver, local_receiver

RUNS, NIGHT = int(os.environ.get("NOTIFICATION_RUNS", "30")), 125
NIGHTS = [(seed, min(NIGHT, RUNS - before)) for seed, before in enumerate(range(0, RUNS, NIGHT))]
KILLED = -9
FURTHER = 40  # commands that are not killed, at most
RULE = ("--notify-on", "expiry=500d")  # true of every complete run
FLOOR = 10  # no smaller count is told
# Ways of the receiver: mostly it answers well. One that is silent costs seconds of real time.
BAD_WAYS, DEAD = ("redirect", "error", "nonsense", "drop"), "silence"


def _kills(seed: int) -> Iterator[dict[str, Any] | None]:
    """In the first night every point, those of the notification most; then points and times at random, and no kill."""
    if not seed:
        yield from ({"point": point, "nth": nth} for nth in (1, 2) for point in TOLD_POINTS)
        yield from ({"point": point, "nth": 1} for point in POINTS)
    for number in itertools.count():
        draw = random.Random(f"{seed} {number}")
        at_a_time = {"seconds": draw.uniform(0.01, 1.0)}
        at_a_point = {"point": draw.choice(TOLD_POINTS), "nth": draw.randint(1, 4)}
        yield draw.choice((None, at_a_time, at_a_time, at_a_point))


def _list(draw: random.Random) -> tuple[str, int]:
    """A list of invented people, and the exit code of its upload: it is refused when most rows have no address."""
    good, bad = draw.randint(1, 40), draw.randint(0, FLOOR - 1)
    lines = [f"canary{draw.randrange(10**6)}@example.com" for _ in range(good)] + ["canary of no address"] * bad
    return "email\n" + "".join(f"{line}\n" for line in lines), PlanRefused.exit_code if bad > good else 0


def _way(draw: random.Random) -> str:
    chance = draw.random()
    return DEAD if chance < 0.02 else draw.choice(BAD_WAYS) if chance < 0.3 else "well"


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "count"), NIGHTS)
async def test_each_run_is_told_under_its_id(driver: Driver, tmp_path: Path, seed: int, count: int) -> None:
    """By its own command or by a later one, whatever the receiver answers; and no exit code is another one.

    Twice only where it answered badly, or where the command was killed before it could note the answer.
    """
    draw, store, killed = random.Random(seed), RunStore(tmp_path / "state"), 0
    with local_receiver() as receiver:
        async with Emulator(EmulatorOptions(rate=(1_000_000, 1.0))) as emulator:
            env = {**environment(emulator, tmp_path), "AUDIENCEKIT_NOTIFY_URL": receiver.url}
            command = ["upload", "list.csv", "--audience", emulator.audience_id, *RULE]
            for kill in _kills(seed):
                if len(store.ids()) >= count:
                    break
                text, code = _list(draw)
                (tmp_path / "list.csv").write_text(text)
                receiver.way = _way(draw)
                ended = await driver.run(tmp_path, env, *command, kill=kill)
                assert ended.code in (code, KILLED), ended.err
                killed += ended.code == KILLED
                # The limit in the words of the code: a clock of the test would measure the machine.
                assert set(re.findall(r"no answer within (\S+) seconds", ended.err)) <= {f"{MOST_SECONDS:g}"}
            receiver.way = "well"
            (tmp_path / "list.csv").write_text("email\ncanary@example.com\n")
            for _ in range(FURTHER):  # each has a few seconds for all that is left
                ended = await driver.run(tmp_path, env, *command)
                assert ended.code == 0, ended.err
                if set(store.ids()) == (told := {run for run, _ in receiver.notices}):
                    break
        assert told == set(store.ids())
        _check_ids(receiver, killed)
        for body in receiver.bodies:
            _check_counts(body)
    ways = ", ".join(f"{way} {times}" for way, times in Counter(receiver.ways).items())
    print(f"{len(told)} of {len(store.ids())} runs told; {killed} kills; the receiver answered: {ways}")  # noqa: T201


def _check_ids(receiver: LocalReceiver, killed: int) -> None:
    """One id for each run and rule, which a receiver that answered well gets again only after a kill."""
    bodies = [json.loads(body) for body in receiver.bodies]
    rules = {notice["id"]: (body["run_id"], notice["rule"]) for body in bodies for notice in body["notices"]}
    assert len(rules) == len(set(rules.values()))
    taken, repeated = set[str](), 0
    for body, way in zip(bodies, receiver.ways, strict=True):
        if way == "well":
            ids = {notice["id"] for notice in body["notices"]}
            repeated += not ids.isdisjoint(taken)
            taken |= ids
    assert taken == set(rules)
    assert repeated <= killed


def _check_counts(body: bytes) -> None:
    """No value, no hash, and no count of fewer than ten people but none."""
    assert b"canary" not in body
    assert not re.search(rb"\b[0-9a-f]{64}\b", body)
    document = json.loads(body)
    counts = [(count, document["rounded_to"]) for count in (document["rows"] or {}).values()]
    counts += [(document["people"], document["rounded_to"])]
    counts += [(document[name], FLOOR) for name in ("people_before", "expiring")]
    for count, step in counts:
        assert count in (None, 0) or (count >= FLOOR and count % step == 0)
