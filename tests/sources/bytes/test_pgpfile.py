"""A list encrypted with PGP is read as its rows, by gpg and over pipes, or refused."""

from __future__ import annotations

import gzip
import io
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from audiencekit.errors import InputOutputFailed, SourceRefused, UsageError
from audiencekit.sources.bytes.pgpfile import Decrypted, PgpFile, is_pgp, only_message
from audiencekit.sources.bytes.regularfile import RegularFile
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.sourceopening import open_source
from tests.gpgkeyring import Keyring, new_keyring

Write = Callable[..., Path]
TEXT = b"email\n" + b"".join(b"person%d@example.com\n" % number for number in range(20_000))
STORED = ("--compress-algo", "none")  # a changed byte is then noticed by nothing but the seal


@pytest.fixture(scope="module")
def made_keyring() -> Iterator[Keyring]:
    """A keyring with two keys."""
    with new_keyring() as keyring:
        for name in ("lists", "sender"):
            keyring.make_key(name)
        yield keyring


@pytest.fixture
def keyring(made_keyring: Keyring, monkeypatch: pytest.MonkeyPatch) -> Keyring:
    """The keyring that gpg uses."""
    monkeypatch.setenv("GNUPGHOME", str(made_keyring.directory))
    return made_keyring


@pytest.fixture
def other_keyring(monkeypatch: pytest.MonkeyPatch) -> Iterator[Keyring]:
    """A keyring that gpg uses, and that has no key yet."""
    with new_keyring() as keyring:
        monkeypatch.setenv("GNUPGHOME", str(keyring.directory))
        yield keyring


def _read(path: Path) -> bytes:
    assert is_pgp(RegularFile(path))
    with PgpFile(RegularFile(path)).open() as handle:
        return b"".join(iter(lambda: handle.read(1_000), b""))


@pytest.mark.services
@pytest.mark.parametrize("form", [(), ("--armor",), STORED], ids=["binary", "armor", "stored"])
@pytest.mark.parametrize("size", [0, 1, 1_000, len(TEXT)])
def test_the_same_comes_out(write: Write, keyring: Keyring, size: int, form: tuple[str, ...]) -> None:
    """Of any size and form, also when the reads and the rows end together."""
    assert _read(write(keyring.encrypt(TEXT[:size], *form))) == TEXT[:size]


@pytest.mark.services
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gz"])
def test_rows_are_those_of_the_text(
    write: Write, keyring: Keyring, pack: Callable[[bytes], bytes], rows_of: Callable[..., list[object]]
) -> None:
    """A packed text may be encrypted, and it can be read more than once."""
    plain = open_source(write(TEXT, "plain.csv"), SourceOptions())
    source = open_source(write(keyring.encrypt(pack(TEXT)), "people"), SourceOptions())
    assert rows_of(source) == rows_of(plain)
    assert rows_of(source) == rows_of(plain)
    assert source.bytes_read == source.bytes_total


@pytest.mark.services
@pytest.mark.parametrize("form", [("--armor", *STORED), STORED, ()], ids=["armor", "stored", "compressed"])
def test_every_change_and_every_cut_is_refused(write: Write, keyring: Keyring, form: tuple[str, ...]) -> None:
    """In the header, in the data, at the end and behind it; also where nothing but the seal tells."""
    whole = keyring.encrypt(TEXT, *form)
    middle = len(whole) // 2
    damaged = [whole[:cut] for cut in (100, 1_000, middle, len(whole) - 30)]
    damaged += [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in (150, 1_000, middle, len(whole) - 45)]
    for data in (*damaged, whole + b"x", whole + whole, whole + TEXT):
        with pytest.raises(SourceRefused, match="damaged"):
            _read(write(data))


@pytest.mark.services
def test_rows_of_a_changed_message_come_out_and_its_end_does_not(write: Write, keyring: Keyring) -> None:
    """gpg prints before it has checked: that is why a source is read to its end before anything is sent."""
    whole = keyring.encrypt(TEXT, *STORED)
    path = write(whole[:-100] + bytes([whole[-100] ^ 1]) + whole[-99:])
    with PgpFile(RegularFile(path)).open() as handle:
        assert handle.read(len(TEXT) - 1_000) == TEXT[:-1_000]
        with pytest.raises(SourceRefused, match="damaged or truncated"):
            handle.read(1_001)


