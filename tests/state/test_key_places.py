"""The state key moved from one place to another: never lost, and in one place alone in the end."""

from __future__ import annotations

import base64
import contextlib
import sys
from pathlib import Path

import pytest

from audiencekit.errors import CredentialsRefused, UsageError
from audiencekit.personal import Secret
from audiencekit.process.crash_points import KEY_POINTS, set_hook
from audiencekit.state.key_command import NAME_FILE, GivenKey, KeyCommand
from audiencekit.state.key_places import KeyPlace, key_fingerprint, move_key, place_of_key
from audiencekit.state.keys import KEY_FILE, StateKey, find_state_key, write_earlier
from tests.fakekeyring import install_keyring

OTHER = "6b" * 32


class Killed(BaseException):
    """The process has ended."""


@pytest.fixture
def keyring(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A keyring in place of the library."""
    return install_keyring(monkeypatch)


def _brought(place: str, digits: str) -> GivenKey:
    return Secret(digits) if place == "environment" else KeyCommand(f"echo {digits}") if place == "command" else None


@pytest.mark.parametrize("place", ["environment", "command", "keyring", "file"])
@pytest.mark.parametrize("first", ["file", "keyring"])
def test_it_is_in_one_place_in_the_end(
    first: KeyPlace, place: KeyPlace, tmp_path: Path, keyring: dict[str, str]
) -> None:
    """And the same key."""
    key = find_state_key(tmp_path, None)
    move_key(tmp_path, None, first)
    given = _brought(place, key.unwrap().hex())
    left = move_key(tmp_path, given, place)
    assert left == (() if place == first else (first,))
    assert place_of_key(tmp_path, given) == place
    assert ((tmp_path / KEY_FILE).exists(), len(keyring)) == (place == "file", place == "keyring")
    assert (tmp_path / NAME_FILE).exists() == (place == "keyring")
    assert find_state_key(tmp_path, given) == key
    assert move_key(tmp_path, given, place) == ()


def test_two_state_directories_have_two_entries(tmp_path: Path, keyring: dict[str, str]) -> None:
    """A move of one does nothing to the other."""
    one, other = tmp_path / "one", tmp_path / "other"
    keys = [find_state_key(directory, None) for directory in (one, other)]
    move_key(one, None, "keyring")
    assert [find_state_key(directory, None) for directory in (one, other)] == keys
    move_key(other, None, "keyring")
    assert [find_state_key(directory, None) for directory in (one, other)] == keys
    move_key(one, None, "file")
    assert [find_state_key(directory, None) for directory in (one, other)] == keys


def test_an_entry_that_is_gone_makes_no_other_key(tmp_path: Path, keyring: dict[str, str]) -> None:
    find_state_key(tmp_path, None)
    move_key(tmp_path, None, "keyring")
    keyring.clear()
    with pytest.raises(CredentialsRefused, match="the keyring has no entry"):
        find_state_key(tmp_path, None)
    assert not (tmp_path / KEY_FILE).exists()


def test_a_key_of_before_a_rotation_is_refused(tmp_path: Path, keyring: dict[str, str]) -> None:
    """Whatever it would write, the key of now would not open."""
    new = StateKey(bytes.fromhex(OTHER), (StateKey(b"o" * 32),))
    write_earlier(tmp_path, new)
    assert find_state_key(tmp_path, Secret(OTHER)).earlier == new.earlier
    with pytest.raises(CredentialsRefused, match="it was rotated"):
        find_state_key(tmp_path, Secret(b"o".hex() * 32))


@pytest.mark.parametrize("place", ["environment", "keyring"])
@pytest.mark.parametrize("point", KEY_POINTS)
def test_a_kill_loses_nothing_and_the_same_move_goes_on(
    point: str, place: KeyPlace, tmp_path: Path, keyring: dict[str, str]
) -> None:
    key = find_state_key(tmp_path, None)
    given = _brought(place, key.unwrap().hex())
    set_hook(lambda passed: _end(passed, point))
    try:
        with contextlib.suppress(Killed):
            move_key(tmp_path, given, place)
    finally:
        set_hook(None)
    assert find_state_key(tmp_path, given) == key
    move_key(tmp_path, given, place)
    assert find_state_key(tmp_path, given) == key
    assert not (tmp_path / KEY_FILE).exists()


def _end(passed: str, point: str) -> None:
    if passed == point:
        raise Killed


def test_a_key_that_was_not_brought_there_is_not_destroyed(tmp_path: Path, keyring: dict[str, str]) -> None:
    key = find_state_key(tmp_path, None)
    with pytest.raises(UsageError, match="AUDIENCEKIT_KEY is not set"):
        move_key(tmp_path, None, "environment")
    with pytest.raises(UsageError, match="AUDIENCEKIT_KEY_COMMAND is not set"):
        move_key(tmp_path, Secret(key.unwrap().hex()), "command")
    assert find_state_key(tmp_path, None) == key


@pytest.mark.parametrize("place", ["environment", "keyring", "file"])
def test_another_key_is_never_destroyed(place: KeyPlace, tmp_path: Path, keyring: dict[str, str]) -> None:
    """Only the user can tell which of two keys opens something."""
    key = find_state_key(tmp_path, None)
    with pytest.raises(UsageError, match="another key than the one that is used"):
        move_key(tmp_path, Secret(OTHER), place)
    assert (find_state_key(tmp_path, None), keyring) == (key, {})


def test_without_a_keyring_nothing_is_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    key = find_state_key(tmp_path, None)
    with pytest.raises(UsageError, match="no keyring: nothing was changed"):
        move_key(tmp_path, None, "keyring")
    assert find_state_key(tmp_path, None) == key


def test_where_there_is_no_key_there_is_nothing_to_move(tmp_path: Path, keyring: dict[str, str]) -> None:
    assert place_of_key(tmp_path, None) is None
    with pytest.raises(UsageError, match="no state key yet"):
        move_key(tmp_path, None, "keyring")


def test_a_fingerprint_tells_keys_apart_and_is_no_part_of_them(tmp_path: Path) -> None:
    one, other = find_state_key(tmp_path, Secret(OTHER)), find_state_key(tmp_path, Secret("7c" * 32))
    assert key_fingerprint(one) != key_fingerprint(other)
    assert key_fingerprint(one) not in OTHER


def test_a_key_may_be_in_base64(tmp_path: Path) -> None:
    """As key management services print it."""
    given = Secret(base64.b64encode(bytes.fromhex(OTHER)).decode())
    assert find_state_key(tmp_path, given).unwrap() == bytes.fromhex(OTHER)


def test_the_content_of_the_file_can_be_given_as_it_is(tmp_path: Path, keyring: dict[str, str]) -> None:
    """With its dashes."""
    key = find_state_key(tmp_path, None)
    assert find_state_key(tmp_path, Secret((tmp_path / KEY_FILE).read_text())) == key
