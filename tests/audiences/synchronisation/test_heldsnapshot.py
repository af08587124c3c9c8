"""The snapshot under the lock of a run: opened and judged, or refused before anything is sent."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from audiencekit.audiences.synchronisation.heldsnapshot import HeldSnapshot
from audiencekit.errors import Bug, SnapshotRefused
from audiencekit.machine.crashpoints import set_hook
from audiencekit.snapshots.files import PARTS, Snapshot
from audiencekit.snapshots.members import joined_members
from audiencekit.snapshots.store import SERIAL, SNAPSHOT
from tests.audiences.synchronisation.people import Killed, store
from tests.audiences.synchronisation.service import AUDIENCE, Entry, Owner, entries_of

PEOPLE = [(str(number), str(number)) for number in range(12)]


@pytest.fixture
async def owner(tmp_path: Path) -> Owner:
    """Ten people are members."""
    owner = Owner(tmp_path)
    await owner.sync(PEOPLE[:10])
    return owner


def _held(owner: Owner, stack: ExitStack, *, rebuild: bool = False) -> HeldSnapshot:
    return HeldSnapshot(owner.settings, AUDIENCE, stack, rebuild=rebuild)


def _opened(owner: Owner, *, rebuild: bool = False) -> tuple[set[Entry], tuple[str, ...]]:
    with ExitStack() as stack:
        snapshot, notes = _held(owner, stack, rebuild=rebuild).open()
        return _members(snapshot), notes


def _members(snapshot: Snapshot) -> set[Entry]:
    batch = joined_members([snapshot.members(part) for part in range(PARTS)]).unwrap()
    columns = [(kind, batch.column(kind).to_pylist()) for kind in ("email", "handle")]
    return {
        frozenset((kind, value.hex()) for kind, column in columns for value in column[place] or ())
        for place in range(batch.num_rows)
    }


def _spoil(owner: Owner) -> bytes:
    """One letter of one member is another; the file as it was comes back."""
    path = store(owner.settings.state_dir).directory / SNAPSHOT
    content = path.read_bytes()
    path.write_bytes(content[:60] + bytes([content[60] ^ 1]) + content[61:])
    return content


async def test_the_members_of_the_last_sync_are_opened(owner: Owner) -> None:
    """There is nothing to know of them."""
    assert _opened(owner) == (entries_of(PEOPLE[:10]), ())


def test_the_first_sync_says_that_others_are_unknown(tmp_path: Path) -> None:
    """It takes out no one but those that it has put in."""
    found, notes = _opened(Owner(tmp_path))
    assert found == set()
    assert [note for note in notes if "first sync" in note and "stay until" in note] == list(notes) != []


async def test_an_interrupted_run_is_settled_first_and_said(owner: Owner) -> None:
    """A member of it that no one knows would stay for ever."""

    def kill(passed: str) -> None:
        if passed == "before snapshot":
            raise Killed

    set_hook(kill)
    try:
        with pytest.raises(Killed):
            await owner.sync(PEOPLE[:11])
    finally:
        set_hook(None)
    found, notes = _opened(owner)
    assert found == entries_of(PEOPLE[:11])
    assert "interrupted" in notes[0]
    assert _opened(owner) == (entries_of(PEOPLE[:11]), ())


async def test_one_that_is_not_the_last_is_refused(owner: Owner) -> None:
    """A copy that was put back with its serial: people who came since would be unknown, and stay."""
    directory = store(owner.settings.state_dir).directory
    backup = {name: (directory / name).read_bytes() for name in (SNAPSHOT, SERIAL)}
    await owner.sync(PEOPLE[1:12])
    for path in directory.iterdir():
        if path.name in ("recent", SNAPSHOT, SERIAL):
            path.unlink()
    for name, content in backup.items():
        (directory / name).write_bytes(content)
    with pytest.raises(SnapshotRefused, match="not the last"):
        _opened(owner)


async def test_the_judge_of_a_run_decides_by_the_serial(owner: Owner) -> None:
    """In the place of the stamps that are known here; its words come last."""
    asked: list[int] = []

    def judge(serial: int) -> tuple[str, ...]:
        asked.append(serial)
        return ("as judged",)

    with ExitStack() as stack:
        held = _held(owner, stack)
        held.judged_by(judge)
        snapshot, notes = held.open()
        assert (asked, notes) == ([snapshot.facts.serial], ("as judged",))
        assert held.serial == snapshot.facts.serial > 0


async def test_rebuilding_a_sound_one_keeps_its_members(owner: Owner) -> None:
    """All are sent again, and those who left the source can still be taken out."""
    found, notes = _opened(owner, rebuild=True)
    assert found == entries_of(PEOPLE[:10])
    assert "all members are sent again" in notes[0]
    assert "lost" not in notes[0]


async def test_a_damaged_one_is_refused_unless_it_is_rebuilt(owner: Owner) -> None:
    """Rebuilt, it is as good as none, which is said; on the disk it stays until something is noted."""
    sound = _spoil(owner)
    with pytest.raises(SnapshotRefused), ExitStack() as stack:
        _members(_held(owner, stack).open()[0])
    path = store(owner.settings.state_dir).directory / SNAPSHOT
    spoilt = path.read_bytes()
    found, notes = _opened(owner, rebuild=True)
    assert found == set()
    assert "the snapshot is lost" in notes[0]
    assert path.read_bytes() == spoilt != sound


async def test_one_that_does_not_open_is_refused_unless_it_is_rebuilt(owner: Owner) -> None:
    """As good as none only when that is asked for: past members would stay in the audience."""
    path = store(owner.settings.state_dir).directory / SNAPSHOT
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(SnapshotRefused, match="damaged"):
        _opened(owner)
    assert _opened(owner, rebuild=True)[0] == set()


async def test_the_stack_closes_the_snapshot(owner: Owner) -> None:
    """No file of it stays open behind a run."""
    with ExitStack() as stack:
        snapshot, _ = _held(owner, stack).open()
        assert snapshot.whole is not None
    with pytest.raises(Bug, match="closed"):
        snapshot.whole.stored_bytes  # noqa: B018
