"""Runs on disk: private, whole at every moment, listed."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from audiencekit.errors import InputOutputFailed, UsageError
from audiencekit.runs.store import RunStore, new_run_id
from tests.runs.storedruns import NEW, OLD, REPORT, mode_of, store

__all__ = ["store"]


def test_run_id_tells_its_time() -> None:
    """An id is the UTC time of its making, the second's fraction in four digits, and four random ones."""
    assert new_run_id(1_795_224_600.5, lambda size: "1f3a") == "20261121-013000-80001f3a"


@given(st.floats(0, 4e9), st.floats(2**-15, 1e9))
def test_run_ids_sort_by_time(now: float, later: float) -> None:
    """A run made 30 microseconds later or more sorts after, whatever its random digits."""
    assert new_run_id(now, lambda size: "f" * 4) < new_run_id(now + later, lambda size: "0" * 4)


def test_run_ids_differ() -> None:
    """Two ids of one second differ, and are ids that the store takes."""
    first, second = new_run_id(1.0), new_run_id(1.0)
    assert first != second
    assert re.fullmatch(r"19700101-000001-0000[0-9a-f]{4}", first)


def test_directory_is_for_its_owner_alone(store: RunStore, tmp_path: Path) -> None:
    """Directories are 0700 and files 0600, whatever the umask allows."""
    before = os.umask(0)
    try:
        directory = store.create(NEW)
        report = store.write(NEW, REPORT)
    finally:
        os.umask(before)
    assert directory == tmp_path / "state" / "runs" / NEW
    assert [mode_of(path) for path in (directory, directory.parent, report)] == [0o700, 0o700, 0o600]


def test_open_directory_of_runs_is_closed(store: RunStore, tmp_path: Path) -> None:
    """A directory of runs that others may enter is taken from them."""
    runs = tmp_path / "state" / "runs"
    runs.mkdir(parents=True)
    runs.chmod(0o755)
    store.create(NEW)
    assert mode_of(runs) == 0o700


def test_run_is_made_once(store: RunStore) -> None:
    """An id that exists is never used again."""
    store.create(NEW)
    with pytest.raises(InputOutputFailed, match="cannot be made"):
        store.create(NEW)


@pytest.mark.parametrize(
    "run_id",
    ["", ".", "..", "../../etc", "short", "a" * 41, "UPPER-CASE-1", "with space1", "with/slash1", "with\x00null1",
     "with\nnewline", "20261121-013000-1f3a9c00\n", "é" * 9, "..........", "%2e%2e%2f%2e%2e"],
    ids=lambda run_id: f"{len(run_id)} characters",
)  # fmt: skip
def test_an_invalid_run_id_reaches_no_path(store: RunStore, tmp_path: Path, run_id: str) -> None:
    """Only `[0-9a-z-]{8,40}` becomes a path; everything else is refused before the disk is touched."""
    for use in (store.create, store.directory, lambda run: store.write(run, {}), store.read):
        with pytest.raises(UsageError):
            use(run_id)
    assert list(tmp_path.iterdir()) == []


def test_runs_are_listed_newest_first(store: RunStore) -> None:
    """Each run is there with its state and sums; one without a report is incomplete."""
    for run_id in (OLD, NEW):
        store.create(run_id)
    store.write(NEW, REPORT)
    assert store.list_runs() == [
        {
            "run_id": NEW,
            "state": "complete",
            "audience_id": "1nmth",
            "started_at": "2026-11-21T01:30:00Z",
            "finished_at": "2026-11-21T01:30:05Z",
            "rows": {"read": 3, "sent": 3},
            "requests": {"planned": 1},
        },
        {"run_id": OLD, "state": "incomplete", "started_at": "2026-11-20T12:00:00Z"},
    ]


def test_no_runs_are_no_failure(store: RunStore) -> None:
    """A state directory that does not exist holds no runs, and is not made by looking."""
    assert store.list_runs() == []
    with pytest.raises(UsageError, match="no such run"):
        store.find("last")


def test_strange_things_among_the_runs_are_left_alone(store: RunStore, tmp_path: Path) -> None:
    """Files, links and other names among the runs are neither listed nor followed."""
    runs = store.create(NEW).parent
    (runs / "20261121-000000-file00").write_text("")
    (runs / "NOT-A-RUN").mkdir()
    (runs / "20261121-000000-link00").symlink_to(tmp_path)
    assert [run["run_id"] for run in store.list_runs()] == [NEW]


def test_linked_directory_of_runs_is_refused(tmp_path: Path) -> None:
    """A `runs` that points elsewhere is not ours to write to."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "runs").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputOutputFailed, match="is a link"):
        RunStore(tmp_path).create(NEW)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_unusable_state_directory_is_said(tmp_path: Path) -> None:
    """A state directory that is a file is named with the cause."""
    (tmp_path / "state").write_text("")
    with pytest.raises(InputOutputFailed, match="is no directory"):
        RunStore(tmp_path / "state").create(NEW)
    with pytest.raises(InputOutputFailed, match="is no directory"):
        RunStore(tmp_path / "state").list_runs()


def test_a_run_that_is_purged_meanwhile_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are listed, and a new one can be begun."""
    store = RunStore(tmp_path / "state")
    for run_id in ("the-one-that-goes", "the-one-that-stays"):
        store.create(run_id)
    scandir = os.scandir

    def and_purge(path: Path) -> list[os.DirEntry[str]]:
        entries = list(scandir(path))
        store.directory("the-one-that-goes").rmdir()
        return entries

    with monkeypatch.context() as patched:
        patched.setattr("audiencekit.runs.store.os.scandir", and_purge)
        assert list(store.last_changes()) == ["the-one-that-stays"]
    store.create("the-next-one")
    assert store.ids() == ["the-next-one", "the-one-that-stays"]