@pytest.mark.services
def test_another_key_is_refused(write: Write, keyring: Keyring, other_keyring: Keyring) -> None:
    """With the keyring to look at."""
    path = write(keyring.encrypt(TEXT))
    with pytest.raises(SourceRefused, match="other keys") as caught:
        _read(path)
    assert "GNUPGHOME" in caught.value.hint


@pytest.mark.services
def test_a_message_that_a_passphrase_opens_too_is_read_by_the_key(write: Write, keyring: Keyring) -> None:
    """And refused by those who have no key: they are not asked for the passphrase."""
    ask_not = ("--symmetric", "--pinentry-mode", "loopback", "--passphrase", "invented")
    path = write(keyring.encrypt(TEXT, *ask_not))
    assert _read(path) == TEXT


@pytest.mark.services
@pytest.mark.parametrize("form", [(), ("--armor",)], ids=["binary", "armor"])
def test_a_passphrase_is_not_asked_for(write: Write, keyring: Keyring, form: tuple[str, ...]) -> None:
    """A message that needs one is refused before gpg is started."""
    ask_not = ("--pinentry-mode", "loopback", "--passphrase", "invented")
    path = write(keyring.gpg("--symmetric", *ask_not, *form, data=TEXT))
    with pytest.raises(SourceRefused, match="encrypted with a passphrase"):
        is_pgp(RegularFile(path))


@pytest.mark.services
def test_a_key_that_is_locked_is_refused(write: Write, other_keyring: Keyring) -> None:
    """Where no one can be asked for its passphrase."""
    ask_not = ("--pinentry-mode", "loopback", "--passphrase", "invented")
    other_keyring.gpg(*ask_not, "--quick-generate-key", "lists@example.com", "rsa2048", "encr,sign", "never")
    path = write(other_keyring.encrypt(TEXT))
    subprocess.run(["gpgconf", "--kill", "gpg-agent"], check=True)
    (other_keyring.directory / "gpg-agent.conf").write_text("pinentry-program /bin/false\n")
    with pytest.raises(SourceRefused, match="locked"):
        _read(path)


@pytest.mark.services
def test_a_message_without_a_seal_is_refused(write: Write, keyring: Keyring) -> None:
    """A change of it could not be told from the original."""
    old = ("--rfc2440", "--cipher-algo", "3DES", "--disable-mdc")
    with pytest.raises(SourceRefused, match="old form"):
        _read(write(keyring.encrypt(TEXT, *old)))


