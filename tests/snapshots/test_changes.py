"""The changes that a run is about to make, as a file: the outcomes of its requests decide which were made."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import orjson
import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.audiences.sync.difference import records_at
from audiencekit.destinations.requests.request_plan import PlannedRequest
from audiencekit.errors import InputOutputFailed, SnapshotRefused
from audiencekit.personal import HashedRecords
from audiencekit.records.record_bits import Bits, Indices
from audiencekit.selection.partitions import part_of
from audiencekit.selection.selection import Selection, SelectionLayout
from audiencekit.selection.tags import tags_of_sets
from audiencekit.snapshots import changes as module
from audiencekit.snapshots.changes import Changes, ChangesFacts, Effects, NextSnapshot, Outcomes, is_old, write_changes
from audiencekit.snapshots.facts import SnapshotFacts
from audiencekit.snapshots.files import PARTS, Snapshot
from audiencekit.snapshots.marks import Marks
from audiencekit.snapshots.members import DOUBTFUL, DROPPED, UNSURE, identifiers_of, joined_members
from audiencekit.snapshots.store import RECENT, SNAPSHOT, SnapshotStore
from audiencekit.state.keys import find_state_key
from audiencekit.state.spool import KeptSpool, Spool
from tests.audiences.sync.people import TAGGER, days, members, records, store
from tests.audiences.sync.service import ACCOUNT, AUDIENCE, Person
from tests.examples import FACTOR
from tests.shortened import shortened

# --- The changes that a run is about to make, as a file: the outcomes of its requests decide which were made ---

NEW, GONE, BACK = ("a", ""), ("b", "1"), ("c", "1")

# --- One snapshot after the other: whatever changed, and whichever file it went to, the members are as a model says

ALL_PEOPLE = [NEW, GONE, BACK]
DAY = 20_800


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Of changes: request 1 puts one in, request 2 takes one out, request 3 puts one back."""
    place = store(tmp_path)
    batches = [records([NEW, BACK]), records([GONE], deletes=True)]
    deletes = Bits()
    deletes.append(np.array([False, False, True]))
    later = {1: np.array([2]), 2: np.array([1])}
    selection = Selection(Bits.of(3, True), deletes, later)
    requests = [_request(1, 0, updates=1), _request(2, 1, deletes=1), _request(3, 2, updates=1)]
    write_changes(
        place.changes_path,
        place.spool_key(),
        ChangesFacts(run_id="sync-1", serial=4, day=DAY),
        layout=SelectionLayout(selection, [2, 1]),
        waves=selection.waves(),
        requests=requests,
        records_of=lambda batch, places: records_at(batches[batch], places),
    )
    return tmp_path


def _request(number: int, wave: int, *, updates: int = 0, deletes: int = 0) -> PlannedRequest:
    return PlannedRequest(
        number=number,
        wave=wave,
        first_update=0,
        first_delete=0,
        updates=updates,
        deletes=deletes,
        update_operations=updates,
        delete_operations=deletes,
        body_bytes=100,
    )


def _effects(directory: Path, outcomes: Outcomes) -> dict[Person, int]:
    place = store(directory)
    changes = Changes.open(place.changes_path, place.spool_key())
    assert changes is not None
    with contextlib.closing(changes):
        return {who: day for part in changes.effects(outcomes) for who, day in days(part, ALL_PEOPLE).items()}


@pytest.mark.parametrize(
    ("confirmed", "touched", "effects"),
    [
        ({}, {}, {}),
        ({1}, {}, {NEW: DAY}),
        ({}, {1}, {NEW: UNSURE}),
        ({1}, {2}, {NEW: DAY, GONE: DOUBTFUL, BACK: DOUBTFUL}),
        ({1, 2}, {}, {NEW: DAY, GONE: DROPPED, BACK: DOUBTFUL}),
        ({1, 2}, {3}, {NEW: DAY, GONE: DROPPED, BACK: DOUBTFUL}),
        ({1, 2, 3}, {}, {NEW: DAY, GONE: DROPPED, BACK: DAY}),
    ],
)
def test_the_outcomes_of_requests_decide_on_noted_changes(
    path: Path, confirmed: set[int], touched: set[int], effects: dict[Person, int]
) -> None:
    """Confirmed is done, touched is in doubt; a member that a Delete may have struck is in doubt until put back."""
    assert _effects(path, Outcomes(frozenset(confirmed), frozenset(touched))) == effects


