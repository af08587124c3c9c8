"""The page of a machine: each audience leads to its runs, and says what to do next."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from audiencekit.cli.output import spelled
from audiencekit.reporting.page.machine_page import machine_page
from audiencekit.reporting.page.page_parts import View
from tests.cases import each_case
from tests.reporting.badday import machine
from tests.reporting.page.test_page import report_of_a_bad_day
from tests.reporting.webpages import PageNumbers

WALL, OWN = View(is_floored=True), View()
EXPIRY = {"members": 2_400, "within_days": {"30": 0}, "days": [{"date": "2027-01-15", "members": 2_400}]}


def machine_of(*runs: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A machine with one audience and these runs, the newest first."""
    known = [{"running": False, "resumable": False, **run} for run in runs]
    place = {"target": {"kind": "audience", "id": "h1ab2"}, "name": "Spring <sale>", "members": None, "history": [],
             "expiry": None, "runs": [run["run_id"] for run in known]}  # fmt: skip
    return {"seen_at": "2026-01-02T00:00:00Z", "places": [{**place, **changes}], "runs": known, "erasures": []}


def tasks_of(document: dict[str, Any], view: View = WALL) -> str:
    """The section with the things to do."""
    text = PageNumbers(machine_page(document, view)).text
    return text.partition("What to do next")[2].partition("Audiences")[0]


@each_case(
    "changes, task",
    [
        ({"state": "incomplete", "resumable": True}, "`audiencekit resume 20260101-1` sends the rest"),
        ({"state": "incomplete", "operation": "sync"}, "run the same command again"),
        ({"state": "incomplete", "running": True}, "Nothing, by what this machine knows"),
        ({"state": "refused", "problems": [{"message": "3 rows are bad", "hint": "mend"}]}, "10 rows are bad; mend"),
        ({"state": "unreadable"}, "`audiencekit report 20260101-1` says why"),
        ({"expires_at": "2026-01-20T00:00:00Z", "warnings": []}, "expire on 2026-01-20: upload the list again"),
        ({"expires_at": "2025-12-31T00:00:00Z", "warnings": []}, "expired by 2025-12-31"),
        ({"expires_at": "2027-01-20T00:00:00Z", "warnings": []}, "Nothing, by what this machine knows"),
        ({}, "invalid syntax: correct them"),
        ({"rows": {**report_of_a_bad_day()["rows"], "sent": 45}}, "cannot be targeted yet: 100 matched people"),
    ],
)
def test_the_last_run_says_what_to_do(changes: dict[str, Any], task: str) -> None:
    """With the command that does it."""
    assert task.replace("`", "") in tasks_of(machine_of(report_of_a_bad_day(**changes)))


def test_members_who_expire_soon_and_a_small_audience_are_something_to_do() -> None:
    """A few are told as few, but to their owner."""
    history = [{"seen_at": "2026-01-01T00:00:00Z", "audience_size": 60, "members": 80, "match_rate": 0.75}]
    document = machine_of(expiry={**EXPIRY, "within_days": {"30": 4}}, history=history)
    assert "fewer than 10 of its members expire within 30 days: audiencekit renew" in tasks_of(document)
    assert "4 of its members expire" in tasks_of(document, OWN)
    assert "cannot be targeted yet: 100 matched people" in tasks_of(document)


def test_an_audience_of_which_runs_are_missing_is_not_called_small() -> None:
    """The page has the last runs only; and an upload may have come after the last sync, or before it."""
    few = report_of_a_bad_day(rows={**report_of_a_bad_day()["rows"], "sent": 45})
    assert "cannot be targeted" in tasks_of(machine_of(few))
    assert "cannot be targeted" not in tasks_of(machine_of(few, runs=[few["run_id"], "20250101-1"]))
    assert "cannot be targeted" not in tasks_of(machine_of(few, members={"least": 5_000, "most": 5_000}))
    assert "cannot be targeted" in tasks_of(machine_of(few, members={"least": 40, "most": 40}))


def test_an_unfinished_erasure_is_something_to_do() -> None:
    """No number or name of its people is there."""
    erasure = {"run_id": "forget-20260101-1", "state": "incomplete", "resumable": True, "started_at": None}
    assert "audiencekit resume forget-20260101-1" in tasks_of({**machine_of(), "erasures": [erasure]})


def test_a_run_of_which_little_is_known_is_shown() -> None:
    """One that never began, one with a damaged report, and one with a damaged journal."""
    runs: list[dict[str, Any]] = [
        {"run_id": "20260101-3", "state": "incomplete", "started_at": None},
        {"run_id": "20260101-2", "state": "unreadable"},
        report_of_a_bad_day(rows=dict.fromkeys(("read", "sent", "rejected", "pending"))),
    ]
    page = PageNumbers(machine_page(machine_of(*runs), WALL)).text
    assert "A run that never began" in page
    assert "Unreadable" in page


async def test_a_machine_of_three_audiences(tmp_path: Path) -> None:
    """Every link leads to its run or audience; the numbers are rounded on the wall, and exact for their owner."""
    document, _ = await machine(tmp_path)
    wall, own = machine_page(document, View(is_floored=True, spelled=spelled)), machine_page(document, OWN)
    for page in (wall, own):
        links, places = re.findall(r'href="#([^"]+)"', page), re.findall(r' id="([^"]+)"', page)
        assert len(places) == len(set(places)) == 8
        assert set(links) <= set(places)
        assert set(links) >= {f"run-{run['run_id']}" for run in document["runs"]}
        assert PageNumbers(page).loaded == []
        assert "person1" not in page
        assert "201555" not in page
    text = PageNumbers(wall).text
    assert "3 audiences and 5 runs" in text
    assert "sends the rest" in text
    (rate,) = [place["history"][-1]["match_rate"] for place in document["places"] if place["history"]]
    assert f"{100 * rate:.0f}\u00a0%" in text
    exact = {f"{run['rows'][name]:,}" for run in document["runs"] for name in ("read", "sent")}
    exact = {number for number in exact if not number.endswith("0")}
    assert [number for number in exact if re.search(rf"\b{number}\b", text)] == []
    assert [number for number in exact if number not in PageNumbers(own).text] == []
