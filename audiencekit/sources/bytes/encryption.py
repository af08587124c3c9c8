"""Encrypted with age: a list, decrypted in memory and in a stream, and what is written for a recipient.

No file ever holds the rows in the clear.

age seals its payload in chunks, and marks the last one: a change, a cut or bytes behind it are noticed at the latest
when the last chunk is read, and a source is read to its end before anything of it is sent.
"""

from __future__ import annotations

import importlib.util
import io
import os
import queue
import stat
import threading
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from audiencekit.errors import AudiencekitError, InputOutputFailed, SourceRefused, UsageError
from audiencekit.personal import guarded
from audiencekit.process.programs import own_environment
from audiencekit.sources.bytes.files import ByteReader, Identity, RawFile
from audiencekit.state.keys import SubKey
from audiencekit.text import install_extra, option

if TYPE_CHECKING:
    from pyrage import x25519


class DecryptedHandle(io.RawIOBase, BinaryIO):
    """A handle on decrypted bytes; `encrypted` is the one on the file."""

    def __init__(self, encrypted: BinaryIO) -> None:
        super().__init__()
        self.encrypted = encrypted


class EncryptedFile:
    """The facts of `file`, which are those of the bytes that come out, too; but these come in a stream."""

    seekable = False

    def __init__(self, file: RawFile) -> None:
        self.file = file

    @property
    def size_bytes(self) -> int:
        """The size of the encrypted file in bytes; the decrypted file is larger or smaller."""
        return self.file.size_bytes

    @property
    def identity(self) -> Identity:
        """The identity of the encrypted file."""
        return self.file.identity

    @property
    def repeatable(self) -> bool:
        """Whether the encrypted file can be read again."""
        return self.file.repeatable

    def check_unchanged(self, handle: BinaryIO) -> None:
        """Raises SourceRefused when the file changed while it was read."""
        if isinstance(handle, DecryptedHandle):
            self.file.check_unchanged(handle.encrypted)


AGE_MAGIC: Final = b"age-encryption.org/"
IDENTITY_FILE: Final = "AUDIENCEKIT_AGE_IDENTITY"
_KEY: Final = "AGE-SECRET-KEY-"
_OTHERS: Final = 0o077  # what group and others may do
_WAITING_PIECES: Final = 64  # of what age decrypts at once
_WAITING_WRITES: Final = 4  # pieces that age has not encrypted yet
_LOOK_SECONDS: Final = 0.1  # between two looks whether age still works
_DAMAGED: Final = "get the file again; nothing of it can be trusted"


def _require_age(what: str) -> None:
    if importlib.util.find_spec("pyrage") is None:
        raise UsageError(f"{what} needs the package pyrage", hint=install_extra("age"))


def is_age(file: RawFile) -> bool:
    """Whether `file` begins as age begins."""
    with closing(file.open()) as handle:
        return ByteReader(handle).read(len(AGE_MAGIC)) == AGE_MAGIC


class AgeFile(EncryptedFile):
    """The bytes that are encrypted in `file`. Raises UsageError when the package or the identity is missing.

    `others` are identities that are tried, too; with them no file of an identity is needed.
    """

    def __init__(self, file: RawFile, identity_file: str | None = None, others: Sequence[x25519.Identity] = ()) -> None:
        _require_age("a file encrypted with age")
        super().__init__(file)
        is_named = identity_file or own_environment().get(IDENTITY_FILE)
        self._identities = [*others, *(_read_identities(identity_file) if is_named or not others else ())]

    def open(self) -> BinaryIO:
        """The decrypted bytes, from the first. Reading them raises SourceRefused for a wrong key or a damaged file."""
        return Decrypted(self.file.open(), self._identities)


