"""A list encrypted with age is read as its rows, in memory, or refused."""

from __future__ import annotations

import gzip
import io
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from audiencekit.errors import InputOutputFailed, SourceRefused, UsageError
from audiencekit.sources.bytes.encryption import IDENTITY_FILE, AgeFile, is_age
from audiencekit.sources.bytes.files import RegularFile
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.source import open_source

pyrage = pytest.importorskip("pyrage", reason="the extra age is not installed")

Write = Callable[..., Path]
Rows = Callable[..., list[object]]
TEXT = b"email\n" + b"".join(b"person%d@example.com\n" % number for number in range(20_000))


@pytest.fixture
def encrypt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], bytes]:
    """Encrypts bytes for the identity that the environment names."""
    identity = pyrage.x25519.Identity.generate()
    path = tmp_path / "identity"
    path.write_text(f"# made for a test\n{identity}\n")
    path.chmod(0o600)
    monkeypatch.setenv(IDENTITY_FILE, str(path))
    return lambda data: bytes(pyrage.encrypt(data, [identity.to_public()]))


def _read(path: Path) -> bytes:
    file = AgeFile(RegularFile(path))
    with file.open() as handle:
        return b"".join(iter(lambda: handle.read(1_000), b""))


@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 65_537, len(TEXT)])
def test_the_same_comes_out(write: Write, encrypt: Callable[[bytes], bytes], size: int) -> None:
    """Of any size, around that of a chunk of age."""
    path = write(encrypt(TEXT[:size]))
    assert is_age(RegularFile(path))
    assert _read(path) == TEXT[:size]


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gz"])
def test_rows_are_those_of_the_text(
    write: Write,
    encrypt: Callable[[bytes], bytes],
    pack: Callable[[bytes], bytes],
    rows_of: Callable[..., list[object]],
) -> None:
    """A packed text may be encrypted, and it can be read more than once."""
    plain = open_source(write(TEXT, "plain.csv"), SourceOptions())
    source = open_source(write(encrypt(pack(TEXT)), "people.age"), SourceOptions())
    assert rows_of(source) == rows_of(plain)
    assert source.rows_read == 20_000
    assert source.bytes_read == source.bytes_total


def test_every_change_and_every_cut_is_refused(write: Write, encrypt: Callable[[bytes], bytes]) -> None:
    """In the header, in a chunk, in the last one, and behind it."""
    whole = encrypt(TEXT)
    damaged = [whole[:cut] for cut in (30, 150, 70_000, len(whole) - 1)]
    damaged += [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in (100, 1_000, 70_000, len(whole) - 1)]
    for data in (*damaged, whole + b"x", whole + whole):
        with pytest.raises(SourceRefused, match="damaged"):
            _read(write(data))


def test_another_identity_is_refused(write: Write, encrypt: Callable[[bytes], bytes]) -> None:
    """With the variable to look at."""
    other = pyrage.x25519.Identity.generate()
    with pytest.raises(SourceRefused, match="other keys") as caught:
        _read(write(bytes(pyrage.encrypt(TEXT, [other.to_public()]))))
    assert IDENTITY_FILE in caught.value.hint


def test_a_file_that_changes_while_it_is_read_is_refused(write: Write, encrypt: Callable[[bytes], bytes]) -> None:
    """As one that is not encrypted."""
    source = open_source(write(encrypt(TEXT), "people.age"), SourceOptions())
    write(encrypt(TEXT[:-25]), "people.age")
    with pytest.raises(SourceRefused, match="changed"):
        list(source.batches())


def test_a_reader_that_stops_early_leaves_no_thread(write: Write, encrypt: Callable[[bytes], bytes]) -> None:
    """Such as a look at the first bytes."""
    before = threading.active_count()
    file = AgeFile(RegularFile(write(encrypt(TEXT * 10))))
    with file.open() as handle:
        assert handle.read(5) == b"email"
    assert threading.active_count() == before


@pytest.mark.parametrize(
    ("content", "mode", "error", "words"),
    [
        (None, 0, UsageError, "needs an identity"),
        ("nothing", 0o600, UsageError, "holds no identity"),
        ("AGE-SECRET-KEY-1BROKEN", 0o600, UsageError, "holds no identity"),
        ("AGE-SECRET-KEY-1BROKEN", 0o644, InputOutputFailed, "others may read it"),
    ],
    ids=["no variable", "no key", "broken key", "not private"],
)
def test_without_a_sound_identity(
    write: Write,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    content: str | None,
    mode: int,
    error: type[Exception],
    words: str,
) -> None:
    """The file is not opened, and the key is not quoted."""
    monkeypatch.delenv(IDENTITY_FILE, raising=False)
    if content is not None:
        (tmp_path / "identity").write_text(content)
        (tmp_path / "identity").chmod(mode)
        monkeypatch.setenv(IDENTITY_FILE, str(tmp_path / "identity"))
    with pytest.raises(error, match=words) as caught:
        open_source(write(b"age-encryption.org/v1\n-> X25519 x\n"), SourceOptions())
    assert "BROKEN" not in str(caught.value)


def test_an_identity_file_that_is_missing(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's word, without the path."""
    monkeypatch.setenv(IDENTITY_FILE, str(tmp_path / "nowhere"))
    with pytest.raises(InputOutputFailed, match="No such file"):
        open_source(write(b"age-encryption.org/v1\n"), SourceOptions())


def test_an_encrypted_list_is_read_from_a_pipe(
    monkeypatch: pytest.MonkeyPatch,
    encrypt: Callable[[bytes], bytes],
    rows_of: Callable[..., list[object]],
    write: Write,
) -> None:
    """It is decrypted as it comes."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(encrypt(TEXT))))
    assert rows_of(open_source("-", SourceOptions())) == rows_of(open_source(write(TEXT), SourceOptions()))
