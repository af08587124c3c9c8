"""A spool that outlives its process, for sources that cannot be read twice (`keep_spool=True`; design, section 4.4).

    8 bytes                 MARK
    32 bytes                salt: the file's own key is made from it and the key of the run
    chunks                  sealed, in the order in which they were written
    directory               sealed: nonce, offset and size of each chunk, as uint64
    8 bytes                 size of the directory as sealed, as uint64, little-endian as all numbers here
    8 bytes                 MARK

The file is worth nothing without the key, which lies elsewhere. Nothing in it is believed until the directory was
unsealed: it names every chunk, so that one that was cut off, changed, moved or taken from another spool is refused.
"""

from __future__ import annotations

import os
import secrets
import struct
import sys
from array import array
from pathlib import Path
from typing import Final, Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from audiencekit.errors import InputOutputFailed
from audiencekit.machine.formatmarks import other_number
from audiencekit.machine.keys import SubKey
from audiencekit.machine.openfiles import CHANGE, NEW_SPOOL, READ, read_at, write_at
from audiencekit.machine.privatefiles import sync_directory
from audiencekit.machine.spool import KEY_BITS, NONCE_BYTES, SEAL_BYTES, SealedFile, SpoolDamaged

MARK: Final = b"AKSPOOL1"
SALT_BYTES: Final = 32

_BEGIN_ANEW: Final = "a run whose spool is lost must begin anew"
_PURPOSE: Final = b"audiencekit kept spool 1"
_DIRECTORY: Final = b"audiencekit spool directory"
_DIRECTORY_NONCE: Final = b"\xff" * NONCE_BYTES  # chunks count theirs up from zero
_HEAD_BYTES: Final = len(MARK) + SALT_BYTES
_TAIL: Final = struct.Struct(f"<Q{len(MARK)}s")


class OtherSpoolFormat(SpoolDamaged):
    """The file is a spool of another version of audiencekit."""


class KeptSpool(SealedFile):
    """Chunks in a file with a name, which its owner alone may read."""

    @classmethod
    def create(cls, path: Path, key: SubKey) -> Self:
        """An empty spool in a new file. Raises InputOutputFailed when there is one, or none can be made."""
        salt = secrets.token_bytes(SALT_BYTES)
        file = _open(path, NEW_SPOOL, "made")
        spool = cls(file, _file_key(key, salt), end=_HEAD_BYTES)
        try:
            write_at(file, MARK + salt, 0)
        except OSError as error:
            spool.close()
            raise _unusable(path, f"cannot be written: {error.strerror}") from None
        return spool

    @classmethod
    def open(cls, path: Path, key: SubKey) -> Self:
        """A finished spool, to be read. Raises InputOutputFailed when it is not whole, or not of this key or format."""
        file = _open(path, READ, "opened")
        try:
            if what := other_number(read_at(file, len(MARK), 0), MARK):
                os.close(file)
                raise OtherSpoolFormat(f"the spool {str(path)!r} {what}", hint="use the version that wrote it")
            file_key, places = _read_directory(file, key)
        except OSError as error:
            os.close(file)
            raise _unusable(path, f"cannot be read: {error.strerror}") from None
        except (ValueError, InvalidTag, struct.error):
            os.close(file)
            what = f"the spool {str(path)!r} is not whole, was changed, or belongs to another key"
            raise SpoolDamaged(what, hint=_BEGIN_ANEW) from None
        return cls(file, file_key, end=os.fstat(file).st_size, places=places)

    def finish(self) -> None:
        """Writes the directory and waits for the disk: from now on the spool can be opened, and takes no more chunks.

        Raises Bug when a chunk is missing, InputOutputFailed when the disk fails.
        """
        file, places = self.fileno(), self._close_places()
        sealed = self._cipher.encrypt(_DIRECTORY_NONCE, _little_endian(places).tobytes(), _DIRECTORY)
        try:
            content = memoryview(sealed + _TAIL.pack(len(sealed), MARK))
            offset = self._end
            while content:
                written = write_at(file, content, offset)
                content, offset = content[written:], offset + written
            os.fsync(file)
        except OSError as error:
            raise InputOutputFailed(f"the spool cannot be written: {error.strerror}") from None


def destroy_spool(path: Path) -> None:
    """Leave no file at `path` that its key could open: the salt goes first. Raises InputOutputFailed."""
    try:
        file = os.open(path, CHANGE)
    except FileNotFoundError:
        return
    except OSError as error:
        raise _not_removed(path, error) from None
    try:
        try:
            write_at(file, bytes(_HEAD_BYTES), 0)
            os.fsync(file)
        finally:
            os.close(file)  # Windows removes no open file
        os.unlink(path)
        sync_directory(path.parent)
    except OSError as error:
        raise _not_removed(path, error) from None


def _file_key(key: SubKey, salt: bytes) -> bytes:
    return HKDF(SHA256(), KEY_BITS // 8, salt, _PURPOSE).derive(key.unwrap())


def _read_directory(file: int, key: SubKey) -> tuple[bytes, array[int]]:
    """The file's own key, and the places of its chunks. Raises ValueError or InvalidTag for what is no such file."""
    end = os.fstat(file).st_size - _TAIL.size
    head = read_at(file, _HEAD_BYTES, 0)
    size, mark = _TAIL.unpack(read_at(file, _TAIL.size, max(end, 0)))
    if head[: len(MARK)] != MARK or mark != MARK or not SEAL_BYTES <= size <= end - _HEAD_BYTES:
        raise ValueError
    file_key = _file_key(key, head[len(MARK) :])
    places = array("Q", AESGCM(file_key).decrypt(_DIRECTORY_NONCE, _pread(file, size, end - size), _DIRECTORY))
    return file_key, _little_endian(places)


def _pread(file: int, size: int, offset: int) -> bytes:
    content = read_at(file, size, offset)
    while len(content) < size:
        piece = read_at(file, size - len(content), offset + len(content))
        if not piece:
            raise ValueError
        content += piece
    return content


def _little_endian(places: array[int]) -> array[int]:
    if sys.byteorder == "big":
        places = places[:]
        places.byteswap()
    return places


def _open(path: Path, flags: int, what: str) -> int:
    try:
        return os.open(path, flags, 0o600)
    except OSError as error:
        raise _unusable(path, f"cannot be {what}: {error.strerror}") from None


def _not_removed(path: Path, error: OSError) -> InputOutputFailed:
    return InputOutputFailed(f"the spool {str(path)!r} cannot be removed: {error.strerror}", hint="remove it")


def _unusable(path: Path, what: str) -> InputOutputFailed:
    return InputOutputFailed(f"the spool {str(path)!r} {what}", hint=_BEGIN_ANEW)
