"""Processes killed with SIGKILL at every named point, and at any time: what was begun is finished, exactly.

CRASH_TRIALS raises the number of trials (40) for a longer run.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from audiencekit.crashpoints import POINTS
from audiencekit.emulator import Emulator

from .conftest import Driver, Ended

TRIALS = int(os.environ.get("CRASH_TRIALS", "40"))
ROWS = 36
CONCURRENCY = 3
PER_REQUEST = ("intent", "send", "acknowledgement")
KILLED = -9
Entry = frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Trial:
    """A source, and where each of its processes is killed; the one after them is not."""

    seed: int
    kills: tuple[dict[str, Any], ...]

    def __str__(self) -> str:
        wheres = (
            f"{kill['point']} {kill['nth']}" if "point" in kill else f"{kill['seconds']:.2f} s" for kill in self.kills
        )
        return f"{self.seed}: {', then '.join(wheres)}"


def _trials() -> Iterator[Trial]:
    """Every point once, those of requests at the third one too, then points and times at random, up to three kills."""
    for seed, point in enumerate(POINTS):
        yield Trial(seed, ({"point": point, "nth": 1},))
    for seed, point in enumerate(POINTS, start=len(POINTS)):
        if point.endswith(PER_REQUEST):
            yield Trial(seed, ({"point": point, "nth": 3},))
    seed = 2 * len(POINTS)
    while True:
        seed += 1
        draw = random.Random(seed)
        yield Trial(seed, tuple(_kill(draw) for _ in range(draw.randint(1, 3))))


def _kill(draw: random.Random) -> dict[str, Any]:
    if draw.random() < 0.5:
        return {"seconds": draw.uniform(0.05, 0.5)}
    return {"point": draw.choice(POINTS), "nth": draw.randint(1, 4)}


@dataclass
class Source:
    """Rows of invented people, and who is in the audience when each was heeded in turn."""

    text: str
    members: set[Entry] = field(default_factory=set)

    @classmethod
    def draw(cls, seed: int) -> Source:
        """Of one verb for even seeds, of both for odd ones, where later rows share keys with earlier ones."""
        draw, mixed = random.Random(seed), seed % 2
        made = cls("email,handle,what\n" if mixed else "email,handle\n")
        for number in range(ROWS):
            person = draw.randrange(ROWS // 2) if mixed else number
            row = {"email": f"person{person}@example.com", "handle": f"h{draw.randrange(ROWS)}_{seed}"}
            verb = draw.choice(("update", "update", "delete")) if mixed else "update"
            made.text += ",".join([*row.values(), *([verb] if mixed else [])]) + "\n"
            made._heed(verb, frozenset((kind, hashlib.sha256(text.encode()).hexdigest()) for kind, text in row.items()))
        return made

    def _heed(self, verb: str, entry: Entry) -> None:
        if verb == "update":
            self.members.add(entry)
        else:
            self.members = {member for member in self.members if not member & entry}


def _members(emulator: Emulator, log: list[dict[str, Any]]) -> set[Entry]:
    """What the log leaves in the audience."""
    members: set[Entry] = set()
    for line in log:
        entries = [frozenset((kind, key) for kind, keys in user.items() for key in keys) for user in line["users"]]
        if line["operation_type"] == "Update":
            members |= set(entries)
        else:
            members = {member for member in members if not any(member & entry for entry in entries)}
    return members


def _log(emulator: Emulator) -> list[dict[str, Any]]:
    return [json.loads(line) for line in b"".join(emulator.store.operations.lines()).splitlines()]


def _confirmed(emulator: Emulator) -> int:
    """Requests to the users endpoint that the service applied."""
    requests = emulator.store.requests.documents()
    return sum(entry["path"].endswith("/users") and entry["status"] == 200 for entry in requests)


def _intended(state_dir: Path) -> int:
    """Requests in flight when the last process was killed."""
    for path in state_dir.glob("runs/*/journal.sqlite"):
        connection = sqlite3.connect(path)
        found = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'requests'").fetchone()[0]
        count = (
            connection.execute("SELECT count(*) FROM requests WHERE state = 'intended'").fetchone()[0] if found else 0
        )
        connection.close()
        return int(count)
    return 0


TRIAL_LIST = [trial for trial, _ in zip(_trials(), range(TRIALS), strict=False)]


@pytest.mark.parametrize("trial", TRIAL_LIST, ids=str)
async def test_a_killed_run_is_finished_exactly(
    driver: Driver, emulator: Emulator, tmp_path: Path, trial: Trial
) -> None:
    """Nobody is missing, nobody is there in error, and no more was sent twice than was in flight at the kills."""
    source = Source.draw(trial.seed)
    (tmp_path / "list.csv").write_text(source.text)
    (tmp_path / "elsewhere").mkdir()
    env = {**emulator.env, "AUDIENCEKIT_STATE_DIR": str(tmp_path / "state"), "AUDIENCEKIT_REQUESTS_PER_MINUTE": "1500"}
    env["AUDIENCEKIT_CONCURRENCY"] = str(CONCURRENCY)
    options = ["--operation-column", "what"] if trial.seed % 2 else []
    upload = ["upload", "list.csv", "--audience", emulator.audience_id, "--json", *options]
    in_flight = 0

    async def attempt(kill: dict[str, Any] | None, *, first: bool) -> Ended:
        if first:
            return await driver.run(tmp_path, env, *upload, kill=kill)
        ended = await driver.run(tmp_path / "elsewhere", env, "resume", "last", "--json", kill=kill)
        if ended.code == 3 and json.loads(ended.out)["error"]["message"].startswith(
            ("the run has no j", "the run ended b")
        ):
            assert not _log(emulator), "something was sent before there was a journal"
            return await driver.run(tmp_path, env, *upload, kill=kill)
        return ended

    first = True
    for kill in trial.kills:
        ended = await attempt(kill, first=first)
        first = first and not list(tmp_path.glob("state/runs/*"))
        assert ended.code in (0, KILLED), ended.err
        left = _intended(tmp_path / "state") if ended.code == KILLED else 0
        assert left <= CONCURRENCY
        in_flight += left
    ended = await attempt(None, first=first)
    assert ended.code == 0, ended.err

    report, log = json.loads(ended.out), _log(emulator)
    assert _members(emulator, log) == source.members
    assert {line["expires_at"] for line in log} == {report["expires_at"]}
    assert report["state"] == "complete"
    assert report["rows"].pop("read") == ROWS == sum(report["rows"].values())
    assert report["rows"]["pending"] == 0
    requests, counts = report["requests"], report["reconciliation"]
    assert requests["confirmed"] == requests["planned"] > 3
    assert counts["records_sent"] == counts["success_count"] == counts["total_count"] == report["rows"]["sent"]
    assert _confirmed(emulator) - requests["planned"] <= in_flight
    assert _confirmed(emulator) <= requests["attempts"] <= requests["planned"] + in_flight
