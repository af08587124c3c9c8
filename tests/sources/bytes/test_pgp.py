"""A list encrypted with PGP is read as its rows, by gpg and over pipes, or refused."""

from __future__ import annotations

import base64
import gzip
import io
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from audiencekit.errors import InputOutputFailed, SourceRefused, UsageError
from audiencekit.sources.bytes.files import RegularFile
from audiencekit.sources.bytes.pgp import (
    PREFIX,
    Decrypted,
    GpgStatus,
    PgpContent,
    PgpFile,
    is_armored,
    is_pgp,
    only_message,
    pgp_content_of,
)
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.source import open_source
from tests.cases import each_case
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


# As doc/DETAILS of GnuPG describes them, in the order in which gpg 2.2 says them.
SOUND = (
    "ENC_TO ADCF28B99DA3A64C 1 0", "DECRYPTION_KEY FPR FPR u", "BEGIN_DECRYPTION", "DECRYPTION_INFO 2 9 0",
    "PLAINTEXT 62 1795521483 people.csv", "PLAINTEXT_LENGTH 468896", "DECRYPTION_OKAY", "GOODMDC", "END_DECRYPTION",
)  # fmt: skip
INFO = "DECRYPTION_INFO 2 9 0"


def _verdict(*lines: str, exit_code: int = 0) -> str | None:
    status = GpgStatus()
    for line in ("gpg: a line for people", "", *(PREFIX + line for line in lines)):
        status.hear(line + "\n")
    refusal = status.refusal(exit_code)
    return None if refusal is None else str(refusal)


def test_a_sound_message_is_taken() -> None:
    """Also one that is sealed by AEAD, and signed by a key that gpg knows or does not."""
    assert _verdict(*SOUND) is None
    assert _verdict(*(line.replace(INFO, "DECRYPTION_INFO 0 9 2") for line in SOUND)) is None
    assert _verdict(*SOUND, "GOODSIG ID Sender", "VALIDSIG FPR") is None
    assert _verdict(*SOUND, "ERRSIG ID 1 10 00 1 9 FPR", "NO_PUBKEY ID", exit_code=2) is None


@each_case("missing", [line for line in SOUND if line.split()[0] in (
    "BEGIN_DECRYPTION", "PLAINTEXT", "DECRYPTION_OKAY", "GOODMDC", "END_DECRYPTION")])  # fmt: skip
def test_each_status_line_is_needed_once(missing: str) -> None:
    """Each of these lines is needed, and once."""
    assert "damaged" in str(_verdict(*(line for line in SOUND if line != missing)))
    assert "damaged" in str(_verdict(*SOUND, missing))


@each_case(
    "line, word",
    [
        ("BADMDC", "damaged"),
        ("DECRYPTION_FAILED", "damaged"),
        ("NODATA 3", "damaged"),
        ("UNEXPECTED 1", "damaged"),
        ("BADARMOR", "damaged"),
        ("FAILURE decrypt 1", "damaged"),
        ("BADSIG ID Sender", "signature"),
        ("REVKEYSIG ID Sender", "signature"),
        ("NEED_PASSPHRASE_SYM 9 3 2", "damaged"),
    ],
)
def test_one_wrong_line_refuses(line: str, word: str) -> None:
    """Whatever else is said."""
    assert word in str(_verdict(*SOUND, line))


def test_the_exit_code_counts() -> None:
    """An error that no line tells of; a signal is told as one."""
    assert "damaged" in str(_verdict(*SOUND, exit_code=2))
    assert "ended from outside" in str(_verdict(*SOUND, exit_code=-9))


def test_a_message_without_a_seal_is_refused_gpgverdict() -> None:
    """gpg may be told to pass over it."""
    assert "old form" in str(_verdict(*(line.replace(INFO, "DECRYPTION_INFO 0 2 0") for line in SOUND)))


def test_a_failed_decryption_says_why() -> None:
    """Another key, a locked one, or no message at all."""
    failed = ("ENC_TO ID 1 0", "BEGIN_DECRYPTION", "DECRYPTION_FAILED", "END_DECRYPTION")
    assert "other keys" in str(_verdict(*failed, exit_code=2))
    assert "locked" in str(_verdict(*failed, "KEY_CONSIDERED FPR 0", exit_code=2))
    opened = ("ENC_TO ID 1 0", "KEY_CONSIDERED FPR 0", "DECRYPTION_KEY FPR FPR u")
    assert "truncated" in str(_verdict(*opened, exit_code=2))
    assert "truncated" in str(_verdict("NODATA 1", exit_code=2))
    assert "passphrase" in str(_verdict("ENC_TO ID 1 0", "NEED_PASSPHRASE_SYM 9 3 2", exit_code=-9))


# Headers by RFC 9580, section 4.2: of the old form with one, two and four octets of length, and of the new one with
# one, two, five and a partial one. The body begins with a version, or with the algorithm of a compression.
FOR_KEYS = [b"\x84\x5e\x03", b"\x85\x01\x0c\x03", b"\x86\0\0\1\x0c\x03", b"\xc1\x5e\x03", b"\xc1\xc0\x4c\x06"]
OTHERS = [
    (b"\x8c\x0d\x04", PgpContent.BY_PASSPHRASE),
    (b"\xc3\x1e\x05", PgpContent.BY_PASSPHRASE),
    (b"\xc3\xff\0\0\0\x0d\x06", PgpContent.BY_PASSPHRASE),
    (b"\x90\x0d\x03", PgpContent.IN_THE_CLEAR),
    (b"\x88\x75\x04", PgpContent.IN_THE_CLEAR),
    (b"\xa3\x01", PgpContent.IN_THE_CLEAR),
    (b"\xc8\xed\x02", PgpContent.IN_THE_CLEAR),
    (b"\x99\x01\x8d\x04", PgpContent.KEY),
    (b"\x95\x03\x98\x04", PgpContent.KEY),
]


@each_case("head, content", [*((head, PgpContent.FOR_KEYS) for head in FOR_KEYS), *OTHERS])
def test_the_first_packet_tells(head: bytes, content: PgpContent) -> None:
    """In all forms of its header."""
    assert pgp_content_of(head + bytes(60)) == content


@each_case("before", [b"", b"\xef\xbb\xbf", b"\r\n  "])
def test_an_armour_is_looked_into(before: bytes) -> None:
    """Behind its headers."""
    letters = base64.b64encode(b"\x8c\x0d\x04" + bytes(45))
    text = before + b"-----BEGIN PGP MESSAGE-----\r\nComment: of a test\r\n\r\n" + letters + b"\r\n=abcd\r\n"
    assert is_armored(text)
    assert pgp_content_of(text) is PgpContent.BY_PASSPHRASE


@each_case("rest", [b"", b"\n", b"\n\n!!!!\n", b"\n\nAAAA\n"])
def test_an_armour_that_cannot_be_looked_into_is_left_to_gpg(rest: bytes) -> None:
    """It is no list in the clear, whatever is wrong with it."""
    assert pgp_content_of(b"-----BEGIN PGP MESSAGE-----" + rest) is PgpContent.FOR_KEYS


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])), st.sampled_from(["utf-8", "cp1252", "cp037", "utf-16"]))
def test_no_text_is_taken_for_one(text: str, encoding: str) -> None:
    """In any encoding of lists."""
    data = text.encode(encoding, "ignore")
    assert is_armored(data) or pgp_content_of(data) is None


@given(st.binary(max_size=80))
def test_any_bytes_are_answered(data: bytes) -> None:
    """Rubbish is no fault."""
    assert pgp_content_of(data) in (None, *PgpContent)
