"""The order in which runs were begun, which no clock tells."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from audiencekit.errors import InputOutputFailed
from audiencekit.runs.runorder import BEGUN, Succession


def _begin(state_dir: Path, *ids: str) -> None:
    for run_id in ids:
        (state_dir / "runs").mkdir(exist_ok=True)
        Succession(state_dir).begin(run_id, {})
        (state_dir / "runs" / run_id).mkdir()


@given(st.permutations(range(6)))
def test_a_run_begun_later_comes_later(tmp_path_factory: pytest.TempPathFactory, moments: list[int]) -> None:
    """Whatever the clock said."""
    state_dir = tmp_path_factory.mktemp("state")
    places = {f"run-{number}": moment for number, moment in enumerate(moments)}
    _begin(state_dir, *places)
    assert Succession(state_dir).ordered(dict(sorted(places.items(), reverse=True))) == list(places)


def test_an_unlisted_run_stands_behind_earlier_runs(tmp_path: Path) -> None:
    """By its time: its line was damaged, or a kill came before. A clock that was ahead moves nothing else."""
    _begin(tmp_path, "first", "ahead", "third")
    places = {"first": 10, "ahead": 50, "third": 12, "old": 1, "between": 11, "late": 13}
    assert Succession(tmp_path).ordered(places) == ["old", "first", "between", "ahead", "third", "late"]


def test_an_unlisted_run_is_listed_with_the_next(tmp_path: Path) -> None:
    """In its place; from then on its time is nothing. One that has written nothing may never have begun."""
    for run_id in ("one", "two"):
        (tmp_path / "runs" / run_id).mkdir(parents=True)
    (tmp_path / "runs" / "two" / "journal.sqlite").write_bytes(b"")
    (tmp_path / "runs" / "one" / "journal.sqlite").write_bytes(b"content")
    order = Succession(tmp_path)
    order.begin("three", {"two": 1, "one": 2})
    assert (tmp_path / BEGUN).read_text() == "two?\none\nthree\n"
    assert [order.knows(run_id) for run_id in ("one", "two", "three", "four")] == [True, False, True, False]
    order.insert("two", {})
    assert (tmp_path / BEGUN).read_text() == "two\none\nthree\n"
    assert (tmp_path / BEGUN).stat().st_mode & 0o777 == 0o600


def test_a_removed_run_is_forgotten(tmp_path: Path) -> None:
    """The list does not grow for ever; an id that is begun again is the last."""
    _begin(tmp_path, "one", "two", "three")
    for run_id in ("one", "two"):
        (tmp_path / "runs" / run_id).rmdir()
    _begin(tmp_path, "one")
    assert (tmp_path / BEGUN).read_text().split() == ["three", "one"]


def test_one_that_goes_is_taken_off_the_list(tmp_path: Path) -> None:
    """And no other, also one that is not made yet; a list that is not there stays so."""
    Succession(tmp_path).forget("one")
    assert not (tmp_path / BEGUN).exists()
    _begin(tmp_path, "one", "two")
    Succession(tmp_path).begin("not-made-yet", {})
    Succession(tmp_path).forget("one")
    assert (tmp_path / BEGUN).read_text().split() == ["two", "not-made-yet"]


def test_a_list_that_a_kill_left_half_written_goes_with_the_next(tmp_path: Path) -> None:
    """It holds ids, also of runs that are gone."""
    _begin(tmp_path, "one", "two")
    (tmp_path / f".{BEGUN}-0123456789abcdef").write_text("one\ntwo\nthr")
    Succession(tmp_path).forget("one")
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == [BEGUN]


def test_many_at_once_are_all_listed(tmp_path: Path) -> None:
    """One after the other."""
    (tmp_path / "runs").mkdir()
    ids = [f"run-{number}" for number in range(20)]
    for run_id in ids:
        (tmp_path / "runs" / run_id).mkdir()
    threads = [threading.Thread(target=Succession(tmp_path).begin, args=(run_id, {})) for run_id in ids]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted((tmp_path / BEGUN).read_text().split()) == sorted(ids)


def test_a_list_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    """When something is begun: a directory in its place, or no state directory. What was begun is shown by its time."""
    (tmp_path / BEGUN).mkdir()
    assert Succession(tmp_path).ordered({"late": 2, "early": 1}) == ["early", "late"]
    with pytest.raises(InputOutputFailed, match="cannot be read"):
        Succession(tmp_path).begin("run", {})
    with pytest.raises(InputOutputFailed, match="cannot be written"):
        Succession(tmp_path / "nowhere").begin("run", {})
