"""One file of a snapshot: every member comes back with its day, and a file that was changed is refused."""

from __future__ import annotations

import stat
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.audit.log import LOG
from audiencekit.errors import CredentialsRefused, SnapshotRefused
from audiencekit.personal import Secret
from audiencekit.selection.tags import tags_of_sets
from audiencekit.snapshots.facts import SnapshotFacts
from audiencekit.snapshots.files import PARTS, NewParts, PartIndex, PartsFile, write_parts
from audiencekit.snapshots.marks import Marks
from audiencekit.snapshots.members import DOUBTFUL, chosen, days_of, joined_members, with_days
from audiencekit.snapshots.store import RECENT, SNAPSHOT, SnapshotStore
from audiencekit.state.keys import SubKey, find_state_key
from audiencekit.state.spool import KeptSpool
from tests.audiences.sync.people import TAGGER, days, members, names
from tests.audiences.sync.service import ACCOUNT, AUDIENCE, Owner, Person, entries_of
from tests.examples import FACTOR
from tests.shortened import shortened

# --- One file of a snapshot: every member comes back with its day, and a file that was changed is refused ---

KEY, OTHER_KEY = SubKey(b"k" * 32), SubKey(b"o" * 32)
FACTS = SnapshotFacts(account_id="a1", audience_id="b2", serial=7)

# --- The snapshot as a file: who is in it comes back, and nothing that was done to it goes unnoticed ---

PEOPLE: list[Person] = [(f"person{number}", "") for number in range(400)] + [("", "lone"), ("both", "both")]


def _write(path: Path, known: dict[Person, int], together: int = 1, key: SubKey = KEY) -> None:
    """The file of these members, made so many parts at a time."""
    every = members(known)
    marks = Marks.of(tags_of_sets(every, TAGGER))
    order = marks.order()
    ordered, ascending = chosen(every, order), marks.take(order)
    ends = [0, *ascending.ends(range(PARTS))]

    def parts(numbers: range) -> NewParts:
        begin, end = ends[numbers.start], ends[numbers.stop]
        own = chosen(ordered, np.arange(begin, end))
        found = Counter(days_of(own).tolist())
        return NewParts(marks=ascending.take(slice(begin, end)), members=own, days=found, identifiers=end - begin)

    with closing(KeptSpool.create(path, key)) as spool:
        write_parts(spool, parts, FACTS, together=together, workers=2)


def _read(file: PartsFile) -> dict[Person, int]:
    parts = [with_days(file.identifiers(part), file.index(part).days) for part in range(PARTS)]
    return days(joined_members(parts), PEOPLE)


def _opened(path: Path, key: SubKey = KEY) -> PartsFile:
    file = PartsFile.open(path, key)
    assert file is not None
    return file


@settings(max_examples=round(15 * FACTOR))
@given(
    st.dictionaries(st.sampled_from(PEOPLE), st.sampled_from([DOUBTFUL, 1, 20_000, 32_767]), max_size=60),
    st.sampled_from([1, 3, 64, PARTS]),
)
def test_every_member_comes_back_with_its_day(
    tmp_path_factory: pytest.TempPathFactory, known: dict[Person, int], together: int
) -> None:
    """However many parts are made together, and with the marks that it is found by; the facts count them."""
    path = tmp_path_factory.mktemp("parts") / "snapshot"
    _write(path, known, together)
    with closing(_opened(path)) as file:
        assert _read(file) == known
        assert (file.facts.serial, file.facts.identifiers) == (FACTS.serial, len(known))
        assert file.facts.days == {str(day): count for day, count in Counter(known.values()).items()}
        for part in range(PARTS):
            found, index = file.identifiers(part), file.index(part).marks
            made = Marks.of(tags_of_sets(found, TAGGER))
            assert (made.high.tolist(), made.low.tolist()) == (index.high.tolist(), index.low.tolist())
            assert index.order().tolist() == list(range(len(index)))


def test_some_members_of_a_part_are_those_at_their_places(tmp_path: Path) -> None:
    """In the order that is asked for. A wrong one would be taken out in the place of another."""
    _write(tmp_path / "snapshot", dict.fromkeys(PEOPLE, 20_000))
    with closing(_opened(tmp_path / "snapshot")) as file:
        part = max(range(PARTS), key=lambda each: len(file.index(each).days))
        own = names(file.identifiers(part), PEOPLE)
        assert len(own) > 2
        for places in ([len(own) - 1, 0], [1], []):
            found = file.identifiers(part, np.array(places, dtype=np.int64))
            assert names(found, PEOPLE) == [own[place] for place in places]


def test_neighbouring_parts_are_joined_in_order() -> None:
    """Days stay beside their marks."""
    marks = [Marks(np.array([number], dtype=np.uint64), np.array([number], dtype=np.uint16)) for number in (3, 5)]
    parts = [PartIndex(each, np.array([day], dtype=np.int16)) for each, day in zip(marks, (30, 50), strict=True)]
    joined = PartIndex.joined(parts)
    assert (joined.marks.high.tolist(), joined.marks.low.tolist(), joined.days.tolist()) == ([3, 5], [3, 5], [30, 50])


def test_no_file_is_none_and_no_error(tmp_path: Path) -> None:
    """But a link that leads nowhere is something, and cannot be trusted."""
    assert PartsFile.open(tmp_path / "snapshot", KEY) is None
    (tmp_path / "snapshot").symlink_to(tmp_path / "nowhere")
    with pytest.raises(SnapshotRefused):
        PartsFile.open(tmp_path / "snapshot", KEY)


def test_a_file_of_another_key_is_refused(tmp_path: Path) -> None:
    """Before anything of it is believed."""
    _write(tmp_path / "snapshot", {PEOPLE[0]: 20_000})
    with pytest.raises(SnapshotRefused, match="nothing was sent"):
        PartsFile.open(tmp_path / "snapshot", OTHER_KEY)


