"""Runs and erasures of one machine, as one list."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from audiencekit.audiences.erasure.erasurestore import ErasureStore
from audiencekit.audiences.erasure.forgetting import forget_async
from audiencekit.audiences.history import find_in_history, list_history
from audiencekit.destinations.target import Target
from audiencekit.emulator import Emulator
from audiencekit.errors import NotFinished, UsageError
from audiencekit.pipeline import upload_async
from audiencekit.runs.locks import TargetLock
from audiencekit.runs.runorder import BEGUN
from audiencekit.runs.store import RunStore, new_run_id
from audiencekit.selection.forgotten.notes import RECEIPT
from audiencekit.settings import Settings
from tests.runs.started import create_begun


async def test_runs_and_erasures_are_one_list(tmp_path: Path, emulator: Emulator, settings: Settings) -> None:
    """Newest first; `last` is the newest of both, and an id says which of them it is."""
    source = tmp_path / "people.csv"
    source.write_text("email\nada@example.org\n")
    run = await upload_async(source, audience_id=emulator.audience_id, settings=settings, run_id="zz-contacts")
    held = TargetLock(
        settings.state_dir, settings.require_account(), Target.audience(emulator.audience_id), "20261121-1"
    )
    with held, pytest.raises(NotFinished):
        await forget_async(["ada@example.org"], settings=settings)
    store = ErasureStore(settings.state_dir)
    (erasure_id,) = store.ids()
    receipt = store.receipt(erasure_id)
    receipt.started_at = "2001-01-01T00:00:00Z"
    store.keep(receipt)
    erased, uploaded = list_history(settings.state_dir)
    assert (uploaded["run_id"], uploaded["state"]) == (run.run_id, "complete")
    assert erased == {
        "run_id": erasure_id, "operation": "forget", "state": "incomplete", "account_id": settings.account_id,
        "started_at": "2001-01-01T00:00:00Z", "finished_at": None, "audiences": {"known": 1, "settled": 0},
        "resumable": True, "running": False,
    }  # fmt: skip
    for asked in ("last", erasure_id, "forget-"):
        assert find_in_history(settings.state_dir, asked) == (erasure_id, True)
    assert find_in_history(settings.state_dir, "zz") == (run.run_id, False)
    for asked, noun in (("", "run"), ("nothing", "run"), ("forget-x", "erasure")):
        with pytest.raises(UsageError, match=f"there is no such {noun}"):
            find_in_history(settings.state_dir, asked)
    with store.locked() as note:
        note(erasure_id)
        (at_work, _) = list_history(settings.state_dir)
        assert (at_work["running"], at_work["resumable"]) == (True, False)
    source.write_text("email\nbo@example.org\n")
    later = await upload_async(source, audience_id=emulator.audience_id, settings=settings)
    assert find_in_history(settings.state_dir, "last") == (later.run_id, False)
    assert [one["run_id"] for one in list_history(settings.state_dir)] == [later.run_id, erasure_id, run.run_id]


def test_of_one_second_the_last_one_is_last(tmp_path: Path) -> None:
    """Without the list of what was begun, runs that said nothing are told apart by their ids."""
    store, ids = RunStore(tmp_path), [new_run_id(1_795_224_600 + moment / 100) for moment in (12, 47, 83)]
    for run_id in (ids[1], ids[2], ids[0]):
        create_begun(store, run_id)
    (tmp_path / BEGUN).unlink()
    assert [one["run_id"] for one in list_history(tmp_path)] == ids[::-1]
    assert find_in_history(tmp_path, "last") == (ids[2], False)


def test_ids_that_callers_chose_tell_no_time(tmp_path: Path) -> None:
    """Of one second the one that changed last is last; one that was killed before it said anything has its place."""
    store, second = RunStore(tmp_path), 1_795_224_601
    own = [new_run_id(second + fraction) for fraction in (0.5, 0.9)]
    ids = ["the-first-list", "a-second-list", own[0], "0-killed-at-once", own[1]]
    for run_id, fraction in zip(ids, (0.2, 0.3, 0.0, 0.7, 0.0), strict=True):
        directory = create_begun(store, run_id)
        if run_id.endswith("list"):
            store.write(run_id, {"state": "complete", "started_at": "2026-11-21T01:30:01Z"})
        os.utime(directory, (second + fraction, second + fraction))
    (tmp_path / BEGUN).unlink()
    assert [one["run_id"] for one in list_history(tmp_path)] == ids[::-1]
    assert find_in_history(tmp_path, "last") == (own[1], False)


def test_an_erasure_that_cannot_be_read_hides_no_other(tmp_path: Path) -> None:
    """It is told as what it is."""
    store = ErasureStore(tmp_path)
    directory = store.directory("forget-20261121-013000-1f3a9c00")
    directory.mkdir(parents=True)
    (directory / RECEIPT).write_text("{")
    (found,) = list_history(tmp_path)
    assert (found["state"], found["started_at"], found["resumable"]) == ("unreadable", "2026-11-21T01:30:00Z", False)


def test_nothing_was_done_yet(tmp_path: Path) -> None:
    """An empty list, and no `last`."""
    assert list_history(tmp_path) == []
    with pytest.raises(UsageError, match="there is no such run"):
        find_in_history(tmp_path, "last")