class Decrypted(DecryptedHandle):
    """A handle on decrypted bytes. A thread decrypts, and waits while a few pieces are unread."""

    def __init__(self, encrypted: BinaryIO, identities: list[x25519.Identity]) -> None:
        super().__init__(encrypted)
        self._pieces: queue.Queue[bytes | None] = queue.Queue(_WAITING_PIECES)
        self._rest: bytes | None = b""  # None at the end
        self._failure: AudiencekitError | None = None
        self._abandoned = False
        self._thread = threading.Thread(target=self._decrypt, args=(identities,), daemon=True)
        self._thread.start()

    def read(self, size: int = -1, /) -> bytes:
        """Up to `size` bytes, none at the end. Raises SourceRefused for a wrong key or a damaged file."""
        parts: list[bytes] = []
        missing = size
        while missing and self._rest is not None:
            if not self._rest:
                self._rest = self._pieces.get()
                continue
            part = self._rest if missing < 0 else self._rest[:missing]
            self._rest = self._rest[len(part) :]
            parts.append(part)
            missing -= len(part) if missing > 0 else 0
        if self._rest is None and self._failure is not None:
            raise self._failure
        return b"".join(parts)

    def write(self, data: bytes, /) -> int:  # type: ignore[override]
        """Take a decrypted piece from age. Raises OSError, which ends the thread, when it is not wanted any more."""
        if self._abandoned:
            raise OSError
        self._pieces.put(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Nothing: pieces wait for their reader."""

    def close(self) -> None:
        """End the thread, and close the file."""
        self._abandoned = True
        while self._thread.is_alive():
            while not self._pieces.empty():
                self._pieces.get()
            self._thread.join(0.01)
        self.encrypted.close()
        super().close()

    def _decrypt(self, identities: list[x25519.Identity]) -> None:
        import pyrage

        reading = ByteReader(self.encrypted)
        try:
            pyrage.decrypt_io(reading, self, identities)
        except pyrage.DecryptError:
            self._failure = reading.failure or SourceRefused(
                "it is encrypted for other keys than the identity has, or its header is damaged",
                hint=f"{IDENTITY_FILE} names the file of the identity",
            )
        except Exception:  # of age, which says no more
            self._failure = reading.failure or SourceRefused("the age file is damaged or truncated", hint=_DAMAGED)
        self._pieces.put(None)


def _read_identities(identity_file: str | None) -> list[x25519.Identity]:
    """The identities in this file, or in the one that the environment names."""
    from pyrage import IdentityError, x25519

    path = identity_file or own_environment().get(IDENTITY_FILE)
    named = option("identity_file") if identity_file else IDENTITY_FILE
    if not path:
        raise UsageError(
            "a file encrypted with age needs an identity", hint=f"set {IDENTITY_FILE} to the path of its file"
        )
    lines = [line.strip() for line in _private_text(path, named).splitlines()]
    try:
        found = [x25519.Identity.from_str(line) for line in lines if line.startswith(_KEY)]
    except IdentityError:
        found = []
    if not found:
        raise UsageError(f"the file that {named} names holds no identity", hint="make one with age-keygen")
    return found


def _private_text(path: str, named: str) -> str:
    failure = ""
    try:
        with Path(path).open(encoding="utf-8") as file:
            if os.name == "posix" and stat.S_IMODE(os.fstat(file.fileno()).st_mode) & _OTHERS:
                failure = "others may read it"
            else:
                return file.read()
    except OSError as error:
        failure = error.strerror or "unknown reason"
    except ValueError:
        failure = "it is no text"
    raise InputOutputFailed(
        f"the file that {named} names cannot be used: {failure}",
        hint="it must be there, and no one else may read it: chmod 600 FILE",
    )


# --- An identity made of a key: the words of BIP 173 ("Bech32"), as age writes them ---

_LETTERS: Final = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"  # BIP 173, "Bech32", the character of each five bits
_GENERATORS: Final = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)  # BIP 173, "Checksum"
_CHECKSUM_LETTERS: Final = 6


@guarded
def identity_of(key: SubKey) -> x25519.Identity:
    """Return the identity whose secret is `key`. Raises UsageError without the package of age."""
    _require_age("sealing for the state key")
    from pyrage import x25519

    prefix, bits = _KEY.lower(), int.from_bytes(key.unwrap(), "big") << 4  # 256 bits fill 52 letters with four zeros
    letters = [bits >> 5 * place & 31 for place in reversed(range(52))]
    spread = [*(ord(letter) >> 5 for letter in prefix), 0, *(ord(letter) & 31 for letter in prefix)]
    rest = _polymod([*spread, *letters, *[0] * _CHECKSUM_LETTERS]) ^ 1
    letters += [rest >> 5 * place & 31 for place in reversed(range(_CHECKSUM_LETTERS))]
    return x25519.Identity.from_str((prefix + "1" + "".join(_LETTERS[each] for each in letters)).upper())


def _polymod(values: list[int]) -> int:
    checksum = 1
    for value in values:
        top, checksum = checksum >> 25, (checksum & 0x1FFFFFF) << 5 ^ value
        for place, generator in enumerate(_GENERATORS):
            checksum ^= generator if top >> place & 1 else 0
    return checksum


# --- The way back: bytes for a recipient, who alone can read them ---


def find_recipient(text: str) -> x25519.Recipient:
    """Return the recipient of age that `text` names. Raises UsageError, which never repeats it."""
    if text.strip().upper().startswith(_KEY):
        raise UsageError(
            "an identity of age was given in the place of its recipient, and an identity is secret",
            hint="give the recipient (age1…) that age-keygen printed; make a new pair if others saw the identity",
        )
    _require_age("sealing for a recipient of age")
    from pyrage import RecipientError, x25519

    found: x25519.Recipient | None = None
    with suppress(RecipientError):
        found = x25519.Recipient.from_str(text.strip())
    if found is None:
        raise UsageError("this is no recipient of age", hint="give one such as age1…; age-keygen makes a pair")
    return found


class AgeWriter(io.RawIOBase):
    """Encrypt for `recipient` into `file`. A thread encrypts, and `write` waits while a few pieces are not written.

    `failure` is what the disk said: age hides it.
    """

    def __init__(self, file: BinaryIO, recipient: x25519.Recipient) -> None:
        super().__init__()
        self.failure: OSError | None = None
        self._file = file
        self._pieces: queue.Queue[bytes | None] = queue.Queue(_WAITING_WRITES)
        self._rest: bytes | None = b""  # None at the end
        self._abandoned = False
        self._thread = threading.Thread(target=self._encrypt, args=(recipient,), daemon=True)
        self._thread.start()

    def encrypt(self, piece: bytes) -> None:
        """Encrypt the next piece, unless there was a `failure`."""
        self._put(piece)

    def end(self, *, is_complete: bool) -> None:
        """Wait for the end. A file that is not complete lacks the mark of its end, and no one opens it."""
        self._abandoned = not is_complete
        self._put(None)
        self._thread.join()

    def read(self, size: int = -1, /) -> bytes:
        """Return the next bytes for age, none at the end. Raises OSError, which ends age, when it is abandoned."""
        while self._rest == b"":
            self._rest = self._pieces.get()
        if self._abandoned:
            raise OSError
        if self._rest is None:
            return b""
        part = self._rest if size < 0 else self._rest[:size]
        self._rest = self._rest[len(part) :]
        return part

    def write(self, data: bytes, /) -> int:  # type: ignore[override]
        """Write what age has encrypted. Raises OSError when the disk does."""
        try:
            self._file.write(data)
        except OSError as error:
            self.failure = self.failure or error
            raise
        return len(data)

    def flush(self) -> None:
        """Nothing: the file is flushed by its owner."""

    def _put(self, piece: bytes | None) -> None:
        while self._thread.is_alive():
            with suppress(queue.Full):
                self._pieces.put(piece, timeout=_LOOK_SECONDS)
                return

    def _encrypt(self, recipient: x25519.Recipient) -> None:
        import pyrage

        try:
            pyrage.encrypt_io(self, self, [recipient])
        except Exception:  # of age, which says no more
            if not self._abandoned and self.failure is None:
                self.failure = OSError("age could not encrypt")
