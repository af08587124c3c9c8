"""Rejections that are sealed for a recipient: all of them come back with the identity, and none without it."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from audiencekit.errors import InputOutputFailed, SourceRefused, UsageError
from audiencekit.records.rejected_rows import RejectedRows
from audiencekit.reporting.sealed_rejections import (
    SealedRejections,
    Sealing,
    find_sealed,
    identities_of_state,
    open_sealed,
    recipient_of,
    remove_sealed,
    sealed_files,
    write_opened,
)
from audiencekit.settings import Settings, load_settings
from audiencekit.sources.bytes.encryption import identity_of
from audiencekit.state.keys import StateKey, SubKey, find_state_key, write_earlier

pyrage = pytest.importorskip("pyrage", reason="the extra age is not installed")
LINE = b'{"row": 1, "rejections": [["email", "empty"]], "email": "ada at example.com"}\n'
LONG_LINE = LINE.replace(b"ada", b"ada" * 640)


class Pair:
    """An identity, in a file, and its recipient."""

    def __init__(self, path: Path) -> None:
        identity = pyrage.x25519.Identity.generate()
        path.write_text(str(identity))
        path.chmod(0o600)
        self.file, self.recipient, self.secret = str(path), str(identity.to_public()), str(identity)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return Pair(tmp_path_factory.mktemp("age") / "identity")


def seal(state_dir: Path, pair: Pair, *batches: bytes, name: str = "a-run-of-ours") -> Path:
    with SealedRejections(Sealing(state_dir, name, pair.recipient)) as sealed:
        for lines in batches:
            sealed.add(RejectedRows(lines))
    return sealed.path


@given(st.lists(st.lists(st.dictionaries(st.text(), st.none() | st.text()), max_size=5), max_size=5))
def test_all_rows_come_back(
    tmp_path_factory: pytest.TempPathFactory, pair: Pair, batches: list[list[dict[str, str | None]]]
) -> None:
    """In order, whatever they hold; without rows there is no file."""
    batches = json.loads(json.dumps(batches).encode("ascii", "replace"))
    pieces = ["".join(json.dumps(row) + "\n" for row in batch).encode() for batch in batches]
    path = seal(tmp_path_factory.mktemp("state"), pair, *pieces)
    rows = [row for batch in batches for row in batch]
    assert path.exists() == bool(rows)
    if rows:
        assert [json.loads(row.unwrap()) for row in open_sealed(path, pair.file)] == rows


def test_rows_of_many_pieces_come_back(tmp_path: Path, pair: Pair) -> None:
    """More than waits for age, and than it reads, at once; the file has only the name that it is opened by."""
    path = seal(tmp_path, pair, *[LONG_LINE * 1_600] * 3)
    assert sum(1 for _ in open_sealed(path, pair.file)) == 4_800
    assert sealed_files(tmp_path) == [path]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert b"example" not in path.read_bytes()


@pytest.mark.parametrize(
    "damage",
    [
        lambda sealed: sealed[:-1],
        lambda sealed: sealed[:300],
        lambda sealed: sealed + b"x",
        lambda sealed: sealed[:-40] + bytes([sealed[-40] ^ 1]) + sealed[-39:],
        lambda sealed: b"x" + sealed,
        lambda sealed: b"",
    ],
    ids=["cut", "cut early", "longer", "edited", "no age", "empty"],
)
def test_a_damaged_file_is_refused_before_its_first_row(
    tmp_path: Path, pair: Pair, damage: Callable[[bytes], bytes]
) -> None:
    """Nothing is written in the clear of it, either. It is longer than what is read at once."""
    path = seal(tmp_path, pair, LINE * 40_000)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(SourceRefused):
        write_opened(open_sealed(path, pair.file), tmp_path / "opened")
    assert not (tmp_path / "opened").exists()


def test_other_identities_and_other_content_are_refused(tmp_path: Path, pair: Pair) -> None:
    """A list that was encrypted for the same recipient is none of sealed rejections."""
    path = seal(tmp_path, pair, LINE)
    with pytest.raises(SourceRefused, match="other keys"):
        next(open_sealed(path, Pair(tmp_path / "other").file))
    path.write_bytes(pyrage.encrypt(LINE, [pyrage.x25519.Recipient.from_str(pair.recipient)]))
    with pytest.raises(SourceRefused, match="no file of sealed rejections"):
        next(open_sealed(path, pair.file))


def test_an_invalid_recipient_is_refused_and_not_repeated(tmp_path: Path, pair: Pair) -> None:
    """An identity in its place is a secret."""
    for given_text, message in [("", "no recipient"), ("age1abc", "no recipient"), (pair.secret, "is secret")]:
        with pytest.raises(UsageError, match=message) as caught:
            Sealing(tmp_path, "a-run-of-ours", given_text)
        assert not given_text or given_text not in f"{caught.value} {caught.value.hint}"


def test_a_reading_that_fails_leaves_no_file(tmp_path: Path, pair: Pair) -> None:
    """Nor does a kill leave one that can be opened: age has not marked its end."""
    sealed = SealedRejections(Sealing(tmp_path, "a-run-of-ours", pair.recipient)).__enter__()
    sealed.add(RejectedRows(LINE * 10_000))
    sealed.__exit__(KeyError, KeyError(), None)
    assert sealed_files(tmp_path) == []


@pytest.mark.parametrize("lines", [LINE, LINE * 300_000], ids=["at the end", "on the way"])
def test_a_full_disk_is_said(tmp_path: Path, pair: Pair, monkeypatch: pytest.MonkeyPatch, lines: bytes) -> None:
    """Though age hides it."""
    with open("/dev/full", "wb") as full:
        monkeypatch.setattr("audiencekit.reporting.sealed_rejections.open_new", lambda _: full)
        with pytest.raises(InputOutputFailed, match="No space"):
            seal(tmp_path, pair, lines)
    assert sealed_files(tmp_path) == []


def test_an_erasure_removes_what_is_being_written_too(tmp_path: Path, pair: Pair) -> None:
    """The run then ends, before it has sent anything."""
    path = seal(tmp_path, pair, LINE, name="an-earlier-run")
    assert find_sealed(tmp_path, "last") == find_sealed(tmp_path, "an-earlier-run") == path
    sealed = SealedRejections(Sealing(tmp_path, "a-run-of-ours", pair.recipient)).__enter__()
    sealed.add(RejectedRows(LINE))
    assert remove_sealed(tmp_path) == 2
    with pytest.raises(InputOutputFailed, match="an erasure removed"):
        sealed.__exit__(None, None, None)
    assert sealed_files(tmp_path) == []
    with pytest.raises(SourceRefused, match="no rejections are sealed"):
        find_sealed(tmp_path, "last")
    with pytest.raises(SourceRefused, match="20261129-120000-1a2b3c4d: no run or check of this id"):
        find_sealed(tmp_path, "20261129-120000-1a2b3c4d")


# --- The state key in the place of a recipient ---


def _settings(state_dir: Path, key: str | None) -> Settings:
    return load_settings({} if key is None else {"AUDIENCEKIT_KEY": key}, directory=state_dir, state_dir=state_dir)


def test_rows_for_the_state_key_are_opened_by_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By no other one, and after a rotation by the earlier one; the recipient is that of age for the same secret."""
    monkeypatch.delenv("AUDIENCEKIT_AGE_IDENTITY", raising=False)
    state_dir, settings = tmp_path / "state", _settings(tmp_path / "state", "1a" * 32)
    sealing = Sealing(state_dir, "a-run-of-ours", recipient_of("state", settings))
    with SealedRejections(sealing) as sealed:
        sealed.add(RejectedRows(LINE))
    assert len(list(open_sealed(sealed.path, None, identities_of_state(settings)))) == 1
    with pytest.raises(SourceRefused, match="other keys"):
        list(open_sealed(sealed.path, None, identities_of_state(_settings(state_dir, "2b" * 32))))
    later = StateKey(b"\x2b" * 32, (StateKey(b"\x1a" * 32),))
    write_earlier(state_dir, later)
    assert len(list(open_sealed(sealed.path, None, identities_of_state(_settings(state_dir, "2b" * 32))))) == 1


def test_a_state_key_beside_the_rows_is_no_recipient(tmp_path: Path) -> None:
    """It would open them for all who have the directory: whether it is there, or would be made there."""
    settings = _settings(tmp_path, None)
    for _ in range(2):
        with pytest.raises(UsageError, match="beside the rows") as caught:
            recipient_of("state", settings)
        assert "key move" in caught.value.hint
        find_state_key(tmp_path, None)


def test_an_identity_has_the_secret_that_it_is_made_of(pair: Pair) -> None:
    """In the letters of BIP 173, decoded by hand here."""
    letters = pair.secret.lower().rpartition("1")[2][:-6]
    bits = "".join(f"{'qpzry9x8gf2tvdw0s3jn54khce6mua7l'.index(letter):05b}" for letter in letters)
    secret = int(bits[:256], 2).to_bytes(32, "big")
    assert str(identity_of(SubKey(secret))) == pair.secret
