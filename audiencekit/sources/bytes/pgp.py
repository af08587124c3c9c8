"""A list encrypted with PGP, decrypted by the installed gpg with its own keyring, in a stream: no file holds its rows.

Cells pass over pipes. gpg and its agent keep the keys, on disk or on a card; this process never has them.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import os
import subprocess
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from enum import StrEnum
from typing import IO, BinaryIO, Final, cast

from audiencekit.errors import InputOutputFailed, SourceRefused, UsageError
from audiencekit.limits import INFLATION_GRACE_BYTES, MAX_INFLATION
from audiencekit.process.programs import find_program, start_program
from audiencekit.sources.bytes.compression import inflated_too_far
from audiencekit.sources.bytes.encryption import DecryptedHandle, EncryptedFile
from audiencekit.sources.bytes.files import WAIT_ON, ByteReader, RawFile, read_patiently

HEAD_BYTES: Final = 2_048  # the headers of an armour, and the first octets of the first packet
ARMOR_END: Final = b"-----END PGP MESSAGE-----"
_ARMOR: Final = b"-----BEGIN PGP MESSAGE-----"
_LINES: Final = 2  # of the armour, of which the first may be short
_OLD_LENGTH_OCTETS: Final = (1, 2, 4, 0)
_FOUR_OCTETS: Final = 255  # says that the length follows, in four octets
_TWO_OCTETS: Final = range(192, 224)


class PgpContent(StrEnum):
    """The content of a file of OpenPGP, in words."""

    FOR_KEYS = "a list encrypted with PGP"
    BY_PASSPHRASE = "a PGP message encrypted with a passphrase"  # noqa: S105
    IN_THE_CLEAR = "a PGP message that is not encrypted"
    KEY = "a PGP key"


# By the tag of the first packet (section 5): what follows, and the versions of the packet, or the algorithms of the
# compression. No text has these octets where they stand, so that a list in the clear is never taken for a message.
_PACKETS: Final = {
    1: (PgpContent.FOR_KEYS, (3, 6)),
    2: (PgpContent.IN_THE_CLEAR, (3, 4, 6)),
    3: (PgpContent.BY_PASSPHRASE, (4, 5, 6)),
    4: (PgpContent.IN_THE_CLEAR, (3, 6)),
    5: (PgpContent.KEY, (3, 4, 5, 6)),
    6: (PgpContent.KEY, (3, 4, 5, 6)),
    8: (PgpContent.IN_THE_CLEAR, (0, 1, 2, 3)),
}


def pgp_content_of(first_bytes: bytes) -> PgpContent | None:
    """The content of a file that begins so; None when it is not OpenPGP.

    An armour whose first packet is unknown counts as a message for keys: gpg then says what is wrong with it.
    """
    if not is_armored(first_bytes):
        return _content_of_packet(first_bytes)
    return _content_of_packet(_unarmored(first_bytes)) or PgpContent.FOR_KEYS


def is_armored(first_bytes: bytes) -> bool:
    """Whether this is the beginning of an armoured message, perhaps after a byte order mark or blanks."""
    return first_bytes.removeprefix(codecs.BOM_UTF8).lstrip().startswith(_ARMOR)


def _unarmored(first_bytes: bytes) -> bytes:
    """Return the first octets after the headers of an armour (section 6.2)."""
    lines = [line.strip() for line in first_bytes[first_bytes.index(_ARMOR) :].splitlines()]
    begin = lines.index(b"") + 1 if b"" in lines else len(lines)
    letters = b"".join(lines[begin : begin + _LINES]).partition(b"=")[0]  # padding, or the line of a checksum
    try:
        return base64.b64decode(letters[: len(letters) // 4 * 4], validate=True)
    except binascii.Error:
        return b""


def _content_of_packet(data: bytes) -> PgpContent | None:
    """The content, by the header of the first packet (section 4.2) and the next octet."""
    if len(data) < 2 or not data[0] & 0x80:
        return None
    if data[0] & 0x40:
        tag = data[0] & 0x3F
        length_octets = 5 if data[1] == _FOUR_OCTETS else 2 if data[1] in _TWO_OCTETS else 1
    else:
        tag = (data[0] >> 2) & 0xF
        length_octets = _OLD_LENGTH_OCTETS[data[0] & 3]
    content, octets = _PACKETS.get(tag, (None, ()))
    return content if data[1 + length_octets : 2 + length_octets] in [bytes([octet]) for octet in octets] else None


GPG: Final = "gpg"
# Without the options file of its owner, which may name a file for what comes out, or pass over what is wrong; without
# the network, from which keys of signers would be fetched.
_OPTIONS: Final = (
    "--no-options", "--batch", "--no-tty", "--quiet", "--disable-dirmngr", "--no-auto-key-retrieve",
    "--trust-model", "always", "--log-file", os.devnull, "--status-fd", "2", "--output", "-", "--decrypt",
)  # fmt: skip
_PIECE_BYTES: Final = 65_536
_INSTEAD: Final = {
    PgpContent.IN_THE_CLEAR: "write out the file that is in it: gpg --decrypt",
    PgpContent.KEY: "a list is encrypted for it; give the list",
}


def is_pgp(file: RawFile) -> bool:
    """Whether `file` begins as a message of OpenPGP. Raises SourceRefused for one that no key of a keyring opens."""
    with closing(file.open()) as handle:
        content = pgp_content_of(ByteReader(handle).read(HEAD_BYTES))
    if content is PgpContent.BY_PASSPHRASE:
        raise by_passphrase()
    if content in _INSTEAD:
        raise SourceRefused(f"this is {content}, which is not read", hint=_INSTEAD[content])
    return content is PgpContent.FOR_KEYS


class PgpFile(EncryptedFile):
    """The bytes that are encrypted in `file`. Raises UsageError when gpg is not installed."""

    def __init__(self, file: RawFile) -> None:
        gpg = find_program(GPG)
        if gpg is None:
            raise UsageError(
                "a list encrypted with PGP needs gpg, in a directory that PATH names by its full path",
                hint="install GnuPG; its keyring has the key that opens the list",
            )
        super().__init__(file)
        self._gpg = gpg

    def open(self) -> BinaryIO:
        """The decrypted bytes, from the first. Reading them raises SourceRefused, at the latest at their end."""
        return Decrypted(self.file.open(), self._gpg)


class Decrypted(DecryptedHandle):
    """A handle on the output of gpg. One thread gives gpg the encrypted bytes, another reads its status lines."""

    def __init__(self, encrypted: BinaryIO, gpg: str) -> None:
        super().__init__(encrypted)
        self._reading = ByteReader(encrypted)
        self._wait_on = WAIT_ON.get()
        self._decrypted_bytes = 0
        self._is_judged = False
        self._failure: InputOutputFailed | SourceRefused | None = None
        self._status = GpgStatus()
        self._process = _started(gpg)
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._give, self._hear)]
        for thread in self._threads:
            thread.start()

    @property
    def process_id(self) -> int:
        """The number of the process of gpg."""
        return self._process.pid

    def read(self, size: int = -1, /) -> bytes:
        """Up to `size` bytes, none at the end. Raises SourceRefused for a message that is not sound."""
        if size < 0:
            return b"".join(iter(lambda: self.read(_PIECE_BYTES), b""))
        data = b"" if self._is_judged else read_patiently(_pipe(self._process.stdout), size, self._wait_on)
        self._decrypted_bytes += len(data)
        if self._decrypted_bytes > max(INFLATION_GRACE_BYTES, MAX_INFLATION * self._reading.position):
            self._failure = inflated_too_far("PGP")
        elif len(data) < size and not self._is_judged:
            self._judge()
        if self._failure is not None:
            raise self._failure
        return data

    def close(self) -> None:
        """End gpg, and close the file."""
        if not self.closed:
            self._end()
            self.encrypted.close()
        super().close()

    def _judge(self) -> None:
        """Take the verdict of gpg, which has written its last byte."""
        exit_code = self._process.wait()
        self._end()
        self._is_judged = True
        self._failure = self._reading.failure or self._failure or self._status.refusal(exit_code)

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()
        for thread in self._threads:
            thread.join()
        for pipe in (self._process.stdout, self._process.stderr):
            _pipe(pipe).close()

    def _give(self) -> None:
        """The encrypted bytes, until they end or gpg does."""
        pipe = _pipe(self._process.stdin)
        try:
            with suppress(OSError), pipe:  # a broken pipe: gpg says why
                for piece in only_message(self._reading.blocks(_PIECE_BYTES)):
                    pipe.write(piece)
        except (InputOutputFailed, SourceRefused) as error:
            self._failure = error

    def _hear(self) -> None:
        for line in _pipe(self._process.stderr):
            if self._status.hear(line.decode("utf-8", "replace")) == ASKS_A_PERSON:
                self._process.kill()


def only_message(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The same blocks. Raises SourceRefused when an armour has no end or something follows it: gpg passes over both."""
    tail = b""
    has_begun = has_armor = has_ended = False
    for block in blocks:
        has_armor = is_armored(block) if not has_begun else has_armor
        has_begun = True
        if has_armor:
            _, end, rest = (b"", b"", block) if has_ended else (tail + block).partition(ARMOR_END)
            has_ended = has_ended or bool(end)
            tail = (tail + block)[-len(ARMOR_END) :]
            if has_ended and rest.strip():
                raise damaged_message()
        yield block
    if has_armor and not has_ended:
        raise damaged_message()


