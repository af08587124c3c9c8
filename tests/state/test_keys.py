"""The state key: found in three places, made once, never shown."""

from __future__ import annotations

import os
import re
import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from audiencekit.errors import CredentialsRefused, InputOutputFailed, UsageError
from audiencekit.personal import Secret
from audiencekit.state.key_command import KEYRING_SERVICE, NAME_FILE
from audiencekit.state.keys import find_state_key
from tests.fakekeyring import NoKeyringError, install_calls

HEX = "00112233445566778899aabbccddeeff" * 2
ENTRY = "state-key-0123456789ab"


@pytest.fixture
def keyring(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A keyring in place of the library; what it gives or raises is under `answer`."""
    kept: dict[str, Any] = {"answer": None, "asked": []}

    def get_password(service: str, name: str) -> str | None:
        kept["asked"].append((service, name))
        if isinstance(kept["answer"], Exception):
            raise kept["answer"]
        answer: str | None = kept["answer"]
        return answer

    install_calls(monkeypatch, get_password=get_password)
    return kept


@pytest.fixture
def _no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)


def test_a_given_key_is_taken(tmp_path: Path, keyring: dict[str, Any]) -> None:
    """Nothing else is looked at, and nothing is made."""
    assert find_state_key(tmp_path, Secret(HEX)).unwrap() == bytes.fromhex(HEX)
    assert (keyring["asked"], list(tmp_path.iterdir())) == ([], [])


def test_the_keyring_comes_next(tmp_path: Path, keyring: dict[str, Any]) -> None:
    """By the name that the state directory says; no key file is made when it has a key."""
    (tmp_path / NAME_FILE).write_text(ENTRY)
    keyring["answer"] = HEX.upper()
    assert find_state_key(tmp_path, None).unwrap() == bytes.fromhex(HEX)
    assert keyring["asked"] == [(KEYRING_SERVICE, ENTRY)]
    assert [path.name for path in tmp_path.iterdir()] == [NAME_FILE]


def test_a_keyring_is_not_asked_where_no_entry_is_named(tmp_path: Path, keyring: dict[str, Any]) -> None:
    """A key in it may be that of another state directory."""
    keyring["answer"] = HEX
    assert find_state_key(tmp_path, None) == find_state_key(tmp_path, None)
    assert (keyring["asked"], [path.name for path in tmp_path.iterdir()]) == ([], ["key"])


@pytest.mark.parametrize("answer", [None, NoKeyringError()])
def test_without_a_key_in_the_keyring_there_is_the_file(tmp_path: Path, keyring: dict[str, Any], answer: Any) -> None:
    """The entry is empty, or there is no keyring on this machine."""
    key = find_state_key(tmp_path, None)
    (tmp_path / NAME_FILE).write_text(ENTRY)
    keyring["answer"] = answer
    assert find_state_key(tmp_path, None) == key


def test_a_keyring_that_cannot_be_read_is_said(tmp_path: Path, keyring: dict[str, Any]) -> None:
    """Another key than before would make all runs strangers; what the backend says is not passed on."""
    (tmp_path / NAME_FILE).write_text(ENTRY)
    keyring["answer"] = RuntimeError(HEX)
    with pytest.raises(CredentialsRefused, match="RuntimeError") as caught:
        find_state_key(tmp_path, None)
    assert HEX not in str(caught.value)
    assert caught.value.__cause__ is None
    assert [path.name for path in tmp_path.iterdir()] == [NAME_FILE]


@pytest.mark.usefixtures("_no_keyring")
def test_the_file_is_made_once_for_its_owner(tmp_path: Path) -> None:
    """In a state directory that may not exist yet, whatever the umask."""
    before = os.umask(0)
    try:
        key = find_state_key(tmp_path / "deep" / "state", None)
    finally:
        os.umask(before)
    file = tmp_path / "deep" / "state" / "key"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert (
        bytes.fromhex(file.read_text().replace("-", "")) == key.unwrap() == find_state_key(file.parent, None).unwrap()
    )
    assert list(file.parent.iterdir()) == [file]
    assert not re.search("[0-9a-f]{17}", file.read_text()), "it looks like a hash"


@pytest.mark.usefixtures("_no_keyring")
def test_all_who_start_at_once_have_one_key(tmp_path: Path) -> None:
    """Whichever process makes the file first."""
    with ThreadPoolExecutor(16) as pool:
        keys = set(pool.map(lambda _: find_state_key(tmp_path, None).unwrap(), range(64)))
    assert len(keys) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["key"]


@pytest.mark.usefixtures("_no_keyring")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
def test_a_file_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    """And left as it is."""
    find_state_key(tmp_path, None)
    (tmp_path / "key").chmod(mode)
    with pytest.raises(InputOutputFailed, match="others may read"):
        find_state_key(tmp_path, None)
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == mode


@pytest.mark.usefixtures("_no_keyring")
@pytest.mark.parametrize("kind", ["link", "broken link", "directory", "pipe"])
def test_a_planted_file_is_refused(tmp_path: Path, kind: str) -> None:
    """No link is followed, and nothing is waited for."""
    place = tmp_path / "key"
    if "link" in kind:
        place.symlink_to(tmp_path / "other")
        if kind == "link":
            (tmp_path / "other").write_text(HEX)
    elif kind == "directory":
        place.mkdir()
    else:
        os.mkfifo(place)
    with pytest.raises(InputOutputFailed):
        find_state_key(tmp_path, None)


@pytest.mark.usefixtures("_no_keyring")
@pytest.mark.parametrize("text", ["", "12", "xyz", HEX[:-1], f"{HEX}00", "g" * 64, "\u0661" * 64, "00 " * 21])
def test_an_invalid_key_is_refused_and_not_shown(tmp_path: Path, text: str) -> None:
    """From the environment and from the file alike."""
    with pytest.raises(UsageError) as caught:
        find_state_key(tmp_path, Secret(text))
    assert not text or text not in str(caught.value)
    (tmp_path / "key").write_text(text)
    (tmp_path / "key").chmod(0o600)
    with pytest.raises(UsageError) as caught:
        find_state_key(tmp_path, None)
    assert caught.value.__cause__ is None


def test_keys_of_different_purposes_differ(tmp_path: Path) -> None:
    """And those of one purpose are always the same; the vector is HKDF-SHA-256 of `openssl`."""
    key = find_state_key(tmp_path, Secret(HEX))
    made = [key.derive("digests"), key.derive("spool"), key.derive("digests", "run1"), key.derive("digests", "run2")]
    assert len({sub.unwrap() for sub in made}) == 4
    assert key.derive("digests", "run1") == made[2]
    assert made[0].unwrap().hex() == VECTOR


# printf of the info bytes through: openssl kdf -keylen 32 -kdfopt digest:SHA256 -kdfopt hexkey:… -kdfopt hexinfo:… HKDF
VECTOR = "770f067767aca962a493b2046e855f81bfb280d6f6e58b475f4f0a27bae7a4b7"


def test_no_key_is_ever_shown(tmp_path: Path) -> None:
    """Neither by name nor by accident."""
    key = find_state_key(tmp_path, Secret(HEX))
    for shown in (repr(key), str(key.derive("digests")), f"{key}", repr([key])):
        assert "0011" not in shown
        assert "not shown" in shown
