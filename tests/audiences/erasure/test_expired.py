"""Which files of erasures a purge takes."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from audiencekit.audiences.erasure.erasurestore import SEALED, ErasureStore
from audiencekit.audiences.erasure.expired import find_erasures
from audiencekit.machine.keys import StateKey
from audiencekit.machine.privatefiles import replace_file
from audiencekit.selection.forgotten.notes import RECEIPT
from tests.audiences.erasure.test_erasurestore import RECORDS, _receipt
from tests.runs.purge.state import NOW, set_age

KEY = StateKey(b"k" * 32)
OLD = timedelta(days=40)
BEFORE = (NOW - timedelta(days=30)).timestamp()


def _erasure(state_dir: Path, number: int, *, complete: bool = True, age: timedelta = OLD, **more: Any) -> Path:
    """The directory of an erasure that a memory of this serial remembers."""
    store = ErasureStore(state_dir)
    memory = {"identity": "i", "serial": number, "keys": 1, "digest": "d", "noted_outside": True}
    facts = {"erasure_id": f"forget-20261001-120000-{number:08}", "remembered": True, "memory": memory, **more}
    receipt = _receipt(**facts)
    with store.locked():
        store.begin(receipt, RECORDS, KEY)
        if complete:
            store.complete(receipt, NOW)
    directory = store.directory(receipt.erasure_id)
    for path in (*directory.iterdir(), directory):
        set_age(path, age)
    return directory


def _expired(state_dir: Path, *, receipts: bool = False) -> list[tuple[str, str]]:
    found = find_erasures(state_dir, BEFORE, receipts=receipts)
    return [(os.path.relpath(each.path, state_dir / "erasures"), each.kind) for each in found.expired]


@pytest.mark.parametrize("receipts", [False, True])
def test_an_erasure_that_is_not_finished_stays(tmp_path: Path, receipts: bool) -> None:
    """However old, and so does one whose receipt cannot be read."""
    _erasure(tmp_path, 1, complete=False)
    damaged = _erasure(tmp_path, 2, complete=False)
    (damaged / RECEIPT).write_text("{")
    (damaged / ".aside").write_text("{")
    for path in (damaged / RECEIPT, damaged / ".aside", damaged):
        set_age(path, OLD)
    found = find_erasures(tmp_path, BEFORE, receipts=receipts)
    assert (found.expired, dict(+found.kept)) == ([], {"erasures": 2})


def test_receipts_stay_unless_they_are_asked_for(tmp_path: Path) -> None:
    """And then the one that tells of the last memory does, whatever the clock said of it."""
    one, two, three = (
        _erasure(tmp_path, number, started_at=f"2026-10-0{4 - number}T12:00:00Z") for number in (1, 2, 3)
    )
    assert _expired(tmp_path) == []
    assert find_erasures(tmp_path, BEFORE, receipts=False).kept["receipts"] == 3
    assert {*_expired(tmp_path, receipts=True)} == {(one.name, "receipts"), (two.name, "receipts")}
    assert three.exists()


def test_files_that_a_kill_left_beside_a_receipt_go(tmp_path: Path) -> None:
    """When they are old enough."""
    directory = _erasure(tmp_path, 1)
    for name, age in ((".receipt.json-1", OLD), (".receipt.json-2", timedelta(days=1))):
        replace_file(directory / name, b"{}")
        set_age(directory / name, age)
    assert _expired(tmp_path) == [(f"{directory.name}/.receipt.json-1", "erasure_files")]


@pytest.mark.parametrize("age", [OLD, timedelta(days=1)])
def test_an_erasure_that_was_never_begun_goes_when_it_is_old(tmp_path: Path, age: timedelta) -> None:
    """Its keys were sealed, and a kill came before the receipt: the same people are named again."""
    directory = _erasure(tmp_path, 1, complete=False)
    (directory / RECEIPT).unlink()
    set_age(directory, age)
    assert (directory / SEALED).exists()
    assert _expired(tmp_path) == ([(directory.name, "erasure_files")] if age == OLD else [])


def test_receipts_that_are_young_stay(tmp_path: Path) -> None:
    """As they were written, whatever else happened in their directory."""
    _erasure(tmp_path, 1, age=timedelta(days=29))
    _erasure(tmp_path, 2)
    _erasure(tmp_path, 3)
    found = find_erasures(tmp_path, BEFORE, receipts=True)
    assert ([each.kind for each in found.expired], dict(+found.kept)) == (["receipts"], {"receipts": 1})


def test_no_erasures_are_nothing(tmp_path: Path) -> None:
    """And nothing is made."""
    assert _expired(tmp_path / "state", receipts=True) == []
    assert list(tmp_path.iterdir()) == []
