"""Which runs a purge takes, and which it leaves."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from audiencekit.destinations.target import Target
from audiencekit.runs.locks import TargetLock
from audiencekit.runs.purge.expired import find_runs, kept_until, kind_of
from audiencekit.runs.purge.removal import ASIDE
from audiencekit.runs.storedreports import list_runs, summary_of
from tests.runs.journal.conftest import STATE_KEY
from tests.runs.purge.state import KINDS, NOW, make_run, names

AGE = timedelta(days=30)
BEFORE = (NOW - AGE).timestamp()


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_known_and_only_what_has_ended_goes_by_itself(tmp_path: Path, kind: str) -> None:
    """A run that a resumption could finish is purged when it is asked for."""
    directory = make_run(tmp_path, kind)
    goes = kind in ("complete", "refused", "not_begun", "not_resumable")
    found = find_runs(tmp_path, BEFORE, STATE_KEY)
    assert [(each.path, each.kind) for each in found.expired] == ([(directory, kind)] if goes else [])
    assert dict(found.kept) == ({} if goes else {kind: 1})
    asked = find_runs(tmp_path, BEFORE, STATE_KEY, unfinished=True)
    assert [(each.path, each.kind) for each in asked.expired] == [(directory, kind)]


def test_the_last_change_tells_the_age(tmp_path: Path) -> None:
    """To the second before, oldest first; an id that says another time tells nothing."""
    for name, age in (("20200101-000000-young", 10), ("this-is-old", 31), ("this-is-older", 50)):
        make_run(tmp_path, "complete", age=timedelta(days=age), name=name)
    assert names(each.path for each in find_runs(tmp_path, BEFORE).expired) == ["this-is-older", "this-is-old"]
    make_run(tmp_path, "complete", age=AGE, name="just-not-yet")
    make_run(tmp_path, "complete", age=AGE + timedelta(seconds=1), name="just-now-so")
    assert names(each.path for each in find_runs(tmp_path, BEFORE).expired) == [
        "this-is-older",
        "this-is-old",
        "just-now-so",
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_at_work_stays(tmp_path: Path, kind: str) -> None:
    """Whatever its report and journal say: its process holds a lock."""
    directory = make_run(tmp_path, kind)
    with TargetLock(tmp_path, "any", Target.audience("aud"), directory.name):
        found = find_runs(tmp_path, BEFORE, unfinished=True)
    assert (found.expired, dict(found.kept)) == ([], {"running": 1})


def test_remains_of_a_killed_purge_go_whatever_their_age(tmp_path: Path) -> None:
    """First, and no list of runs shows it."""
    make_run(tmp_path, "complete")
    left = tmp_path / "runs" / f"{ASIDE}some-run"
    left.mkdir()
    found = find_runs(tmp_path, BEFORE)
    assert [(each.path.name, each.kind) for each in found.expired] == [
        (left.name, "leftovers"),
        ("a-complete-run", "complete"),
    ]
    assert [run["run_id"] for run in list_runs(tmp_path)] == ["a-complete-run"]


def test_the_search_ends_when_its_time_is_over(tmp_path: Path) -> None:
    """With what it has."""
    for number in range(3):
        make_run(tmp_path, "complete", name=f"run-of-{number:04}")
    answers = iter([False, True])
    assert len(find_runs(tmp_path, BEFORE, is_over=lambda: next(answers)).expired) == 1


def test_nothing_is_there_yet(tmp_path: Path) -> None:
    """And nothing is made."""
    found = find_runs(tmp_path / "state", BEFORE)
    assert (found.expired, dict(found.kept), (tmp_path / "state").exists()) == ([], {}, False)


@pytest.mark.parametrize("kind", KINDS)
def test_runs_say_until_when_they_are_kept(tmp_path: Path, kind: str) -> None:
    """Those that go by themselves; an erasure is none of them."""
    directory = make_run(tmp_path, kind, age=timedelta(days=1))
    run = summary_of(tmp_path, directory.name, STATE_KEY)
    assert kind_of(run) == kind
    expected = None if kind in ("resumable", "damaged") else "2026-12-20T12:00:00Z"
    assert kept_until(tmp_path, run, AGE) == expected
    assert kept_until(tmp_path, run, timedelta(weeks=900_000)) is None
    assert kept_until(tmp_path, {**run, "operation": "forget"}, AGE) is None
    assert kept_until(tmp_path / "elsewhere", run, AGE) is None
