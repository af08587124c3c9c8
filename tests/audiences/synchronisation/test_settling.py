"""Files that a run leaves beside the snapshot are brought into it: once, and only if they belong to it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from audiencekit.audiences.synchronisation.settling import settle_left
from audiencekit.errors import Bug, SnapshotRefused
from audiencekit.machine.crashpoints import set_hook
from audiencekit.machine.keys import find_state_key
from audiencekit.snapshots.store import RECENT, SnapshotStore
from tests.audiences.synchronisation.people import Killed, store
from tests.audiences.synchronisation.service import LOST, NEVER, Owner

NOW = datetime.fromtimestamp(1_795_000_000, UTC)
PEOPLE = [(str(number), str(number)) for number in range(12)]


@pytest.fixture
async def owner(tmp_path: Path) -> Owner:
    """Whose last run put one more in, and was killed before it was in the snapshot."""
    owner = Owner(tmp_path)
    await owner.sync(PEOPLE[:10])
    await _killed(owner, "before snapshot")
    return owner


async def _killed(owner: Owner, point: str) -> None:
    def kill(passed: str) -> None:
        if passed == point:
            raise Killed

    set_hook(kill)
    try:
        with pytest.raises(Killed):
            await owner.sync(PEOPLE[:11])
    finally:
        set_hook(None)


def _store(owner: Owner) -> SnapshotStore:
    return store(owner.settings.state_dir)


def _settle(owner: Owner) -> bool:
    state = owner.settings.state_dir
    return settle_left(_store(owner), state, find_state_key(state, None), NOW)


def _members(owner: Owner) -> tuple[int, int]:
    """How many there are, and how many of them in doubt."""
    with closing(_store(owner).open()) as snapshot:
        return snapshot.facts.members, snapshot.facts.doubtful


async def test_confirmed_changes_come_into_the_snapshot_once(owner: Owner) -> None:
    """Then nothing is left."""
    assert _members(owner) == (10, 0)
    assert _settle(owner)
    assert _members(owner) == (11, 0)
    assert not _store(owner).changes_path.exists()
    assert not _settle(owner)


async def test_changes_in_the_snapshot_already_are_only_removed(owner: Owner) -> None:
    """The kill came between the snapshot and the removal."""
    assert _settle(owner)
    await owner.sync(PEOPLE[:10])
    await _killed(owner, "before removal")
    assert _members(owner) == (11, 0)
    assert _settle(owner)
    assert _members(owner) == (11, 0)


async def test_without_a_journal_everything_is_in_doubt(owner: Owner) -> None:
    """Which requests left is no longer known."""
    for journal in (owner.settings.state_dir / "runs").glob("*/journal*"):
        journal.unlink()
    assert _settle(owner)
    assert _members(owner) == (11, 1)


@pytest.mark.parametrize(("fate", "members"), [(NEVER, (11, 1)), (LOST, (11, 1))])
async def test_a_request_in_doubt_is_a_member_in_doubt(tmp_path: Path, fate: str, members: tuple[int, int]) -> None:
    """Whatever became of it."""
    owner = Owner(tmp_path)
    await owner.sync(PEOPLE[:10])
    owner.service.fates = [fate]
    with pytest.raises(Bug):
        await owner.sync(PEOPLE[:11])
    _settle(owner)
    assert _members(owner) == members


def _flip(store: SnapshotStore) -> None:
    content = store.changes_path.read_bytes()
    store.changes_path.write_bytes(content[:-50] + bytes([content[-50] ^ 1]) + content[-49:])


def _remove_snapshot(store: SnapshotStore) -> None:
    (store.directory / "snapshot").unlink()


@pytest.mark.parametrize("damage", [_flip, _remove_snapshot])
async def test_files_that_do_not_belong_together_are_refused(
    owner: Owner, damage: Callable[[SnapshotStore], None]
) -> None:
    """And nothing is changed by it."""
    damage(_store(owner))
    with pytest.raises(SnapshotRefused):
        _settle(owner)
    assert _store(owner).changes_path.exists()


@pytest.mark.parametrize(("days", "is_there"), [(6, True), (8, False)])
async def test_deleted_members_leave_the_files_without_any_change(tmp_path: Path, days: int, is_there: bool) -> None:
    """The first sync after a week writes every member anew, although it has nothing to send."""
    owner = Owner(tmp_path)
    await owner.sync(PEOPLE)
    await owner.sync(PEOPLE[1:])
    assert (recent := _store(owner).directory / RECENT).exists()
    owner.clock.time += days * 86_400
    owner.service.log.clear()
    await owner.sync(PEOPLE[1:])
    assert not owner.service.log
    assert recent.exists() is is_there
    assert _members(owner) == (11, 0)
