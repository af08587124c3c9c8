"""A list encrypted with PGP, decrypted by the installed gpg with its own keyring, in a stream: no file holds its rows.

Cells pass over pipes. gpg and its agent keep the keys, on disk or on a card; this process never has them.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from typing import IO, BinaryIO, Final, cast

from audiencekit.errors import InputOutputFailed, SourceRefused, UsageError
from audiencekit.limits import INFLATION_GRACE_BYTES, MAX_INFLATION
from audiencekit.process.programs import find_program, start_program
from audiencekit.sources.bytes.encryptedfile import DecryptedHandle, EncryptedFile
from audiencekit.sources.bytes.gpgverdict import ASKS_A_PERSON, GpgStatus, by_passphrase, damaged_message
from audiencekit.sources.bytes.inflation import inflated_too_far
from audiencekit.sources.bytes.openpgp import ARMOR_END, HEAD_BYTES, PgpContent, is_armored, pgp_content_of
from audiencekit.sources.bytes.rawbytes import ByteReader, RawFile
from audiencekit.sources.bytes.standardinput import read_patiently
from audiencekit.sources.patience import WAIT_ON

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
        """Nothing more comes out: gpg has said all, and its verdict is the one of this handle."""
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