@pytest.mark.parametrize(("row", "effects"), [(1, {BACK: DAY}), (2, {NEW: DAY, BACK: DOUBTFUL})])
def test_a_row_that_was_refused_is_not_taken_for_sent(path: Path, row: int, effects: dict[Person, int]) -> None:
    """It is not there, or in doubt when it was to be put back."""
    found = _effects(path, Outcomes(frozenset({1, 2, 3}), frozenset(), frozenset({row})))
    assert {who: day for who, day in found.items() if who != GONE} == effects


def test_facts_come_back(path: Path) -> None:
    """Of which run they are, and which verbs the requests have."""
    place = store(path)
    changes = Changes.open(place.changes_path, place.spool_key())
    assert changes is not None
    with contextlib.closing(changes):
        assert (changes.facts.run_id, changes.facts.serial, changes.facts.day) == ("sync-1", 4, DAY)
        assert [changes.facts.verbs_of([number]) for number in (1, 2, 3)] == [{False}, {True}, {False}]


def test_without_changes_there_are_none(tmp_path: Path) -> None:
    """Most of the time."""
    place = store(tmp_path)
    assert Changes.open(place.changes_path, place.spool_key()) is None


def test_a_damaged_file_is_refused(path: Path) -> None:
    """Nothing of it is believed."""
    place = store(path)
    content = place.changes_path.read_bytes()
    place.changes_path.write_bytes(content[:100] + bytes([content[100] ^ 1]) + content[101:])
    with pytest.raises(InputOutputFailed):
        _effects(path, Outcomes(frozenset({1, 2, 3}), frozenset()))


def test_a_disk_that_is_full_leaves_nothing(tmp_path: Path) -> None:
    """Neither changes nor half of them."""
    place = store(tmp_path)

    def fail(batch: int, places: Indices) -> HashedRecords:
        raise InputOutputFailed("the disk is full")

    selection = Selection(Bits.of(1, True), Bits.of(1, False))
    with pytest.raises(InputOutputFailed, match="full"):
        write_changes(
            place.changes_path,
            place.spool_key(),
            ChangesFacts(run_id="sync-1", serial=4, day=DAY),
            layout=SelectionLayout(selection, [1]),
            waves=[0],
            requests=[_request(1, 0, updates=1)],
            records_of=fail,
        )
    assert not list(place.directory.iterdir())


# --- The members that a run has changed, by part: each comes back with the mark that orders them ---

PEOPLE: dict[Person, int] = {(f"{number}", "" if number % 3 else f"n{number}"): 400 + number for number in range(600)}


@pytest.mark.parametrize("put_aside", shortened([3, 1_000, 1], 2))
def test_each_member_comes_back_in_its_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, put_aside: int) -> None:
    """With their day and their mark, whether they were put aside or not; and all are counted."""
    monkeypatch.setattr(module, "_PUT_ASIDE", put_aside)
    monkeypatch.setattr(module, "_GATHERED", 100)
    found: dict[Person, int] = {}
    with Spool(tmp_path) as aside:
        effects = Effects(aside, TAGGER)
        for start in range(0, 600, 60):
            effects.add(members(dict(list(PEOPLE.items())[start : start + 60])))
        effects.close()
        for part in range(PARTS):
            own = effects.of_parts(range(part, part + 1))
            tags = tags_of_sets(own.members, TAGGER)
            assert (part_of(tags) == part).all()
            assert np.array_equal(own.marks.high, Marks.of(tags).high)
            assert np.array_equal(own.marks.low, Marks.of(tags).low)
            found |= days(own.members, list(PEOPLE))
        several = effects.of_parts(range(7, 11))
        alone = [effects.of_parts(range(part, part + 1)) for part in range(7, 11)]
        assert several.members == joined_members([each.members for each in alone])
        assert several.marks.high.tolist() == [high for each in alone for high in each.marks.high.tolist()]
    assert found == PEOPLE
    assert (effects.members, effects.identifiers) == (600, 800)


