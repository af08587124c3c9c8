"""One snapshot after the other: whatever changed, and whichever file it went to, the members are as a model says."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import orjson
import pytest
from audiencekit.snapshots.memberchanges import Effects
from audiencekit.snapshots.partsfile import PARTS
from audiencekit.snapshots.snapshot import Snapshot
from audiencekit.snapshots.successor import Successor, is_old
from hypothesis import given, settings, strategies as st
from tests.audiences.synchronisation.people import days, members, store
from tests.audiences.synchronisation.service import ACCOUNT, AUDIENCE, Person

from audiencekit.errors import SnapshotRefused
from audiencekit.machine.keptspool import KeptSpool
from audiencekit.machine.keys import find_state_key
from audiencekit.machine.spool import Spool
from audiencekit.snapshots.facts import SnapshotFacts
from audiencekit.snapshots.members import DOUBTFUL, DROPPED, UNSURE, identifiers_of, joined_members
from audiencekit.snapshots.store import RECENT, SNAPSHOT, SnapshotStore
from tests.examples import examples

ALL_PEOPLE = [(mail, name) for mail in ("", "a", "b") for name in ("", "1", "2") if mail or name]
CHANGES = st.dictionaries(
    st.sampled_from(ALL_PEOPLE), st.sampled_from([DROPPED, UNSURE, DOUBTFUL, 19_000, 20_000, 20_500]), max_size=6
)
TODAY, LAPSED_BEFORE, DAY_SECONDS = 1_000_000.0, 19_500, 86_400


def _advance(found: SnapshotStore, changes: Mapping[Person, int], at: float = TODAY) -> None:
    with closing(found.open()) as snapshot, Spool(found.directory) as aside:
        effects = Effects(aside, found.tagger())
        effects.add(members(changes))
        effects.close()
        Successor(snapshot, effects, LAPSED_BEFORE).write(found, snapshot.facts, at)


def _read(found: SnapshotStore) -> tuple[dict[Person, int], SnapshotFacts]:
    """Return the members, and the facts, which count them rightly."""
    with closing(found.open()) as snapshot:
        batch = joined_members([snapshot.members(part) for part in range(PARTS)])
        known = days(batch, ALL_PEOPLE)
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


@settings(max_examples=examples(5), deadline=None)  # 256 parts each
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


@pytest.mark.parametrize("together_bytes", [0, 20_000])
def test_parts_are_the_same_alone_and_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, together_bytes: int
) -> None:
    """Whether one part is made after the other, or several in one go, the same stands in each of them."""
    first = {(f"{number}", ""): 20_000 + number for number in range(600)}
    second = {person: DROPPED if day % 3 else day + 300 for person, day in list(first.items())[:300]}
    second |= {("", f"{number}"): 20_100 for number in range(300)}
    third = {person: DROPPED if day == 20_100 else 20_400 for person, day in list(second.items())[150:450]}
    written = []
    monkeypatch.setattr("audiencekit.snapshots.successor.SNAPSHOT_FRAME_BYTES", 1_000_000)
    for name, most in (("all", 2_000_000), ("some", together_bytes)):
        monkeypatch.setattr("audiencekit.snapshots.successor._TOGETHER_BYTES", most)
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
    monkeypatch.setattr("audiencekit.snapshots.successor.SNAPSHOT_FRAME_BYTES", 0)
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
