"""The snapshot as a file: who is in it comes back, and nothing that was done to it goes unnoticed."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from audiencekit.errors import SnapshotRefused
from audiencekit.machine.keys import find_state_key
from audiencekit.personal import Secret
from audiencekit.snapshots.store import RECENT, SNAPSHOT, SnapshotStore
from tests.audiences.synchronisation.service import ACCOUNT, AUDIENCE, Owner, entries_of

PEOPLE = [(str(number), str(number)) for number in range(20)]


@pytest.fixture
async def owner(tmp_path: Path) -> Owner:
    """Whose audience was synced once."""
    owner = Owner(tmp_path)
    await owner.sync(PEOPLE)
    owner.service.log.clear()
    return owner


def _directory(owner: Owner) -> Path:
    return owner.directory / "state" / "snapshots" / f"{ACCOUNT}-{AUDIENCE}"


async def _is_refused(owner: Owner) -> str:
    with pytest.raises(SnapshotRefused) as caught:
        await owner.sync(PEOPLE[:19])
    assert not owner.service.log, "something was sent"
    assert "`rebuild=True`" in caught.value.hint
    return str(caught.value)


async def test_only_its_owner_can_read_it_and_repr_shows_no_member(owner: Owner) -> None:
    """Modes, no hash in the clear, and few bytes an identifier."""
    files = list(_directory(owner).iterdir())
    assert {path.name for path in files} == {"snapshot", "serial", "stamp"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert stat.S_IMODE(_directory(owner).stat().st_mode) == 0o700
    content = b"".join(path.read_bytes() for path in files)
    hashes = {bytes.fromhex(key) for entry in entries_of(PEOPLE) for _, key in entry}
    assert not any(value in content or value.hex().encode() in content for value in hashes)


async def test_a_flipped_bit_anywhere_is_noticed(owner: Owner) -> None:
    """In the head, in a chunk, in the directory of chunks, at the end."""
    path = _directory(owner) / SNAPSHOT
    sound = path.read_bytes()
    for place in (3, 20, 60, len(sound) // 2, len(sound) - 2_000, len(sound) - 3):
        path.write_bytes(sound[:place] + bytes([sound[place] ^ 1]) + sound[place + 1 :])
        assert "damaged" in await _is_refused(owner), place
    path.write_bytes(sound)
    await owner.sync(PEOPLE)


async def test_one_that_was_cut_off_or_removed_is_noticed(owner: Owner) -> None:
    """Neither is taken for an audience without members."""
    path = _directory(owner) / SNAPSHOT
    path.write_bytes(path.read_bytes()[:-100])
    assert "damaged" in await _is_refused(owner)
    path.unlink()
    assert "missing" in await _is_refused(owner)


async def test_an_older_one_is_noticed(owner: Owner) -> None:
    """A restored copy of either file would delete and add the wrong people; so would a missing file."""
    path, recent = (_directory(owner) / name for name in (SNAPSHOT, RECENT))
    old = path.read_bytes()
    await owner.sync([*PEOPLE, ("20", "20")])
    earlier = recent.read_bytes()
    await owner.sync([*PEOPLE, ("20", "20"), ("21", "21")])
    last = recent.read_bytes()
    owner.service.log.clear()
    recent.write_bytes(earlier)
    assert "not the last" in await _is_refused(owner)
    recent.unlink()
    assert "not the last" in await _is_refused(owner)
    recent.write_bytes(last)
    owner.clock.time += 8 * 86_400
    await owner.sync([*PEOPLE, ("20", "20")])
    assert not recent.exists()
    owner.service.log.clear()
    path.write_bytes(old)
    assert "not the last" in await _is_refused(owner)
    recent.write_bytes(last)
    assert "not the last" in await _is_refused(owner)


async def test_another_key_is_refused(owner: Owner) -> None:
    """It says nothing of the audience, and must not look like an empty one."""
    owner.settings = replace(owner.settings, key=Secret("ab" * 32))
    assert "another state key" in await _is_refused(owner)


async def test_the_snapshot_of_another_audience_is_refused(owner: Owner) -> None:
    """Each has a key of its own."""
    state = owner.settings.state_dir
    other = SnapshotStore(state, ACCOUNT, "9z9z", find_state_key(state, None))
    other.prepare()
    (other.directory / SNAPSHOT).write_bytes((_directory(owner) / SNAPSHOT).read_bytes())
    with pytest.raises(SnapshotRefused):
        other.open()


@pytest.mark.parametrize("damage", ["flipped", "removed", "another key", "none"])
async def test_a_rebuild_sends_all_members_and_says_so(owner: Owner, damage: str) -> None:
    """After it the audience is under sync again; with a sound snapshot who is gone is taken out, too."""
    path = _directory(owner) / SNAPSHOT
    content = path.read_bytes()
    if damage == "flipped":
        path.write_bytes(content[:500] + bytes([content[500] ^ 1]) + content[501:])
    elif damage == "removed":
        path.unlink()
    elif damage == "another key":
        owner.settings = replace(owner.settings, key=Secret("ab" * 32))
    report = await owner.sync(PEOPLE[1:], rebuild=True)
    assert report.rows.sent == 19
    assert any("all members are sent again" in note for note in report.notes)
    assert report.changes["removals"] == (damage == "none")
    owner.service.log.clear()
    report = await owner.sync(PEOPLE[2:])
    assert (report.changes["unchanged"], report.changes["removals"]) == (18, 1)
    assert [verb for verb, _ in owner.service.log] == ["Delete"]
