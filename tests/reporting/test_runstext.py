"""The table of runs and erasures."""

from __future__ import annotations

import re
from typing import Any

import pytest

from audiencekit.reporting.runstext import render_runs, runs_to_json

RUN = {
    "run_id": "20261122-215618-1fd80221", "state": "complete", "started_at": "2026-11-22T21:56:18Z",
    "finished_at": "2026-11-22T22:00:23Z", "operation": "update", "target": {"kind": "audience", "id": "hc6uc"},
    "audience_id": "hc6uc", "audience_name": "Spring customers", "source_names": ["us-500.csv"],
    "rows": {"sent": 1_499, "read": 1_500}, "resumable": False, "running": False,
}  # fmt: skip


def test_a_run_is_a_line_under_a_heading() -> None:
    """Of one that was killed early little is known."""
    older = {"run_id": "20261121-000000-1fd80221", "state": "incomplete", "resumable": True, "running": False}
    heading, newest, last = (re.split(r"  +", line) for line in render_runs([RUN, older]).splitlines())
    assert heading == ["run", "state", "started (UTC)", "took", "what", "to", "list", "sent", "of rows"]
    assert newest == [
        *(RUN["run_id"], "complete", "2026-11-22 21:56", "4:05 min", "update", "'Spring customers' (hc6uc)"),
        *("us-500.csv", "1,499", "1,500"),
    ]
    assert last == [older["run_id"], "incomplete", "resumable"]


def _cells(**changed: Any) -> list[str]:
    (line,) = render_runs([{**RUN, **changed}]).splitlines()[1:]
    return re.split(r"  +", line)


@pytest.mark.parametrize(
    ("changed", "cell"),
    [
        ({"audience_name": None}, "audience hc6uc"),
        ({"audience_name": "a\x1b[2Jb"}, "'a\\x1b[2Jb' (hc6uc)"),
        ({"audiences": {"settled": 1_000, "known": 1_200}}, "1,000 of 1,200 audiences"),
        ({"source_names": ["one.csv", "two.csv"]}, "one.csv, two.csv"),
        ({"source_names": ["x" * 30]}, "x" * 30),
        ({"source_names": ["x" * 31]}, "x" * 29 + "…"),
    ],
)
def test_a_run_says_where_it_goes_and_what_it_read(changed: dict[str, Any], cell: str) -> None:
    """An erasure goes to audiences. A long list of names is cut."""
    assert cell in _cells(**changed)


@pytest.mark.parametrize(
    ("changed", "remark"),
    [
        ({}, "1,500"),  # the number of rows is the last cell then
        ({"running": True, "resumable": True}, "running"),
        ({"resumable": True, "kept_until": "2026-12-22"}, "resumable"),
        ({"kept_until": "2026-12-22"}, "kept until 2026-12-22"),
        ({"journal": "no_journal"}, "never begun"),
        ({"journal": "not_begun", "kept_until": "2026-12-22"}, "never begun, kept until 2026-12-22"),
        ({"journal": "damaged"}, "the journal is damaged: what was confirmed is not known"),
        ({"journal": "of tomorrow"}, "the journal cannot be trusted: see `audiencekit report`"),
        (
            {"unknown_destination": "letters", "kept_until": "2026-12-22"},
            "the destination letters is not installed, kept until 2026-12-22",
        ),
        ({"unknown_destination": "letters", "running": True}, "running"),
    ],
)
def test_the_last_cell_says_whether_a_run_goes_on(changed: dict[str, Any], remark: str) -> None:
    """And why it cannot, or until when it is kept."""
    assert _cells(**changed)[-1] == remark


def test_numbers_are_beneath_the_end_of_their_heading() -> None:
    lines = render_runs([RUN, {**RUN, "rows": {"sent": 9, "read": 10}}]).splitlines()
    assert {len(line) for line in lines} == {len(lines[0])}
    assert lines[2].endswith("      9       10")


def test_a_run_for_programs_has_its_seconds() -> None:
    """Null while it has not ended."""
    running = {**RUN, "finished_at": None}
    assert runs_to_json([RUN, running]) == [{**RUN, "seconds": 245}, {**running, "seconds": None}]
