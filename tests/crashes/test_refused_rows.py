"""Rows that the service refuses, in killed runs: each is told once, with its reason, and stops no other row."""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from audiencekit.emulator import Emulator
from audiencekit.emulator.faults.orders import read_fault
from tests.crashes.driver import RUN_ID
from tests.crashes.killing import Driver
from tests.crashes.scenario import environment, log_of, members_of
from tests.shortened import shortened

PEOPLE = [f"person{number}@example.com" for number in range(36)]
BAD = (4, 30)  # in the first request, and in the last but one
KILLS: list[list[tuple[str, int]]] = [
    [("before acknowledgement", 1)],
    [("after acknowledgement", 2), ("before report", 1)],
    [("after send", 5)],
    [("before report", 2)],
    [("after report", 2), ("after send", 1)],
    [("before finish", 1)],
]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("kills", shortened(KILLS, 1), ids=str)
async def test_refused_rows_are_told_once_whatever_is_killed(
    driver: Driver, emulator: Emulator, tmp_path: Path, kills: list[tuple[str, int]]
) -> None:
    """In `rejections.csv` and in the report; all others are in the audience."""
    (tmp_path / "list.csv").write_text("email\n" + "".join(f"{person}\n" for person in PEOPLE) + "not an address\n")
    for number in BAD:
        rule = {"prefix": _hash(PEOPLE[number])[:32]}
        emulator.faults.add([read_fault({"fault": 20, "match": {"path": "*/users"}, "bad": rule})])
    env = environment(emulator, tmp_path)
    begin, go_on = ["upload", "list.csv", "--audience", emulator.audience_id, "--json"], ["resume", RUN_ID, "--json"]
    for number, kill in enumerate([*kills, None]):
        job: dict[str, Any] | None = None if kill is None else {"point": kill[0], "nth": kill[1]}
        ended = await driver.run(tmp_path, env, *(go_on if number else begin), kill=job)
        assert ended.code in (0, -9), ended.err
    assert ended.code == 0
    report = json.loads(ended.out)
    assert report["rejections"] == {"invalid_syntax": 1, "refused_by_service": 2}
    assert (report["rows"]["sent"], report["rows"]["rejected"], report["rows"]["pending"]) == (34, 3, 0)
    with (tmp_path / "state" / "runs" / RUN_ID / "rejections.csv").open(newline="") as file:
        lines = list(csv.reader(file))
    assert lines == [
        ["row", "column", "reason"],
        ["37", "email", "invalid_syntax"],
        ["5", "", "refused_by_service"],
        ["31", "", "refused_by_service"],
    ]
    good = {frozenset({("email", _hash(person))}) for number, person in enumerate(PEOPLE) if number not in BAD}
    assert members_of(log_of(emulator)) == good
