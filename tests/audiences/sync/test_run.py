"""The snapshot under the lock of a run: opened and judged, or refused before anything is sent."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.audiences.sync.run import HeldSnapshot, settle_previous_run
from audiencekit.destinations.requests.request_plan import BodyLimits
from audiencekit.errors import AudiencekitError, Bug, SnapshotRefused
from audiencekit.process.crash_points import SYNC_POINTS
from audiencekit.snapshots.files import PARTS, Snapshot
from audiencekit.snapshots.members import joined_members
from audiencekit.snapshots.store import RECENT, SERIAL, SNAPSHOT, SnapshotStore
from audiencekit.state.keys import find_state_key
from tests.audiences.sync.people import store
from tests.audiences.sync.service import AUDIENCE, FINE, LATE, LOST, NEVER, Entry, Killed, Owner, Person, entries_of

# --- The snapshot under the lock of a run: opened and judged, or refused before anything is sent ---

PEOPLE = [(str(number), str(number)) for number in range(12)]


@pytest.fixture(scope="module")
def synced(tmp_path_factory: pytest.TempPathFactory) -> Owner:
    owner = Owner(tmp_path_factory.mktemp("synced"))
    asyncio.run(owner.sync(PEOPLE[:10]))
    return owner


@pytest.fixture
def owner(synced: Owner, tmp_path: Path) -> Owner:
    """Ten people are members."""
    return synced.copied(tmp_path)


@pytest.fixture(scope="module")
def killed(synced: Owner, tmp_path_factory: pytest.TempPathFactory) -> Owner:
    owner = synced.copied(tmp_path_factory.mktemp("killed"))
    with pytest.raises(Killed):
        asyncio.run(owner.sync_until("before snapshot", PEOPLE[:11]))
    return owner


@pytest.fixture
def killed_owner(killed: Owner, tmp_path: Path) -> Owner:
    """The last run put one more in, and was killed before it was in the snapshot."""
    return killed.copied(tmp_path)


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


def test_an_interrupted_run_is_settled_first_and_said(killed_owner: Owner) -> None:
    """A member of it that no one knows would stay for ever."""
    found, notes = _opened(killed_owner)
    assert found == entries_of(PEOPLE[:11])
    assert "interrupted" in notes[0]
    assert _opened(killed_owner) == (entries_of(PEOPLE[:11]), ())


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


# --- Files that a run leaves beside the snapshot are brought into it: once, and only if they belong to it ---

NOW = datetime.fromtimestamp(1_795_000_000, UTC)


def _store(owner: Owner) -> SnapshotStore:
    return store(owner.settings.state_dir)


def _settle(owner: Owner) -> bool:
    state = owner.settings.state_dir
    return settle_previous_run(_store(owner), state, find_state_key(state, None), NOW)


def _count(owner: Owner) -> tuple[int, int]:
    """How many there are, and how many of them in doubt."""
    with closing(_store(owner).open()) as snapshot:
        return snapshot.facts.members, snapshot.facts.doubtful


def test_confirmed_changes_come_into_the_snapshot_once(killed_owner: Owner) -> None:
    """Then nothing is left."""
    assert _count(killed_owner) == (10, 0)
    assert _settle(killed_owner)
    assert _count(killed_owner) == (11, 0)
    assert not _store(killed_owner).changes_path.exists()
    assert not _settle(killed_owner)


async def test_changes_in_the_snapshot_already_are_only_removed(owner: Owner) -> None:
    """The kill came between the snapshot and the removal."""
    with pytest.raises(Killed):
        await owner.sync_until("before removal", PEOPLE[:11])
    assert _count(owner) == (11, 0)
    assert _settle(owner)
    assert _count(owner) == (11, 0)


def test_without_a_journal_everything_is_in_doubt(killed_owner: Owner) -> None:
    """Which requests left is no longer known."""
    for journal in (killed_owner.settings.state_dir / "runs").glob("*/journal*"):
        journal.unlink()
    assert _settle(killed_owner)
    assert _count(killed_owner) == (11, 1)


@pytest.mark.parametrize("fate", [NEVER, LOST])
async def test_a_request_in_doubt_is_a_member_in_doubt(owner: Owner, fate: str) -> None:
    """Whatever became of it."""
    owner.service.fates = [fate]
    with pytest.raises(Bug):
        await owner.sync(PEOPLE[:11])
    _settle(owner)
    assert _count(owner) == (11, 1)


def _flip(store: SnapshotStore) -> None:
    content = store.changes_path.read_bytes()
    store.changes_path.write_bytes(content[:-50] + bytes([content[-50] ^ 1]) + content[-49:])


def _remove_snapshot(store: SnapshotStore) -> None:
    (store.directory / "snapshot").unlink()


@pytest.mark.parametrize("damage", [_flip, _remove_snapshot])
def test_files_that_do_not_belong_together_are_refused(
    killed_owner: Owner, damage: Callable[[SnapshotStore], None]
) -> None:
    """And nothing is changed by it."""
    damage(_store(killed_owner))
    with pytest.raises(SnapshotRefused):
        _settle(killed_owner)
    assert _store(killed_owner).changes_path.exists()


async def test_deleted_members_leave_the_files_without_any_change(owner: Owner) -> None:
    """The first sync after a week writes every member anew, although it has nothing to send."""
    await owner.sync(PEOPLE[1:10])
    owner.service.log.clear()
    recent = _store(owner).directory / RECENT
    is_there = [recent.exists()]
    for days in (6, 2):
        owner.clock.time += days * 86_400
        await owner.sync(PEOPLE[1:10])
        is_there.append(recent.exists())
    assert is_there == [True, True, False]
    assert not owner.service.log
    assert _count(owner) == (9, 0)


# --- However runs end, and whatever becomes of their requests: the next sync that completes leaves the audience
# exact
#
# SYNC_EXAMPLES raises the number of histories (3) for a longer run.

EXAMPLES = int(os.environ.get("SYNC_EXAMPLES", "3"))

NUMBERS = st.sampled_from(["", "0", "1", "2", "3", "4"])
LISTS = st.lists(st.tuples(NUMBERS, NUMBERS).filter(any), min_size=1, max_size=7, unique=True)
FATES = st.lists(st.sampled_from([FINE, FINE, LOST, NEVER, LATE]), max_size=4)
STEPS = st.lists(st.tuples(LISTS, FATES, st.sampled_from([None, *SYNC_POINTS])), min_size=1, max_size=4)


async def _attempt(owner: Owner, people: list[Person], fates: list[str], point: str | None) -> bool:
    """Whether one sync completed that is killed at `point`, if it comes there."""
    owner.service.fates = list(fates)
    try:
        await owner.sync_until(point, people)
    except (AudiencekitError, Killed):
        return False
    finally:
        owner.service.fates = []
    return True


@settings(max_examples=EXAMPLES, deadline=None)
@given(STEPS, LISTS)
def test_the_audience_ends_as_the_last_source(
    steps: list[tuple[list[Person], list[str], str | None]], last: list[Person]
) -> None:
    """Through lost answers, requests applied late, and kills; with people who share keys with one another."""

    async def live() -> None:
        with TemporaryDirectory() as directory:
            owner = Owner(Path(directory))
            for people, fates, point in steps:
                if await _attempt(owner, people, fates, point):
                    owner.service.arrive_late()
                    assert set(owner.service.entries) == entries_of(people)
            await owner.sync(last)
            owner.service.arrive_late()
            assert set(owner.service.entries) == entries_of(last)
            requests = len(owner.service.log)
            await owner.sync(last)
            assert len(owner.service.log) == requests, "there was nothing left to send"

    asyncio.run(live())


async def test_confirmed_changes_are_not_sent_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a run that ended early, only the rest is."""
    owner = Owner(tmp_path)
    _small_requests(monkeypatch)
    people = [(str(number), str(number)) for number in range(30)]
    owner.service.fates = [FINE, FINE, NEVER]
    with pytest.raises(Bug):
        await owner.sync(people)
    sent = set().union(*(users for _, users in owner.service.log))
    owner.service.log.clear()
    report = await owner.sync(people)
    again = set().union(*(users for _, users in owner.service.log))
    assert sent
    assert again == entries_of(people) - sent
    assert report.rows.unchanged == len(sent)