@pytest.mark.services
def test_a_signature_is_checked_when_there_is_one(
    write: Write, keyring: Keyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A right one and one of an unknown signer are taken: none is asked for either. A wrong one is refused."""
    signed = write(keyring.encrypt(TEXT, "--sign", "--local-user", "sender@example.com"))
    assert _read(signed) == TEXT
    secret = keyring.gpg("--export-secret-keys", "lists@example.com")
    with new_keyring() as without_signer:
        without_signer.gpg("--import", data=secret)
        monkeypatch.setenv("GNUPGHOME", str(without_signer.directory))
        assert _read(signed) == TEXT


@pytest.mark.services
def test_a_message_that_is_not_encrypted_is_refused(write: Write, keyring: Keyring) -> None:
    """A signed message, a compressed one, and a key."""
    for data, word in (
        (keyring.gpg("--sign", "--local-user", "sender@example.com", data=TEXT), "not encrypted"),
        (keyring.gpg("--store", data=TEXT), "not encrypted"),
        (keyring.gpg("--export"), "a PGP key"),
        (keyring.gpg("--export", "--armor"), "a PGP key"),
        (keyring.gpg("--clear-sign", "--local-user", "sender@example.com", data=TEXT), "a signed text"),
    ):
        with pytest.raises(SourceRefused, match=word):
            open_source(write(data), SourceOptions())


@pytest.mark.services
def test_a_bomb_is_refused(write: Write, keyring: Keyring) -> None:
    """gpg unpacks what it decrypts."""
    source = open_source(write(keyring.encrypt(b"email\n" * 20_000_000)), SourceOptions())
    with pytest.raises(SourceRefused, match="times its size"):
        list(source.batches())


@pytest.mark.services
def test_it_is_read_from_a_stream(keyring: Keyring, rows_of: Callable[..., list[object]], write: Write) -> None:
    """In both of its forms, and decrypted as it comes."""
    for form in ((), ("--armor",)):
        source = open_source(io.BytesIO(keyring.encrypt(TEXT, *form)), SourceOptions())
        assert rows_of(source) == rows_of(open_source(write(TEXT), SourceOptions()))


@pytest.mark.services
def test_the_options_file_of_gpg_is_not_read(write: Write, keyring: Keyring, tmp_path: Path) -> None:
    """A line of it would write the rows to a file."""
    options = keyring.directory / "gpg.conf"
    path = write(keyring.encrypt(TEXT))
    options.write_text(f"output {tmp_path / 'plain'}\nignore-mdc-error\n")
    try:
        assert _read(path) == TEXT
    finally:
        options.unlink()
    assert not (tmp_path / "plain").exists()


@pytest.mark.services
def test_gpg_is_not_told_secrets_of_ours(
    write: Write, keyring: Keyring, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The agent that it starts would keep them."""
    told = tmp_path / "told"
    script = tmp_path / "gpg"
    script.write_text(f"#!/bin/sh\nenv > {told}\n")
    script.chmod(0o755)
    path = write(keyring.encrypt(TEXT))
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("AUDIENCEKIT_SECRET_OF_A_TEST", "invented")
    with pytest.raises(SourceRefused):
        _read(path)
    assert "GNUPGHOME" in told.read_text()
    assert "AUDIENCEKIT" not in told.read_text()


@pytest.mark.services
def test_without_gpg_it_says_so(write: Write, keyring: Keyring, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to install."""
    path = write(keyring.encrypt(TEXT))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UsageError, match="needs gpg"):
        open_source(path, SourceOptions())


@pytest.mark.services
def test_a_gpg_that_was_killed_is_told(write: Write, keyring: Keyring) -> None:
    """The message is not called damaged then."""
    with PgpFile(RegularFile(write(keyring.encrypt(TEXT)))).open() as handle:
        assert isinstance(handle, Decrypted)
        os.kill(handle.process_id, signal.SIGKILL)
        with pytest.raises(SourceRefused, match="ended from outside"):
            handle.read(len(TEXT))


@pytest.mark.services
def test_a_file_that_changes_while_it_is_read_is_refused(write: Write, keyring: Keyring) -> None:
    """As one in the clear."""
    path = write(keyring.encrypt(TEXT))
    source = open_source(path, SourceOptions())
    path.write_bytes(keyring.encrypt(TEXT[:-21]))
    os.utime(path, ns=(1, 1))
    with pytest.raises(SourceRefused, match="changed"):
        list(source.batches())


@pytest.mark.services
def test_a_failure_of_the_disk_is_told_as_one(keyring: Keyring) -> None:
    """And not as a damaged message."""

    class Failing(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def read(self, size: int = -1, /) -> bytes:
            raise OSError(5, "Input/output error")

    class File:
        size_bytes, identity, seekable, repeatable = 1, "a test", False, True

        def open(self) -> io.RawIOBase:
            return Failing()

        def check_unchanged(self, handle: object) -> None:
            """It is what it is."""

    with PgpFile(File()).open() as handle, pytest.raises(InputOutputFailed, match="Input/output"):  # type: ignore[arg-type]
        handle.read(10)


def test_text_that_follows_an_armour_is_found_in_any_pieces() -> None:
    """Blanks are nothing."""
    armor = b"-----BEGIN PGP MESSAGE-----\n\nabcd\n-----END PGP MESSAGE-----\n"
    for size in (27, 30, 40, 200):
        pieces = [(armor + b" \n")[at : at + size] for at in range(0, len(armor) + 2, size)]
        assert b"".join(only_message(pieces)) == armor + b" \n"
        pieces = [(armor + b"email\n")[at : at + size] for at in range(0, len(armor) + 6, size)]
        with pytest.raises(SourceRefused, match="something follows"):
            list(only_message(pieces))
    with pytest.raises(SourceRefused, match="truncated"):
        list(only_message([armor[:-20]]))
