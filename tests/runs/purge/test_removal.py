"""A directory goes for good: hidden, its keys destroyed, then its files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from audiencekit.destinations.target import Target
from audiencekit.errors import AudienceBusy, InputOutputFailed
from audiencekit.machine.crashpoints import set_hook
from audiencekit.machine.keptspool import KeptSpool
from audiencekit.machine.keys import SubKey
from audiencekit.machine.spool import SpoolDamaged
from audiencekit.runs.journal.schema import JOURNAL
from audiencekit.runs.locks import TargetLock
from audiencekit.runs.purge.removal import ASIDE, leftovers, remove, run_alone
from audiencekit.runs.resumption import KEPT
from audiencekit.runs.store import RunStore
from tests.runs.journal.conftest import FACTS
from tests.runs.purge.state import SALT, make_run

_FORGOTTEN: list[str] = []
SPOOL_KEY = SubKey(b"k" * 32)


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The directory of a run with a kept spool, and a journal that SQLite was writing to."""
    directory = make_run(tmp_path, "complete")
    with KeptSpool.create(directory / KEPT, SPOOL_KEY) as spool:
        spool.append(b"records" * 1_000)
        spool.finish()
    (directory / f"{JOURNAL}-journal").write_bytes((directory / JOURNAL).read_bytes())
    return directory


@pytest.fixture(autouse=True)
def _no_hook() -> Iterator[None]:
    yield
    set_hook(None)


def _kill_at(point: str) -> None:
    def hook(passed: str) -> None:
        if passed == point:
            raise Killed

    set_hook(hook)


def test_nothing_is_left_and_the_bytes_are_told(run: Path) -> None:
    """Of files in directories below, too; a second time there is nothing."""
    (run / "more").mkdir()
    (run / "more" / "file").write_bytes(b"12345")
    size = sum(path.stat().st_size for path in run.rglob("*") if path.is_file())
    assert remove(run, _FORGOTTEN.append) == size
    assert list(run.parent.iterdir()) == []
    assert remove(run, _FORGOTTEN.append) == 0


def test_a_link_is_removed_and_not_followed(run: Path, tmp_path: Path) -> None:
    """Whatever it is called."""
    for name in ("journal.sqlite-wal", "other.sealed", "directory"):
        (run / name).symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "file").write_text("stays")
    remove(run, _FORGOTTEN.append)
    assert (tmp_path / "elsewhere" / "file").read_text() == "stays"
    assert not run.exists()


@pytest.mark.parametrize("point", ["before aside", "after aside", "before keys"])
def test_before_its_keys_go_it_is_whole_or_hidden(run: Path, tmp_path: Path, point: str) -> None:
    """And whole where it is hidden."""
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    _kill_at(point)
    with pytest.raises(Killed):
        remove(run, _FORGOTTEN.append)
    is_there = point == "before aside"
    assert RunStore(tmp_path).ids() == ([run.name] if is_there else [])
    place = run if is_there else run.with_name(ASIDE + run.name)
    assert {path.name: path.read_bytes() for path in place.iterdir()} == before
    set_hook(None)
    assert remove(place, _FORGOTTEN.append) > 0
    assert leftovers(run.parent) == []


@pytest.mark.parametrize("point", ["after keys", "before files"])
def test_once_its_keys_are_gone_nothing_can_be_read(run: Path, point: str) -> None:
    """Neither a journal, nor what SQLite kept beside it, nor a spool; the next purge takes the rest."""
    assert SALT.encode() in (run / JOURNAL).read_bytes()
    _kill_at(point)
    with pytest.raises(Killed):
        remove(run, _FORGOTTEN.append)
    (left,) = leftovers(run.parent)
    for path in left.glob(f"{JOURNAL}*"):
        assert not path.read_bytes().strip(b"\0")
    assert not (left / KEPT).exists()
    set_hook(None)
    remove(left, _FORGOTTEN.append)
    assert list(run.parent.iterdir()) == []