async def test_a_request_in_doubt_is_waited_for_before_its_opposite(owner: Owner) -> None:
    """A late Update must not put back who was taken out since."""
    owner.service.fates = [LATE]
    with pytest.raises(Bug):
        await owner.sync(PEOPLE[:11])
    assert not owner.clock.waited
    await owner.sync(PEOPLE[:10])
    assert owner.clock.waited == 900
    assert any(message.startswith("waiting 900 s") for message in owner.told)
    assert set(owner.service.entries) == entries_of(PEOPLE[:10])


async def test_a_request_in_doubt_that_is_only_repeated_waits_for_nothing(owner: Owner) -> None:
    """The same Update once more cannot be undone by the first."""
    owner.service.fates = [LATE]
    with pytest.raises(Bug):
        await owner.sync(PEOPLE[:11])
    await owner.sync(PEOPLE[:11])
    assert not owner.clock.waited


async def test_a_run_of_another_day_needs_no_wait(owner: Owner) -> None:
    """A quarter of an hour after it was last in doubt, nothing can be applied any more."""
    owner.service.fates = [NEVER]
    with pytest.raises(Bug):
        await owner.sync(PEOPLE[:11])
    owner.clock.time += 86_400
    await owner.sync(PEOPLE[:10])
    assert not owner.clock.waited


async def test_updates_come_before_deletes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that no member of both the old and the new list is missing at any moment."""
    owner = Owner(tmp_path)
    _small_requests(monkeypatch)
    old = [(str(number), str(number)) for number in range(40)]
    new = [(str(number), str(number)) for number in range(20, 60)]
    await owner.sync(old)
    shared = entries_of(old) & entries_of(new)

    def watch() -> None:
        live = set(owner.service.entries)
        assert shared <= live
        assert live >= entries_of(new) or live >= entries_of(old)

    owner.service.watch = watch
    owner.service.log.clear()
    await owner.sync(new)
    verbs = [verb for verb, _ in owner.service.log]
    assert verbs == sorted(verbs, reverse=True)
    assert set(verbs) == {"Update", "Delete"}
    assert set(owner.service.entries) == entries_of(new)


async def test_a_wider_key_set_never_empties_the_audience(tmp_path: Path) -> None:
    """When every person gets one key more, all entries change; they do so a small share at a time."""
    owner = Owner(tmp_path)
    numbers = [str(number) for number in range(60)]
    await owner.sync([(number, "") for number in numbers])
    fewest = 60

    def watch() -> None:
        nonlocal fewest
        fewest = min(fewest, len(owner.service.entries))

    owner.service.watch = watch
    await owner.sync([(number, number) for number in numbers])
    assert fewest >= 60 * 0.9
    assert set(owner.service.entries) == entries_of((number, number) for number in numbers)


def _small_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BodyLimits, "within", lambda _: BodyLimits(max_body_bytes=1_500))
