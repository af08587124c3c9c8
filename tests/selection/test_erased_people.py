"""The memory of erased people."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.audiences.erasure.forms import ErasureKeys, to_records
from audiencekit.errors import InputOutputFailed, MemoryRefused, UsageError
from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import Secret
from audiencekit.process.crash_points import ERASURE_POINTS
from audiencekit.selection import erased_people as forgotten
from audiencekit.selection.erased_people import (
    accept_memory,
    describe_memory,
    read_forgotten,
    read_log,
    remember,
    remove_person,
)
from audiencekit.selection.erasure_witness import Witness
from audiencekit.selection.tag_arrays import TAG
from audiencekit.selection.tags import are_among
from audiencekit.state.keys import StateKey
from tests.examples import examples
from tests.planning.memories import GIVEN, KEY, Killed, Place, records_of

GIVEN_PEOPLE = Secret("6b" * 32)
KEY_PEOPLE = StateKey(b"k" * 32)


def _records(*numbers: int) -> object:
    hashed = frozenset((Kind.EMAIL, hashlib.sha256(b"%d" % number).hexdigest()) for number in numbers)
    return to_records(ErasureKeys(hashed | {(Kind.PARTNER_USER_ID, f"crm-{number}") for number in numbers}))


def test_without_an_erasure_no_memory_is_made(tmp_path: Path) -> None:
    """Without a memory no key is asked for, nor made."""
    assert read_forgotten(tmp_path, GIVEN_PEOPLE) is None
    assert list(tmp_path.iterdir()) == []


def test_records_that_share_a_key_are_held(tmp_path: Path) -> None:
    """All that were ever added, of every kind; no others."""
    remember(tmp_path, KEY_PEOPLE, _records(1, 2))
    remember(tmp_path, KEY_PEOPLE, _records(2, 3))
    forgotten = read_forgotten(tmp_path, GIVEN_PEOPLE)
    assert forgotten is not None
    assert len(forgotten) == 6
    assert forgotten.holds_any(_records(1, 2, 3)).all()
    assert not forgotten.holds_any(_records(4, 5)).any()


def test_one_person_is_removed(tmp_path: Path) -> None:
    """By all keys that were given, and no one else; the log counts them. Who was not erased here cannot be removed."""
    with pytest.raises(UsageError, match="no one was erased"):
        remove_person(tmp_path, GIVEN_PEOPLE, _records(1))
    assert list(tmp_path.iterdir()) == []
    remember(tmp_path, KEY_PEOPLE, _records(1, 2, 3))
    line = remove_person(tmp_path, GIVEN_PEOPLE, _records(2))
    assert (line["removed"], line["keys"], line["imported"]) == (2, 4, False)
    assert read_log(tmp_path) == [line]
    found = read_forgotten(tmp_path, GIVEN_PEOPLE)
    assert found is not None
    assert found.holds_any(_records(1, 3)).all()
    assert not found.holds_any(_records(2)).any()
    serial = describe_memory(tmp_path, GIVEN_PEOPLE)["serial"]
    with pytest.raises(UsageError, match="with these identifiers: nothing was removed"):
        remove_person(tmp_path, GIVEN_PEOPLE, _records(2))
    assert (describe_memory(tmp_path, GIVEN_PEOPLE)["serial"], read_log(tmp_path)) == (serial, [line])


def test_the_file_says_nothing_to_others(tmp_path: Path) -> None:
    """No hash and no part of one, no id; for its owner only."""
    remember(tmp_path, KEY_PEOPLE, _records(1))
    content = (tmp_path / "forgotten").read_bytes()
    hashed = hashlib.sha256(b"1").digest()
    assert hashed[:8] not in content
    assert hashed[16:24] not in content
    assert b"crm" not in content
    assert stat.S_IMODE(os.lstat(tmp_path / "forgotten").st_mode) == 0o600


@pytest.mark.parametrize("spoil", ["other key", "cut", "changed", "empty", "text"])
def test_a_memory_that_cannot_be_trusted_keeps_everything_back(spoil: str, tmp_path: Path) -> None:
    """People who are not found in it would be sent again."""
    remember(tmp_path, KEY_PEOPLE, _records(1, 2))
    path, given_key = tmp_path / "forgotten", GIVEN_PEOPLE
    content = path.read_bytes()
    if spoil == "other key":
        given_key = Secret("6f" * 32)
    else:
        spoilt = {"cut": content[:-16], "changed": content[:-1] + b"\0", "empty": b"", "text": b"x" * 100}
        path.write_bytes(spoilt[spoil])
    with pytest.raises(MemoryRefused, match="erased people"):
        read_forgotten(tmp_path, given_key)
    with pytest.raises(MemoryRefused, match="erased people"):
        remember(tmp_path, StateKey(bytes.fromhex(given_key.unwrap())), _records(3))


PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=12)


@settings(max_examples=examples(50))
@given(PAIRS, PAIRS)
def test_tags_are_looked_up_exactly(known: list[tuple[int, int]], asked: list[tuple[int, int]]) -> None:
    """Tags that share one half are two tags."""
    tags = np.unique(np.array(known, dtype=TAG))
    assert are_among(np.array(asked, dtype=TAG), tags).tolist() == [one in known for one in asked]


BOTH = ("forgotten", "forgotten.serial")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Person 1 was erased, then a backup was made, then person 2 was erased."""
    made = Place(tmp_path / "state", Witness(tmp_path / "seen" / "witness", "machine"))
    made.forget(1)
    made.copy(tmp_path / "backup")
    made.forget(2)
    return made


