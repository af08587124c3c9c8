"""A state as a whole: it is copied exactly, at once, and never over another one."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path

import pytest

from audiencekit.errors import InputOutputFailed, StateRefused, UsageError
from audiencekit.mirror import copying
from audiencekit.mirror.copying import copy_state
from audiencekit.mirror.opening import look_at_state
from tests.mirror.conftest import ADDRESS
from tests.mirror.stores import MemoryObjects

FILES = {"forgotten": b"tags", "runs/a/report.json": b"{}", "runs/a/spool.sealed": bytes(3_000_000), "begun": b""}
OF_THIS_MACHINE = {"key": b"key", "credentials.json": b"{}", "locks/a.lock": b"", ".rotation": b""}


@pytest.fixture
def state(tmp_path: Path) -> Path:
    root = tmp_path / "state"
    for name, content in {**FILES, **OF_THIS_MACHINE}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        (root / name).write_bytes(content)
        os.utime(root / name, (1_700_000_000, 1_700_000_000))
    root.chmod(0o700)
    return root


def _files(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_a_state_comes_back_from_a_bucket_as_it_was(state: Path, empty: Path, tmp_path: Path) -> None:
    """With its times, by which runs are purged; without the files of one machine; for its owner alone."""
    assert copy_state(str(state), ADDRESS) == len(FILES)
    assert {kind.name: kind.changed_at[:4] for kind in look_at_state(ADDRESS).kinds}["runs"] == "2023"
    back = tmp_path / "deep" / "back"
    assert copy_state(ADDRESS, str(back)) == len(FILES)
    assert _files(back) == FILES
    assert (back / "runs/a/report.json").stat().st_mtime == 1_700_000_000
    assert {path.stat().st_mode & 0o077 for path in (back, *back.rglob("*"))} == {0}
    assert look_at_state(ADDRESS).head.holder is None


def test_a_state_is_never_copied_over_another_one(state: Path, empty: Path, tmp_path: Path) -> None:
    copy_state(str(state), ADDRESS)
    with pytest.raises(InputOutputFailed, match="there is a state at this place already"):
        copy_state(str(state), ADDRESS)
    with pytest.raises(UsageError, match="is not empty"):
        copy_state(ADDRESS, str(state))
    with pytest.raises(UsageError, match="no state directory to copy from"):
        copy_state(str(tmp_path / "none"), "s3://lists/other")


def test_a_copy_that_was_cut_short_has_no_state(state: Path, empty: Path, objects: MemoryObjects) -> None:
    """At any call of the bucket; it is begun again at the same place."""
    whole = MemoryObjects()
    objects.objects = whole.objects
    copy_state(str(state), ADDRESS)
    for number in range(objects.calls):
        objects.objects, objects.calls = {}, 0
        objects.end_after = number
        with contextlib.suppress(InputOutputFailed):
            copy_state(str(state), ADDRESS)
        objects.end_after = None
        if "head" in objects.objects:
            assert look_at_state(ADDRESS).kinds
        else:
            assert copy_state(str(state), ADDRESS) == len(FILES)


def test_a_copy_that_differs_is_told(
    state: Path, empty: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, objects: MemoryObjects
) -> None:
    copy_state(str(state), ADDRESS)
    monkeypatch.setattr(copying.filecmp, "cmp", lambda one, other, shallow: one.name != "forgotten")
    with pytest.raises(InputOutputFailed, match="is not equal to it"):
        copy_state(ADDRESS, str(tmp_path / "back"))
    assert not (tmp_path / "back").exists()
    piece = next(name for name in objects.objects if name.startswith("pieces/"))
    objects.objects[piece] = (objects.objects[piece][0][:-1], 9)
    with pytest.raises(StateRefused):
        copy_state(ADDRESS, str(tmp_path / "back"))


def test_a_journal_that_a_kill_left_open_is_copied_without_what_was_cut_short(
    state: Path, empty: Path, tmp_path: Path
) -> None:
    """As the next command that opens it would find it."""
    journal = state / "runs/a/journal.sqlite"
    connection = sqlite3.connect(journal, isolation_level=None)
    connection.execute("PRAGMA cache_size=1")
    connection.execute("CREATE TABLE entries (number, text)")
    connection.execute("INSERT INTO entries VALUES (1, 'sent')")
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany("INSERT INTO entries VALUES (?, ?)", [(number, "x" * 1000) for number in range(200)])
    copies = [(path, path.read_bytes()) for path in journal.parent.glob("journal.sqlite*")]
    connection.close()
    for path, content in copies:
        path.write_bytes(content)
    assert journal.with_name("journal.sqlite-journal").stat().st_size > 0
    copy_state(str(state), ADDRESS)
    copy_state(ADDRESS, str(tmp_path / "back"))
    with sqlite3.connect(tmp_path / "back/runs/a/journal.sqlite") as found:
        assert found.execute("SELECT * FROM entries").fetchall() == [(1, "sent")]