def test_a_spool_that_was_copied_before_is_of_no_use_to_its_name(run: Path, tmp_path: Path) -> None:
    """The salt is overwritten in the very file, before the file goes: a link to it reads nothing."""
    os.link(run / KEPT, tmp_path / "linked")
    with KeptSpool.open(tmp_path / "linked", SPOOL_KEY) as spool:
        assert len(spool) == 1
    remove(run, _FORGOTTEN.append)
    with pytest.raises(SpoolDamaged):
        KeptSpool.open(tmp_path / "linked", SPOOL_KEY)


def test_a_journal_that_was_linked_before_tells_nothing(run: Path, tmp_path: Path) -> None:
    """It is overwritten in its place, too, and what SQLite wrote beside it."""
    for name in (JOURNAL, f"{JOURNAL}-journal"):
        os.link(run / name, tmp_path / name)
    remove(run, _FORGOTTEN.append)
    for name in (JOURNAL, f"{JOURNAL}-journal"):
        assert not (tmp_path / name).read_bytes().strip(b"\0")


def test_its_id_is_forgotten_while_it_is_out_of_sight_and_whole(run: Path) -> None:
    """So that after any kill the next purge forgets it."""
    size = (run / JOURNAL).stat().st_size
    seen = list[tuple[str, int]]()

    def forget(name: str) -> None:
        seen.append((name, (run.with_name(ASIDE + name) / JOURNAL).stat().st_size))

    remove(run, forget)
    assert seen == [(run.name, size)]


def test_a_file_goes_by_itself(tmp_path: Path) -> None:
    """In one step."""
    (tmp_path / ".receipt.json-1").write_bytes(b"123")
    assert remove(tmp_path / ".receipt.json-1", _FORGOTTEN.append) == 3
    assert list(tmp_path.iterdir()) == []


def test_a_directory_in_the_way_is_told(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which directory, and what to do; the next purge finds it."""

    def refuse(_: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("audiencekit.runs.purge.removal.shutil.rmtree", refuse)
    with pytest.raises(InputOutputFailed, match=f"this cannot be purged: '{run}': Permission denied") as failed:
        remove(run, _FORGOTTEN.append)
    assert "audiencekit purge" in failed.value.hint
    assert len(leftovers(run.parent)) == 1


@pytest.mark.parametrize("kind", ["resumable", "damaged", "not_begun"])
def test_no_process_goes_on_with_a_run_that_goes(tmp_path: Path, kind: str) -> None:
    """Its target is locked, where the journal tells it; while another run is at work there it stays."""
    directory = make_run(tmp_path, kind)
    target = Target.audience(FACTS.target.id)
    with TargetLock(tmp_path, FACTS.account_id, target, "another-run"):
        if kind == "resumable":
            with pytest.raises(AudienceBusy), run_alone(tmp_path, directory):
                pass
        else:
            with run_alone(tmp_path, directory):
                pass
    with run_alone(tmp_path, directory):
        other = TargetLock(tmp_path, FACTS.account_id, target, "another-run")
        if kind == "resumable":
            with pytest.raises(AudienceBusy), other:
                pass


def test_a_sealed_file_that_goes_alone_is_opened_by_no_key(tmp_path: Path) -> None:
    """Not by another name either: its salt goes first, as with a directory."""
    path, copy = tmp_path / "keys.sealed", tmp_path / "copy"
    with KeptSpool.create(path, SPOOL_KEY) as spool:
        spool.append(b"records")
        spool.finish()
    os.link(path, copy)
    size = path.stat().st_size
    assert remove(path, _FORGOTTEN.append) == size
    assert not path.exists()
    with pytest.raises(SpoolDamaged):
        KeptSpool.open(copy, SPOOL_KEY)
    (tmp_path / "link.sealed").symlink_to(tmp_path / "other")
    (tmp_path / "other").write_bytes(b"stays")
    remove(tmp_path / "link.sealed", _FORGOTTEN.append)
    assert [path.name for path in tmp_path.iterdir() if path.name != "copy"] == ["other"]
    assert (tmp_path / "other").read_bytes() == b"stays"