def _without(place: Place, *names: str) -> None:
    for name in names:
        path = place.directory / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


INSIDE: dict[str, Callable[[Place, Path], None]] = {
    "the memory was removed": lambda place, backup: _without(place, "forgotten"),
    "memory and serial were removed": lambda place, backup: _without(place, *BOTH),
    "memory and receipts were removed": lambda place, backup: _without(place, "forgotten", "erasures"),
    "the serial was removed": lambda place, backup: _without(place, "forgotten.serial"),
    "an older memory was put back": lambda place, backup: place.restore(backup, "forgotten"),
    "an older memory and serial were put back": lambda place, backup: place.restore(backup, *BOTH),
    "an older memory was put back, and the serial removed": lambda place, backup: (
        place.restore(backup, "forgotten"), _without(place, "forgotten.serial"),
    )[0],
    "an older memory was put back, and the receipts removed": lambda place, backup: (
        place.restore(backup, "forgotten"), _without(place, "erasures"),
    )[0],
    "the receipts cannot be read, and the memory was removed": lambda place, backup: (
        [path.write_bytes(b"?") for path in place.directory.rglob("receipt.json")], _without(place, *BOTH),
    )[1],
}  # fmt: skip
OUTSIDE: dict[str, Callable[[Place, Path], None]] = {
    "all of it was put back from a backup": lambda place, backup: place.restore(backup),
    "all of it was removed": lambda place, backup: shutil.rmtree(place.directory),
    "all that tells of it was removed": lambda place, backup: _without(place, *BOTH, "erasures"),
    "an older memory and serial, without receipts": lambda place, backup: (
        place.restore(backup, *BOTH), _without(place, "erasures"),
    )[0],
}  # fmt: skip


@pytest.mark.parametrize("spoil", INSIDE.values(), ids=INSIDE)
@pytest.mark.parametrize("is_seen", [True, False], ids=["seen outside", "not seen outside"])
def test_a_fault_that_the_state_directory_shows_is_refused(
    spoil: Callable[[Place, Path], None], is_seen: bool, place: Place, tmp_path: Path
) -> None:
    """Nothing is planned, and no person is added to a memory that is not the last."""
    spoil(place, tmp_path / "backup")
    if not is_seen:
        place.witness = Witness(None)
    before = (place.directory / "forgotten").exists()
    with pytest.raises(MemoryRefused) as caught:
        place.holds(1, 2)
    assert "audiencekit forgotten accept" in caught.value.hint
    with pytest.raises(MemoryRefused):
        place.forget(3)
    assert (place.directory / "forgotten").exists() is before


@pytest.mark.parametrize("spoil", OUTSIDE.values(), ids=OUTSIDE)
def test_a_fault_that_only_the_witness_shows_is_refused(
    spoil: Callable[[Place, Path], None], place: Place, tmp_path: Path
) -> None:
    """A directory that is whole in itself is noticed by what this user has seen; without that it is not."""
    spoil(place, tmp_path / "backup")
    assert place.is_refused()
    place.witness = Witness(None)
    assert not place.is_refused()


def test_a_backup_that_is_put_back_elsewhere_is_noticed(place: Place, tmp_path: Path) -> None:
    """By its identity; the newest copy is as good as the original."""
    assert Place(tmp_path / "backup", place.witness).is_refused()
    newest = Place(place.copy(tmp_path / "newest"), place.witness)
    assert newest.holds(1, 2, 3) == [True, True, False]


