"""Storing a login: in the keyring, else in a file that only its owner can read."""

from __future__ import annotations

import json
import stat
import sys
from functools import partial
from pathlib import Path

import pytest

from audiencekit.errors import CredentialsRefused, InputOutputFailed
from audiencekit.personal import Secret
from audiencekit.state.credentials import CredentialStore, StoredCredentials
from audiencekit.state.keys import StateKey
from tests.fakekeyring import NoKeyringError, install_calls

SERVICE = "spec http://127.0.0.1:1"
KEPT = StoredCredentials(
    secrets={name: Secret(f"{name}-canary") for name in ("consumer_key", "access_token", "access_token_secret")},
    user_id="7",
    screen_name="someone",
)


class Keyring(dict[tuple[str, str], str]):
    """A keyring in place of the library; `broken` is what it raises, and `pretends` keeps nothing."""

    broken: Exception | None = None
    pretends = False

    def get_password(self, service: str, name: str) -> str | None:
        if self.broken is not None:
            raise self.broken
        return self.get((service, name))

    def set_password(self, service: str, name: str, content: str) -> None:
        if self.broken is not None:
            raise self.broken
        if not self.pretends:
            self[service, name] = content

    def delete_password(self, service: str, name: str) -> None:
        del self[service, name]


@pytest.fixture
def keyring(monkeypatch: pytest.MonkeyPatch) -> Keyring:
    """One that works."""
    made = Keyring()
    calls = ("get_password", "set_password", "delete_password")
    install_calls(monkeypatch, **{name: getattr(made, name) for name in calls})
    return made


@pytest.fixture
def _no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)


def test_the_keyring_comes_first(tmp_path: Path, keyring: Keyring) -> None:
    """Then nothing is on the disk."""
    store = CredentialStore(tmp_path, SERVICE)
    assert store.keep(KEPT) == "keyring"
    assert list(tmp_path.iterdir()) == []
    assert list(store.read()) == [("keyring", KEPT)]
    assert list(CredentialStore(tmp_path, "x https://api.x.com").read()) == []
    assert store.remove() == ("keyring",)
    assert (keyring, list(store.read()), store.remove()) == ({}, [], ())


@pytest.mark.usefixtures("_no_keyring")
def test_without_one_it_is_a_private_file(tmp_path: Path) -> None:
    """One for all services; each is removed alone."""
    path = tmp_path / "state" / "credentials.json"
    stores = [CredentialStore(path.parent, name) for name in (SERVICE, "x https://api.x.com")]
    assert [store.keep(KEPT) for store in stores] == ["file", "file"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stores[0].remove() == ("file",)
    assert [list(store.read()) for store in stores] == [[], [("file", KEPT)]]
    assert list(json.loads(path.read_text())) == ["x https://api.x.com"]


@pytest.mark.parametrize("broken", [NoKeyringError(), None], ids=["none", "one that pretends"])
def test_a_keyring_that_keeps_nothing_is_none(tmp_path: Path, keyring: Keyring, broken: Exception | None) -> None:
    """The file is used."""
    keyring.broken, keyring.pretends = broken, True
    store = CredentialStore(tmp_path, SERVICE)
    assert store.keep(KEPT) == "file"
    assert list(store.read()) == [("file", KEPT)]


def test_a_login_stored_again_is_stored_once(tmp_path: Path, keyring: Keyring) -> None:
    """A file of the time before the keyring goes."""
    store = CredentialStore(tmp_path, SERVICE)
    keyring.pretends = True
    store.keep(KEPT)
    keyring.pretends = False
    assert store.keep(KEPT) == "keyring"
    assert list(store.read()) == [("keyring", KEPT)]


def test_a_locked_keyring_is_said_and_shows_nothing(tmp_path: Path, keyring: Keyring) -> None:
    """The file is no way around it: which of two tokens counts would be unknown."""
    keyring.broken = RuntimeError("access_token-canary")
    with pytest.raises(CredentialsRefused, match="cannot be read: RuntimeError") as caught:
        CredentialStore(tmp_path, SERVICE).keep(KEPT)
    assert "canary" not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.usefixtures("_no_keyring")
@pytest.mark.parametrize("content", ["", "[]", "canary", "{", '"canary"'])
def test_a_damaged_file_is_said(tmp_path: Path, content: str) -> None:
    """Without a word of it."""
    (tmp_path / "credentials.json").touch(mode=0o600)
    (tmp_path / "credentials.json").write_text(content)
    with pytest.raises(InputOutputFailed, match="holds no credentials") as caught:
        list(CredentialStore(tmp_path, SERVICE).read())
    assert "canary" not in str(caught.value) + caught.value.hint


@pytest.mark.usefixtures("_no_keyring")
def test_a_file_of_another_version_is_refused_as_such(tmp_path: Path) -> None:
    """It is neither read nor written over."""
    path, content = tmp_path / "credentials.json", b"AKCREDS2" + bytes(60)
    path.touch(mode=0o600)
    path.write_bytes(content)
    store = CredentialStore(tmp_path, SERVICE)
    rotate = partial(store.write_sealed, tmp_path / "new", StateKey(bytes(32)), StateKey(b"n" * 32))
    for use in (lambda: list(store.read()), lambda: store.keep(KEPT), store.remove, rotate):
        with pytest.raises(InputOutputFailed, match=r"is in format AKCREDS2, and this .* reads AKCREDS1 only"):
            use()
    assert path.read_bytes() == content


@pytest.mark.usefixtures("_no_keyring")
def test_a_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    """So is a link, which leads elsewhere."""
    store, path = CredentialStore(tmp_path, SERVICE), tmp_path / "credentials.json"
    store.keep(KEPT)
    path.chmod(0o640)
    with pytest.raises(InputOutputFailed, match="others may read"):
        list(store.read())
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputOutputFailed, match="not a file of yours"):
        store.keep(KEPT)


@pytest.mark.usefixtures("_no_keyring")
def test_nothing_is_shown(tmp_path: Path) -> None:
    """Not even what an entry lacks is guessed."""
    (tmp_path / "credentials.json").touch(mode=0o600)
    (tmp_path / "credentials.json").write_text(json.dumps({SERVICE: {"access_token": 7, "user_id": None}}))
    store = CredentialStore(tmp_path, SERVICE)
    assert list(store.read()) == [("file", StoredCredentials(secrets={}))]
    store.keep(KEPT)
    assert "canary" not in repr((store, list(store.read())))
