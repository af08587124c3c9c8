"""The files of one snapshot: which of them belong together, after kills and after copies were put back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from audiencekit.errors import InputOutputFailed, SnapshotRefused
from audiencekit.process.crash_points import set_hook
from audiencekit.snapshots.facts import SnapshotFacts
from audiencekit.snapshots.files import NewParts
from audiencekit.snapshots.store import CHANGES, RECENT, SERIAL, SNAPSHOT, SNAPSHOTS, SnapshotStore
from audiencekit.state.keys import find_state_key

KEPT = (SNAPSHOT, RECENT, SERIAL)


def _store(state_dir: Path, account: str = "a1", audience: str = "b2") -> SnapshotStore:
    found = SnapshotStore(state_dir, account, audience, find_state_key(state_dir, None))
    found.prepare()
    return found


@pytest.fixture
def store(tmp_path: Path) -> SnapshotStore:
    """Of an audience that was never synced."""
    return _store(tmp_path)


@pytest.fixture
def kill_at() -> Iterator[Callable[[str], None]]:
    """Ends what is done at a point, as a kill would."""

    def kill_at(wanted: str) -> None:
        def hook(point: str) -> None:
            if point == wanted:
                raise KeyboardInterrupt

        set_hook(hook)

    yield kill_at
    set_hook(None)


def _facts(store: SnapshotStore) -> SnapshotFacts:
    with closing(store.open()) as snapshot:
        return snapshot.facts


def _write_whole(store: SnapshotStore) -> None:
    store.write_whole(lambda part: NewParts(), _facts(store), 1.0)


def _write_recent(store: SnapshotStore) -> None:
    with closing(store.open()) as snapshot:
        assert snapshot.whole is not None
        whole = snapshot.whole.facts
    store.write_recent(lambda parts: NewParts(), _facts(store), whole, together=64)


def _kept(store: SnapshotStore) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in store.directory.iterdir() if path.name in KEPT}


def test_serials_count_up_whichever_file_is_written(store: SnapshotStore) -> None:
    """One that was never written has none; a whole one takes the place of both files."""
    assert _facts(store).serial == 0
    for serial, (write, names) in enumerate(
        [
            (_write_whole, {SNAPSHOT, SERIAL}), (_write_recent, {SNAPSHOT, SERIAL, RECENT}),
            (_write_recent, {SNAPSHOT, SERIAL, RECENT}), (_write_whole, {SNAPSHOT, SERIAL}),
        ],
        start=1,
    ):  # fmt: skip
        write(store)
        assert (_facts(store).serial, set(_kept(store))) == (serial, names)


# Of the writes "whole, recent, recent, whole, recent": which of the files are those of which write.
PUT_BACK = {
    "all of the last": {SNAPSHOT: 4, RECENT: 5, SERIAL: 5},
    "a serial that a kill left behind": {SNAPSHOT: 4, RECENT: 5, SERIAL: 4},
    "the changes to an earlier whole one, which a kill left": {SNAPSHOT: 4, RECENT: 3, SERIAL: 4},
    "an earlier whole one": {SNAPSHOT: 1, RECENT: 5, SERIAL: 5},
    "earlier changes": {SNAPSHOT: 1, RECENT: 2, SERIAL: 3},
    "an earlier whole one alone": {SNAPSHOT: 1, SERIAL: 4},
    "no changes": {SNAPSHOT: 4, SERIAL: 5},
    "no whole one": {RECENT: 5, SERIAL: 5},
    "no serial": {SNAPSHOT: 4, RECENT: 5},
    "nothing but the serial": {SERIAL: 5},
    "a later serial": {SNAPSHOT: 1, RECENT: 3, SERIAL: 5},
    "a serial two behind": {SNAPSHOT: 4, RECENT: 5, SERIAL: 3},
}
SOUND = tuple(PUT_BACK)[:3]


@pytest.mark.parametrize("case", PUT_BACK)
def test_files_that_do_not_belong_together_are_refused(store: SnapshotStore, case: str) -> None:
    """A kill leaves what does; a copy that was put back, or a file that was removed, does not."""
    written = [{}]
    for write in (_write_whole, _write_recent, _write_recent, _write_whole, _write_recent):
        write(store)
        written.append(_kept(store))
    for name in KEPT:
        (store.directory / name).unlink()
    for name, number in PUT_BACK[case].items():
        (store.directory / name).write_bytes(written[number][name])
    if case in SOUND:
        assert _facts(store).serial == (4 if PUT_BACK[case][RECENT] == 3 else 5)
    else:
        with pytest.raises(SnapshotRefused, match=r"not the last|missing") as caught:
            store.open()
        assert "`rebuild=True`" in caught.value.hint


def test_changes_are_no_whole_snapshot(store: SnapshotStore) -> None:
    """Although they are sealed under the same key, and are the last that was written."""
    _write_whole(store)
    _write_recent(store)
    (store.directory / RECENT).replace(store.directory / SNAPSHOT)
    with pytest.raises(SnapshotRefused, match="not the last"):
        store.open()


@pytest.mark.parametrize("point", ["before snapshot", "after snapshot", "before serial", "after serial"])
def test_two_kills_in_a_row_leave_a_snapshot(store: SnapshotStore, kill_at: Callable[[str], None], point: str) -> None:
    """The serial is never more than one behind."""
    _write_whole(store)
    for _ in range(2):
        kill_at(point)
        with pytest.raises(KeyboardInterrupt):
            _write_whole(store)
    kill_at("")
    before = _facts(store).serial
    _write_whole(store)
    assert _facts(store).serial == before + 1


def test_a_failed_write_leaves_nothing(store: SnapshotStore) -> None:
    """And the snapshot before it stays."""

    def fail(part: int) -> NewParts:
        raise InputOutputFailed("the disk is full")

    _write_whole(store)
    before = sorted(store.directory.iterdir()), _kept(store)
    with pytest.raises(InputOutputFailed, match="the disk is full"):
        store.write_whole(fail, _facts(store), 1.0)
    assert (sorted(store.directory.iterdir()), _kept(store)) == before


def test_half_written_files_go_before_the_next_run(store: SnapshotStore) -> None:
    """A kill leaves them."""
    _write_whole(store)
    left = store.directory / ".new-0123"
    left.write_bytes(b"half")
    store.prepare()
    assert not left.exists()
    assert _facts(store).serial == 1


@pytest.mark.parametrize(
    ("name", "is_under_sync"), [(SNAPSHOT, True), (SERIAL, True), (CHANGES, True), (RECENT, False), ("stamp", False)]
)
def test_an_audience_with_any_of_its_files_is_under_sync(store: SnapshotStore, name: str, is_under_sync: bool) -> None:
    assert not store.exists()
    (store.directory / name).touch()
    assert store.exists() == is_under_sync


def test_the_audiences_of_an_account_are_found(tmp_path: Path) -> None:
    """And of no other, also where its id begins the same."""
    key = find_state_key(tmp_path, None)
    assert SnapshotStore.audiences(tmp_path, "a1") == []
    assert list(SnapshotStore.all_of(tmp_path, key)) == []
    for account, audience in (("a1", "b2"), ("a12", "c3"), ("a1", "a1")):
        _store(tmp_path, account, audience)
    assert SnapshotStore.audiences(tmp_path, "a1") == ["a1", "b2"]
    assert [(name, found.audience_id, found.directory) for name, found in SnapshotStore.all_of(tmp_path, key)] == [
        ("a1-a1", "a1", tmp_path / SNAPSHOTS / "a1-a1"),
        ("a1-b2", "b2", tmp_path / SNAPSHOTS / "a1-b2"),
        ("a12-c3", "c3", tmp_path / SNAPSHOTS / "a12-c3"),
    ]


@pytest.mark.parametrize(("is_damaged", "serial"), [(False, 3), (True, 1)])
def test_a_forgotten_snapshot_is_empty_and_counts_on(store: SnapshotStore, is_damaged: bool, serial: int) -> None:
    """From the serial before, where that can be read; what a run noted goes with it."""
    _write_whole(store)
    _write_recent(store)
    store.changes_path.write_bytes(b"noted")
    if is_damaged:
        (store.directory / SERIAL).write_bytes(b"damaged")
    assert store.forget() == serial
    assert (_facts(store).serial, _facts(store).members) == (serial, 0)
    assert set(_kept(store)) == {SNAPSHOT, SERIAL}
    assert not store.changes_path.exists()