def test_the_memory_of_another_state_directory_is_refused(place: Place, tmp_path: Path) -> None:
    """Although it was written under the same key."""
    other = Place(tmp_path / "other", Witness(None))
    for person in (7, 8, 9):
        other.forget(person)
    shutil.copy2(other.directory / "forgotten", place.directory / "forgotten")
    for witness in (place.witness, Witness(None)):
        with pytest.raises(MemoryRefused, match="another state directory"):
            Place(place.directory, witness).holds(1)
    shutil.copy2(other.directory / "forgotten.serial", place.directory / "forgotten.serial")
    with pytest.raises(MemoryRefused, match="another state directory"):
        place.holds(1)


def test_copies_that_went_apart_are_told_from_each_other(place: Place, tmp_path: Path) -> None:
    """Each lacks the people that the other erased; who accepts that goes on with both."""
    copy = Place(place.copy(tmp_path / "copy"), place.witness)
    place.forget(3)
    assert copy.is_refused()
    accept_memory(copy.directory, GIVEN, empty=False, witness=copy.witness)
    copy.forget(4)
    place.forget(5)
    assert (copy.holds(2, 3, 4), place.holds(2, 3, 4)) == ([True, False, True], [True, True, False])


# --- who must not be kept back ---


def test_machines_that_share_a_state_directory_all_have_seen_it(place: Place, tmp_path: Path) -> None:
    """Each by itself, from the first look on: what comes later is newer, and what is put back is older."""
    other = Place(place.directory, Witness(tmp_path / "other-home" / "witness", "other"))
    assert other.holds(1, 2) == [True, True]
    place.forget(3)
    assert other.holds(3) == [True]
    place.restore(tmp_path / "backup")
    assert other.is_refused()


def test_machines_that_share_a_home_have_state_directories_of_their_own(place: Place, tmp_path: Path) -> None:
    """The same path on another machine, where no person was erased, is no missing memory."""
    shutil.rmtree(place.directory)
    other = Place(place.directory, Witness(tmp_path / "seen" / "witness", "other"))
    assert other.holds(1) == [False]
    other.forget(4)
    assert other.holds(4) == [True]


@pytest.mark.parametrize("kind", ["none", "file", "others may read it"])
def test_a_home_that_cannot_be_used_is_no_obstacle(kind: str, tmp_path: Path) -> None:
    """Read-only, of another user, or not there: nothing is noted, and that is told."""
    home = tmp_path / "home"
    if kind == "file":
        home.write_text("")
    elif kind != "none":
        (home / "witness").mkdir(parents=True)
        (home / "witness").chmod(0o755)
    witness = Witness(None if kind == "none" else home / "witness", "machine")
    _, is_noted = remember(tmp_path / "state", KEY, records_of([1]), witness)
    assert is_noted is (kind == "others may read it")  # which it may not from then on
    assert Place(tmp_path / "state", witness).holds(1) == [True]


def test_a_state_directory_that_can_only_be_read_is_read(place: Place, tmp_path: Path, monkeypatch: Any) -> None:
    """Notes are not written there; outside they are."""
    place.witness = Witness(tmp_path / "another", "machine")

    def fail(state_dir: Path) -> None:
        raise InputOutputFailed("read-only file system")

    monkeypatch.setattr(forgotten, "only_writer", fail)
    assert place.holds(1, 2) == [True, True]
    place.restore(tmp_path / "backup")
    assert place.is_refused()


def test_a_damaged_record_outside_is_said(place: Place, tmp_path: Path) -> None:
    """It could tell of anything; what it is written anew by is named."""
    for path in (tmp_path / "seen" / "witness").iterdir():
        path.write_bytes(b"?")
    assert describe_memory(place.directory, GIVEN, place.witness)["state"] == "refused"
    assert "audiencekit forgotten accept" in describe_memory(place.directory, GIVEN, place.witness)["hint"]
    accept_memory(place.directory, GIVEN, empty=False, witness=place.witness)
    assert place.holds(1, 2) == [True, True]


# --- another version ---


def test_a_memory_of_another_version_is_refused_as_such(place: Place) -> None:
    """It stays as it is; nothing is said of damage or of keys, and an empty memory can be begun."""
    place.write_other_version()
    content = (place.directory / "forgotten").read_bytes()
    with pytest.raises(MemoryRefused, match=r"is in format AKFORGT5, and this .* reads AKFORGT4 only") as refused:
        place.holds(1)
    assert "audiencekit forgotten accept --empty" in refused.value.hint
    with pytest.raises(MemoryRefused, match="AKFORGT5"):
        place.forget(3)
    assert (place.directory / "forgotten").read_bytes() == content
    accept_memory(place.directory, GIVEN, empty=True, witness=place.witness)
    assert place.holds(1) == [False]