def _started(gpg: str) -> subprocess.Popen[bytes]:
    failure = ""
    try:
        return start_program([gpg, *_OPTIONS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as error:
        failure = error.strerror or "unknown reason"
    raise InputOutputFailed(f"gpg cannot be started: {failure}")


def _pipe(pipe: IO[bytes] | None) -> BinaryIO:
    return cast("BinaryIO", pipe)


PREFIX: Final = "[GNUPG:] "
ASKS_A_PERSON: Final = "NEED_PASSPHRASE_SYM"
# Each of them once: of none it is unknown whether the message is whole, and of two it is not one message.
_ONCE: Final = ("BEGIN_DECRYPTION", "PLAINTEXT", "DECRYPTION_OKAY", "GOODMDC", "END_DECRYPTION")
_NEVER: Final = ("DECRYPTION_FAILED", "BADMDC", "NODATA", "UNEXPECTED", "BADARMOR", "FAILURE")
_WRONG_SIGNATURES: Final = ("BADSIG", "REVKEYSIG")
_UNKNOWN_SIGNER: Final = "ERRSIG"  # gpg then ends with the code of an error, whatever else it found


class GpgStatus:
    """The lines of one message so far."""

    def __init__(self) -> None:
        self._words: Counter[str] = Counter()
        self._is_protected = False

    def hear(self, line: str) -> str:
        """Take in a line; its word, or nothing for one that is not of the status."""
        if not line.startswith(PREFIX):
            return ""
        word, *facts = line.removeprefix(PREFIX).split()
        self._words[word] += 1
        if word == "DECRYPTION_INFO":
            self._is_protected = any(fact != "0" for fact in (facts[0], *facts[2:3]))  # MDC, or AEAD
        return word

    def refusal(self, exit_code: int) -> SourceRefused | None:
        """Why nothing of the message may be used; None when all of it may."""
        if self._words[ASKS_A_PERSON]:  # behind a message that a key has opened, it is a damage that looks like another
            return damaged_message() if self._words["DECRYPTION_INFO"] else by_passphrase()
        if exit_code < 0:
            return SourceRefused(f"gpg was ended from outside, by signal {-exit_code}", hint="run the same again")
        if not self._words["DECRYPTION_INFO"]:
            return self._undecrypted()
        if not self._is_protected:
            return SourceRefused(
                "the PGP message is of an old form that does not tell a change from the original",
                hint="have it encrypted anew, with GnuPG 2.1 or later",
            )
        if self._any(_WRONG_SIGNATURES):
            return SourceRefused(
                "the signature of the PGP message is wrong, or of a key that was revoked",
                hint="ask its sender; nothing of it can be trusted",
            )
        is_ended_well = exit_code == 0 or bool(self._words[_UNKNOWN_SIGNER])
        is_whole = all(self._words[word] == 1 for word in _ONCE)
        return None if is_whole and is_ended_well and not self._any(_NEVER) else damaged_message()

    def _undecrypted(self) -> SourceRefused:
        # `DECRYPTION_KEY` says that a key has opened it: a short file that was cut fails before anything else.
        if not self._words["ENC_TO"] or self._words["DECRYPTION_KEY"]:
            return damaged_message()
        if self._words["KEY_CONSIDERED"]:
            return SourceRefused(
                "gpg has a key for the PGP message that does not open it: it is locked, or the header is damaged",
                hint="unlock it: decrypt the file once with gpg, and its agent keeps the passphrase for a while",
            )
        return SourceRefused(
            "it is encrypted for other keys than the keyring of gpg has, or its header is damaged",
            hint="gpg --list-secret-keys shows them; GNUPGHOME names the directory of another keyring",
        )

    def _any(self, words: Iterable[str]) -> bool:
        return any(self._words[word] for word in words)


def by_passphrase() -> SourceRefused:
    """The refusal of a message that no key opens."""
    return SourceRefused(
        "it is encrypted with a passphrase, which is not asked for", hint="have it encrypted for a key of yours"
    )


def damaged_message() -> SourceRefused:
    """Return the refusal of a message that is cut short, or followed by something."""
    return SourceRefused(
        "the PGP message is damaged or truncated, or something follows it",
        hint="get the file again; nothing of it can be trusted",
    )