ALL_OF_THEM = [(mail, name) for mail in ("", "a", "b") for name in ("", "1", "2") if mail or name]
CHANGES = st.dictionaries(
    st.sampled_from(ALL_OF_THEM),
    st.sampled_from([DROPPED, UNSURE, DOUBTFUL, 19_000, 20_000, 20_500]),
    max_size=6,
)
TODAY, LAPSED_BEFORE, DAY_SECONDS = 1_000_000.0, 19_500, 86_400


def _advance(found: SnapshotStore, changes: Mapping[Person, int], at: float = TODAY) -> None:
    with closing(found.open()) as snapshot, Spool(found.directory) as aside:
        effects = Effects(aside, found.tagger())
        effects.add(members(changes))
        effects.close()
        NextSnapshot(snapshot, effects, LAPSED_BEFORE).write(found, snapshot.facts, at)


def _read(found: SnapshotStore) -> tuple[dict[Person, int], SnapshotFacts]:
    """Return the members, and the facts, which count them rightly."""
    with closing(found.open()) as snapshot:
        batch = joined_members([snapshot.members(part) for part in range(PARTS)])
        known = days(batch, ALL_OF_THEM)
        assert snapshot.facts.members == len(known)
        assert snapshot.facts.days == {str(day): list(known.values()).count(day) for day in set(known.values())}
        assert snapshot.facts.identifiers == int(identifiers_of(batch).sum())
        return known, snapshot.facts


def _stored(snapshot: Snapshot) -> int:
    """Members whose identifiers stand in the files."""
    each = [identifiers_of(batch) for part in range(PARTS) for batch in snapshot.stored(part)]
    return int((np.concatenate(each) > 0).sum())


def _after(known: Mapping[Person, int], changes: Mapping[Person, int], *, whole: bool) -> dict[Person, int]:
    """The model."""
    after = dict(known)
    for person, day in changes.items():
        after[person] = after.get(person, DOUBTFUL) if day == UNSURE else day
    stays = [DOUBTFUL, *range(LAPSED_BEFORE, 30_000)] if whole else [DOUBTFUL, *range(1, 30_000)]
    return {person: day for person, day in after.items() if day in stays}


@settings(max_examples=round(10 * FACTOR), deadline=None)  # 256 parts each
@given(st.lists(st.tuples(CHANGES, st.integers(0, 3)), min_size=1, max_size=5))
def test_changes_are_heeded(steps: list[tuple[dict[Person, int], int]]) -> None:
    """As the words for days say, in either file; who lapsed long ago is left out of a whole one."""
    with TemporaryDirectory() as directory:
        found, known, at, whole_at = store(Path(directory)), {}, TODAY, TODAY - 100 * DAY_SECONDS
        for changes, days_later in steps:
            at += days_later * DAY_SECONDS
            is_whole = at - whole_at >= 7 * DAY_SECONDS
            whole_at = at if is_whole else whole_at
            _advance(found, changes, at)
            known = _after(known, changes, whole=is_whole)
            assert _read(found)[0] == known
            assert (found.directory / RECENT).exists() is not is_whole


@pytest.fixture
def found(tmp_path: Path) -> SnapshotStore:
    """Return a store with three members: one has left since, and one is new."""
    found = store(tmp_path)
    _advance(found, {("a", ""): 20_000, ("b", "1"): 20_100, ("", "2"): 20_200})
    _advance(found, {("a", ""): DROPPED, ("b", "2"): 20_300, ("b", "1"): 20_400})
    return found


def test_only_changes_are_written(found: SnapshotStore) -> None:
    """Of those who are known already, no identifier."""
    with closing(found.open()) as snapshot:
        assert snapshot.recent is not None
        assert _stored(snapshot) == 3 + 1
    assert _read(found)[0] == {("b", "1"): 20_400, ("", "2"): 20_200, ("b", "2"): 20_300}