def test_a_changed_byte_is_never_a_changed_member(tmp_path: Path) -> None:
    """Wherever it is: members that come back wrong, or not at all, would be taken out of the audience."""
    path, known = tmp_path / "snapshot", {PEOPLE[0]: 20_000, PEOPLE[-1]: DOUBTFUL}
    _write(path, known)
    content = path.read_bytes()
    for place in range(0, len(content), 101):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(SnapshotRefused), closing(_opened(path)) as file:
            _read(file)
    for length in (0, 1, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(SnapshotRefused):
            PartsFile.open(path, KEY)


def test_nothing_of_the_members_can_be_read_from_the_file(tmp_path: Path) -> None:
    """No hash and no part of one; for its owner only. Nor from what stands in memory for it."""
    _write(tmp_path / "snapshot", {PEOPLE[0]: 20_000})
    content = (tmp_path / "snapshot").read_bytes()
    hashed: bytes = members({PEOPLE[0]: 0}).unwrap().column("email")[0].as_py()[0]
    assert not any(hashed[start : start + 6] in content for start in range(len(hashed) - 5))
    assert (tmp_path / "snapshot").stat().st_mode & 0o777 == 0o600
    with closing(_opened(tmp_path / "snapshot")) as file:
        part = next(each for each in range(PARTS) if len(file.index(each).days))
        assert hashed.hex() not in repr((file.index(part), file.identifiers(part)))


PEOPLE_SNAPSHOT = [(str(number), str(number)) for number in range(20)]


@pytest.fixture
async def owner(tmp_path: Path) -> Owner:
    """Whose audience was synced once."""
    owner = Owner(tmp_path)
    await owner.sync(PEOPLE_SNAPSHOT)
    owner.service.log.clear()
    return owner


def _directory(owner: Owner) -> Path:
    return owner.directory / "state" / "snapshots" / f"{ACCOUNT}-{AUDIENCE}"


async def _is_refused(owner: Owner) -> str:
    with pytest.raises(SnapshotRefused) as caught:
        await owner.sync(PEOPLE_SNAPSHOT[:19])
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
    hashes = {bytes.fromhex(key) for entry in entries_of(PEOPLE_SNAPSHOT) for _, key in entry}
    assert not any(value in content or value.hex().encode() in content for value in hashes)


async def test_a_flipped_bit_anywhere_is_noticed(owner: Owner) -> None:
    """In the head, in a chunk, in the directory of chunks, at the end."""
    path = _directory(owner) / SNAPSHOT
    sound = path.read_bytes()
    for place in (3, 20, 60, len(sound) // 2, len(sound) - 2_000, len(sound) - 3):
        path.write_bytes(sound[:place] + bytes([sound[place] ^ 1]) + sound[place + 1 :])
        assert "damaged" in await _is_refused(owner), place
    path.write_bytes(sound)
    await owner.sync(PEOPLE_SNAPSHOT)


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
    await owner.sync([*PEOPLE_SNAPSHOT, ("20", "20")])
    earlier = recent.read_bytes()
    await owner.sync([*PEOPLE_SNAPSHOT, ("20", "20"), ("21", "21")])
    last = recent.read_bytes()
    owner.service.log.clear()
    recent.write_bytes(earlier)
    assert "not the last" in await _is_refused(owner)
    recent.unlink()
    assert "not the last" in await _is_refused(owner)
    recent.write_bytes(last)
    owner.clock.time += 8 * 86_400
    await owner.sync([*PEOPLE_SNAPSHOT, ("20", "20")])
    assert not recent.exists()
    owner.service.log.clear()
    path.write_bytes(old)
    assert "not the last" in await _is_refused(owner)
    recent.write_bytes(last)
    assert "not the last" in await _is_refused(owner)


async def test_another_key_is_refused(owner: Owner) -> None:
    """It says nothing of the audience, and must not look like an empty one; also where no audit log says so before."""
    owner.settings = replace(owner.settings, key=Secret("ab" * 32))
    with pytest.raises(CredentialsRefused, match="another state key"):
        await owner.sync(PEOPLE_SNAPSHOT[:19])
    (owner.settings.state_dir / LOG).unlink()
    assert "another state key" in await _is_refused(owner)


async def test_the_snapshot_of_another_audience_is_refused(owner: Owner) -> None:
    """Each has a key of its own."""
    state = owner.settings.state_dir
    other = SnapshotStore(state, ACCOUNT, "9z9z", find_state_key(state, None))
    other.prepare()
    (other.directory / SNAPSHOT).write_bytes((_directory(owner) / SNAPSHOT).read_bytes())
    with pytest.raises(SnapshotRefused):
        other.open()


@pytest.mark.parametrize("damage", shortened(["none", "another key", "flipped", "removed"], 2))
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
        with pytest.raises(CredentialsRefused, match=r"audit\.log' is under another state key .* nothing was sent"):
            await owner.sync(PEOPLE_SNAPSHOT[1:], rebuild=True)
        (owner.settings.state_dir / "audit.log").rename(owner.settings.state_dir / "kept-audit.log")
    report = await owner.sync(PEOPLE_SNAPSHOT[1:], rebuild=True)
    assert report.rows.sent == 19
    assert any("all members are sent again" in note for note in report.notes)
    assert report.changes["removals"] == (damage == "none")
    owner.service.log.clear()
    report = await owner.sync(PEOPLE_SNAPSHOT[2:])
    assert (report.changes["unchanged"], report.changes["removals"]) == (18, 1)
    assert [verb for verb, _ in owner.service.log] == ["Delete"]