# --- the way out ---


@pytest.mark.parametrize("spoil", [*INSIDE.values(), *OUTSIDE.values()], ids=[*INSIDE, *OUTSIDE])
def test_there_is_a_way_out_that_is_logged(spoil: Callable[[Place, Path], None], place: Place, tmp_path: Path) -> None:
    """The memory that is there counts as the last from then on, an empty one too; then there is nothing to accept."""
    spoil(place, tmp_path / "backup")
    is_there = (place.directory / "forgotten").exists()
    if not is_there:
        with pytest.raises(MemoryRefused, match="there is no memory to accept"):
            accept_memory(place.directory, GIVEN, empty=False, witness=place.witness)
    line = accept_memory(place.directory, GIVEN, empty=not is_there, witness=place.witness)
    assert place.holds(1) == [is_there]
    assert describe_memory(place.directory, GIVEN, place.witness)["accepted"] == [line]
    assert (line["empty"], line["keys"] > 0) == (not is_there, is_there)
    assert line["why"]
    assert (place.directory / "forgotten.log").stat().st_mode & 0o777 == 0o600
    place.forget(3)
    assert place.holds(3) == [True]
    with pytest.raises(UsageError, match="nothing to accept"):
        accept_memory(place.directory, GIVEN, empty=True, witness=place.witness)


@pytest.mark.parametrize("point", ["before memory", "after memory", "before count", "after count", "before witness"])
def test_a_way_out_that_was_killed_is_gone_again(point: str, place: Place, tmp_path: Path) -> None:
    """However often."""
    place.restore(tmp_path / "backup", "forgotten")
    with pytest.raises(Killed):
        _killed(point, lambda: accept_memory(place.directory, GIVEN, empty=False, witness=place.witness))
    if place.is_refused():
        accept_memory(place.directory, GIVEN, empty=False, witness=place.witness)
    assert place.holds(1, 2) == [True, False]


def _killed(point: str, work: Callable[[], Any]) -> None:
    from audiencekit.process.crash_points import set_hook

    def hook(passed: str) -> None:
        if passed == point:
            raise Killed

    set_hook(hook)
    try:
        work()
    finally:
        set_hook(None)


# --- any order of all of these ---

PEOPLE = st.integers(0, 9)
STEPS = st.one_of(
    st.tuples(st.just("forget"), PEOPLE),
    st.tuples(st.just("killed"), PEOPLE, st.sampled_from(ERASURE_POINTS)),
    st.tuples(st.just("backup")),
    st.tuples(
        st.just("restore"), st.integers(0, 3), st.sampled_from([(), ("forgotten",), ("forgotten.serial",), BOTH])
    ),
    st.tuples(st.just("remove"), st.sampled_from(["forgotten", "forgotten.serial", "erasures"])),
    st.tuples(st.just("read")),
)


@settings(max_examples=examples(40))
@given(st.lists(STEPS, max_size=14))
def test_every_erased_person_is_found(steps: list[Any]) -> None:
    """In any order of erasures, kills, backups and what is put back or removed: all are held, or it is refused.

    And where nothing was put back or removed it is never refused, wherever a kill came.
    """
    with tempfile.TemporaryDirectory() as name:
        root, erased, is_spoilt = Path(name), set[int](), False
        place, backups = Place(root / "state", Witness(root / "seen", "machine")), []
        for number, (step, *given_) in enumerate(steps):
            if step in ("forget", "killed"):
                erased |= _forget(place, *given_)
            elif step == "backup":
                backups.append(place.copy(root / f"backup{number}"))
            elif step == "restore" and backups:
                place.restore(backups[given_[0] % len(backups)], *given_[1])
                is_spoilt = True
            elif step == "remove":
                path = place.directory / given_[0]
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
                is_spoilt = True
            if place.is_refused():
                assert is_spoilt
            else:
                assert all(place.holds(*erased))


def _forget(place: Place, person: int, kill: str = "") -> set[int]:
    """The people that an erasure has told its caller to be remembered."""
    try:
        place.forget(person, kill=kill)
    except (Killed, MemoryRefused):
        return set()
    return {person}