@pytest.mark.parametrize("together_bytes", shortened([20_000, 0], 1))
def test_parts_are_the_same_alone_and_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, together_bytes: int
) -> None:
    """Whether one part is made after the other, or several in one go, the same stands in each of them."""
    first = {(f"{number}", ""): 20_000 + number for number in range(600)}
    second = {person: DROPPED if day % 3 else day + 300 for person, day in list(first.items())[:300]}
    second |= {("", f"{number}"): 20_100 for number in range(300)}
    third = {person: DROPPED if day == 20_100 else 20_400 for person, day in list(second.items())[150:450]}
    written = []
    monkeypatch.setattr("audiencekit.snapshots.changes.SNAPSHOT_FRAME_BYTES", 1_000_000)
    for name, most in (("all", 2_000_000), ("some", together_bytes)):
        monkeypatch.setattr("audiencekit.snapshots.changes._TOGETHER_BYTES", most)
        found = SnapshotStore(tmp_path / name, ACCOUNT, AUDIENCE, find_state_key(tmp_path, None))
        found.prepare()
        for changes in (first, second, third):
            _advance(found, changes)
        with closing(KeptSpool.open(found.directory / RECENT, found.spool_key())) as spool:
            written.append([bytes(spool.read(number)) for number in range(1, 1 + 2 * PARTS)])
    assert written[0] == written[1]
    assert len({len(chunk) for chunk in written[0]}) > 2


def test_a_deleted_member_is_gone_from_the_files_after_days(found: SnapshotStore) -> None:
    """Every member is written anew, whether there are changes or not."""
    _advance(found, {}, TODAY + 7 * DAY_SECONDS)
    assert not (found.directory / RECENT).exists()
    with closing(found.open()) as snapshot:
        assert _stored(snapshot) == 3
        assert not is_old(snapshot.facts, TODAY + 7 * DAY_SECONDS)
        assert is_old(snapshot.facts, TODAY + 14 * DAY_SECONDS)
        assert is_old(snapshot.facts, TODAY), "a clock that went back"


def test_many_changes_are_written_as_a_whole(found: SnapshotStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the files stay within their bound."""
    monkeypatch.setattr("audiencekit.snapshots.changes.SNAPSHOT_FRAME_BYTES", 0)
    _advance(found, {("a", "1"): 20_000})
    assert not (found.directory / RECENT).exists()
    assert ("a", "1") in _read(found)[0]


def test_parts_overruled_by_a_whole_snapshot_are_not_read(found: SnapshotStore) -> None:
    """A kill came before it was removed; the next run removes it."""
    recent = found.directory / RECENT
    content = recent.read_bytes()
    _advance(found, {("a", ""): 20_000}, TODAY + 8 * DAY_SECONDS)
    known, _ = _read(found)
    recent.write_bytes(content)
    assert _read(found)[0] == known
    found.prepare()
    assert not recent.exists()
    assert _read(found)[0] == known


@pytest.mark.parametrize("form", [1, 3, "2", None])
def test_one_of_another_form_is_refused_untouched(
    found: SnapshotStore, form: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may hold what this version does not know; a sync can begin a new one."""
    monkeypatch.setattr(SnapshotFacts, "to_bytes", lambda facts: orjson.dumps(asdict(facts) | {"form": form}))
    _advance(found, {}, TODAY + 8 * DAY_SECONDS)
    monkeypatch.undo()
    content = (found.directory / SNAPSHOT).read_bytes()
    with pytest.raises(
        SnapshotRefused, match="another version of audiencekit: this one reads form 2 in AKSPOOL1 only"
    ) as caught:
        found.open()
    assert "rebuild=True" in caught.value.hint
    assert (found.directory / SNAPSHOT).read_bytes() == content


def test_one_in_another_container_is_refused_as_such(found: SnapshotStore) -> None:
    """Nothing is said of damage, or of keys."""
    content = (found.directory / SNAPSHOT).read_bytes()
    (found.directory / SNAPSHOT).write_bytes(b"AKSPOOL2" + content[8:])
    with pytest.raises(SnapshotRefused, match="written by another version of audiencekit"):
        found.open()
