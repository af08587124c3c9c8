"""Processes killed with SIGKILL at every named point, and at any time: what was begun is finished, exactly.

CRASH_TRIALS raises the number of trials (20) for a longer run, such as 1000 with `-n 4`, which takes eleven minutes of
processor time; CRASH_FIRST leaves out as many before them.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from audiencekit.emulator import Emulator
from audiencekit.errors import AudiencekitError
from audiencekit.process.crash_points import AUDIT_POINTS, POINTS
from audiencekit.reporting.report import Report
from audiencekit.runs.reports import read_report, report_from_events
from tests.crashes.killing import Driver, Ended
from tests.crashes.scenario import (
    CONCURRENCY,
    Source,
    check_events,
    check_finished,
    check_logged,
    environment,
    log_of,
    newest_run,
    requests_in_flight,
    upload_command,
)
from tests.shortened import shortened

TRIALS = int(os.environ.get("CRASH_TRIALS", "20"))
FIRST = int(os.environ.get("CRASH_FIRST", "0"))
# Seeds of the short suite: killed after an intent, after a request, before an acknowledgement, after a report.
SOME = (5, 7, 11)
PER_REQUEST = ("intent", "send", "acknowledgement")
KILLED = -9


@dataclass(frozen=True)
class KilledRun:
    """A source, and where each of its processes is killed; the one after them is not."""

    seed: int
    kills: tuple[dict[str, Any], ...]

    def __str__(self) -> str:
        wheres = (
            f"{kill['point']} {kill['nth']}" if "point" in kill else f"{kill['seconds']:.2f} s" for kill in self.kills
        )
        return f"{self.seed}: {', then '.join(wheres)}"


def _killed_runs() -> Iterator[KilledRun]:
    """Every point once, those of requests at the third one too, then points and times at random, up to three kills."""
    for seed, point in enumerate(POINTS):
        yield KilledRun(seed, ({"point": point, "nth": 1},))
    for seed, point in enumerate(POINTS, start=len(POINTS)):
        if point.endswith(PER_REQUEST):
            yield KilledRun(seed, ({"point": point, "nth": 3},))
    seed = 2 * len(POINTS)
    while True:
        seed += 1
        draw = random.Random(seed)
        yield KilledRun(seed, tuple(_kill(draw) for _ in range(draw.randint(1, 3))))


def _kill(draw: random.Random) -> dict[str, Any]:
    if draw.random() < 0.5:
        return {"seconds": draw.uniform(0.05, 0.5)}
    return {"point": draw.choice(POINTS), "nth": draw.randint(1, 4)}


# Several runs of one second, of which only the last was begun: it is the one to go on with.
BEGUN_AT_LAST = tuple({"point": point, "nth": 1} for point in ("before begin", "before begin", "after acknowledgement"))
KILLED_RUNS = [
    *itertools.islice(_killed_runs(), FIRST, FIRST + TRIALS),
    *(KilledRun(seed, BEGUN_AT_LAST) for seed in range(1_000, 1_004)),
]
_RUNS = shortened(sorted(KILLED_RUNS, key=lambda run: run.seed not in SOME), len(SOME))


@pytest.mark.parametrize("run", _RUNS, ids=str)
async def test_a_killed_run_is_finished_exactly(
    driver: Driver, emulator: Emulator, tmp_path: Path, run: KilledRun
) -> None:
    """No member is missing or too many, and at most the requests in flight at the kills were sent twice."""
    source = Source.draw(run.seed)
    (tmp_path / "list.csv").write_text(source.text)
    (tmp_path / "elsewhere").mkdir()
    events = tmp_path / "events.jsonl"
    env, upload = environment(emulator, tmp_path), [*upload_command(emulator, source), "--events", str(events)]
    in_flight, begun = 0, False
    for kill in (*run.kills, None):
        ended = await _go_on(driver, tmp_path, env, kill, "--json", "--events", str(events)) if begun else None
        if ended is None or _was_not_begun(ended):
            assert not log_of(emulator), "something was sent before there was a journal"
            ended = await driver.run(tmp_path, env, *upload, kill=kill)
        assert ended.code in (0, KILLED), ended.err
        begun = begun or any(tmp_path.glob("state/runs/*"))
        left = requests_in_flight(tmp_path / "state") if ended.code == KILLED else 0
        assert left <= CONCURRENCY
        in_flight += left
        if ended.code == KILLED and begun:
            _check_events_of_killed(events, tmp_path)
    assert ended is not None
    assert ended.code == 0
    check_finished(emulator, source, json.loads(ended.out), in_flight=in_flight)
    check_events(events, tmp_path)
    check_logged(tmp_path / "state", json.loads(ended.out))


@pytest.mark.parametrize(
    "run",
    shortened([KilledRun(7, ({"point": point, "nth": nth},)) for nth in (2, 3, 1) for point in AUDIT_POINTS], 1),
    ids=str,
)
async def test_a_run_that_is_killed_at_the_audit_log_is_finished_exactly(
    driver: Driver, emulator: Emulator, tmp_path: Path, run: KilledRun
) -> None:
    """At its first entry, at its last one, and at the first line of the file."""
    await test_a_killed_run_is_finished_exactly(driver, emulator, tmp_path, run)


def _check_events_of_killed(events: Path, tmp_path: Path) -> None:
    """They claim nothing that the journal does not hold, and lack only what was being written."""
    with contextlib.suppress(AudiencekitError):  # it had no report yet, or no line
        known = Report.from_json(read_report(tmp_path / "state", newest_run(tmp_path)))
        found = report_from_events(events, newest_run(tmp_path))
        assert 0 <= known.requests_confirmed - found.requests_confirmed <= CONCURRENCY
        assert found.attempts <= known.attempts


async def _go_on(driver: Driver, tmp_path: Path, env: dict[str, str], kill: dict[str, Any] | None, *more: str) -> Ended:
    """From another directory: nothing may depend on where a run was begun."""
    return await driver.run(tmp_path / "elsewhere", env, "resume", newest_run(tmp_path), *more, kill=kill)


def _was_not_begun(ended: Ended) -> bool:
    if ended.code != 3:
        return False
    return json.loads(ended.out)["error"]["message"].startswith(("the run has no journal", "the run ended before"))
