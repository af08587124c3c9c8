"""The sealed spool: what pass one prepared, for pass two alone to read (design, section 4.4)."""

from __future__ import annotations

import contextlib
import os
import secrets
import struct
import sys
import threading
from array import array
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from pathlib import Path
from types import TracebackType
from typing import Final, NoReturn, Self, TypeAlias

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from audiencekit.errors import Bug, InputOutputFailed
from audiencekit.state.files import (
    CHANGE,
    NEW_SPOOL,
    READ,
    hint_for,
    open_unnamed,
    other_number,
    read_at,
    sync_directory,
    write_at,
)
from audiencekit.state.keys import SubKey

KEY_BITS: Final = 256
NONCE_BYTES: Final = 12
SEAL_BYTES: Final = 16  # what AES-GCM adds to a chunk

_HINT: Final = "check the space and the health of the disk that holds the state directory, then run again"
_NO_BYTES: Final = "a chunk of the spool must be contiguous bytes, less than 2 GB of them"
Chunk: TypeAlias = bytes | bytearray | memoryview

# Room that is had from numpy is not filled with zeros first, under the lock of the interpreter. Older releases of the
# library have no such functions.
_SEALS_IN_PLACE: Final = hasattr(AESGCM, "encrypt_into")

_PLACE: Final = 3  # numbers that say where a chunk is: nonce, offset, size as sealed; a size of 0 is no chunk


class SpoolDamaged(InputOutputFailed):
    """The content of the file is not as it was written."""


class SealedFile:
    """Chunks of bytes by number, in an open file, each sealed with AES-GCM. Any thread may read or write.

    Nothing in the file is trusted: places and sizes live in memory, and a chunk in the place of another is refused.
    Raises InputOutputFailed when the disk fails, is full, or gives back something else.
    """

    def __init__(self, file: int, key: bytes, *, end: int = 0, places: array[int] | None = None) -> None:
        self._cipher = AESGCM(key)  # it alone has the key
        self._file: int | None = file
        self._end = end
        self._places = array("Q") if places is None else places
        self._nonces = 0  # a nonce is never used twice, not even for a chunk whose writing failed
        self._lock = threading.Lock()
        self._is_finished = places is not None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)} chunks, {self._end} bytes>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} is not to be stored or passed between processes")

    def __len__(self) -> int:
        """How many chunks it holds."""
        return len(self._places) // _PLACE

    def fileno(self) -> int:
        """The descriptor of the sealed file. Raises Bug when it is closed."""
        if self._file is None:
            raise Bug("the spool is closed")
        return self._file

    def append(self, chunk: Chunk, number: int | None = None) -> int:
        """Seals `chunk` and writes it at the end, as the one of `number` or the next; its number.

        Several threads may do so at once if they give numbers. When it fails, the other chunks are still there.
        """
        number, size = len(self) if number is None else number, _sealed_bytes(chunk)
        file, nonce, offset = self.fileno(), *self._reserve(number, [size])
        sealed = _sealed(self._cipher, nonce, [chunk], number) if size else b""
        del chunk  # so that no frame of a failure holds it
        if not size:
            raise Bug(_NO_BYTES)
        _write_at(file, sealed, offset, number)
        self._settle(number, array("Q", (nonce, offset, size)))
        return number

    def append_all(self, chunks: Sequence[memoryview]) -> list[int]:
        """Seals each of `chunks` and writes them in one go at the end, as the next ones; their numbers.

        For one thread at a time. When it fails, the other chunks are still there.
        """
        first, sizes = len(self), [_sealed_bytes(chunk) for chunk in chunks]
        if not all(sizes):
            del chunks
            raise Bug(_NO_BYTES)
        file, nonce, offset = self.fileno(), *self._reserve(first, sizes)
        sealed = _sealed(self._cipher, nonce, chunks, first)
        del chunks  # as in `append`
        _write_at(file, sealed, offset, first)
        offsets = accumulate(sizes, initial=offset)
        places = zip(range(nonce, nonce + len(sizes)), offsets, sizes, strict=False)
        self._settle(first, array("Q", chain.from_iterable(places)))
        return list(range(first, first + len(sizes)))

    def read(self, number: int) -> bytes | memoryview:
        """The chunk of this number, unsealed. Raises Bug when there is none."""
        return self.read_all([number])

    def read_all(self, numbers: Sequence[int]) -> bytes | memoryview:
        """Return the chunks with these numbers, unsealed and joined. Raises Bug for a number without a chunk."""
        places = [self._place_of(number) for number in numbers]
        if not _SEALS_IN_PLACE:
            return b"".join(self._unsealed(number, place) for number, place in zip(numbers, places, strict=True))
        ends = list(accumulate((size - SEAL_BYTES for *_, size in places), initial=0))
        chunks = np.empty(ends[-1], dtype=np.uint8)
        try:
            for number, place, begin, end in zip(numbers, places, ends[:-1], ends[1:], strict=True):
                self._unsealed(number, place, chunks.data[begin:end])
        except BaseException:
            chunks.fill(0)  # no frame of a failure holds what was unsealed, which is before the seal is looked at
            raise
        return chunks.data.toreadonly()

    def chunks(self) -> Iterator[bytes | memoryview]:
        """Every chunk in order, unsealed one at a time. Several readings may go on at once."""
        number = 0
        while number < len(self):
            yield self.read(number)
            number += 1

    def close(self) -> None:
        """Gives up the file and the places of the chunks."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.close(self._file)
        self._file = None
        self._places = array("Q")

    def _close_places(self) -> array[int]:
        """The places of all chunks; no other can be written. Raises Bug when one is missing."""
        with self._lock:
            self._is_finished = True
        if not all(self._places[_PLACE - 1 :: _PLACE]):
            raise Bug("a chunk of the spool was never written")
        return self._places

    def _place_of(self, number: int) -> array[int]:
        place = self._places[number * _PLACE : (number + 1) * _PLACE]
        if not place or not place[-1]:
            raise Bug(f"chunk {number + 1} of the spool was never written")
        return place

    def _unsealed(self, number: int, place: array[int], chunk: memoryview | None = None) -> bytes:
        """The chunk that is at this place; where one is given to be filled, nothing."""
        nonce, offset, size = place
        sealed = _read_at(self.fileno(), size, offset, number)
        try:
            if chunk is None:
                return self._cipher.decrypt(_nonce(nonce), sealed, _associated(number))
            self._cipher.decrypt_into(_nonce(nonce), sealed, _associated(number), chunk)
        except InvalidTag:
            raise _damaged(number, "was changed after it was written") from None
        return b""

    def _reserve(self, number: int, sizes: Sequence[int]) -> tuple[int, int]:
        """The first of as many nonces, and an offset, that no one else has, for the chunks from `number` on."""
        with self._lock:
            if self._is_finished:
                raise Bug("the spool is finished")
            self._refuse_written(number, len(sizes))
            nonce, offset = self._nonces, self._end
            self._nonces, self._end = nonce + len(sizes), offset + sum(sizes)
        return nonce, offset

    def _settle(self, number: int, places: array[int]) -> None:
        begin, end = number * _PLACE, number * _PLACE + len(places)
        with self._lock:
            self._refuse_written(number, len(places) // _PLACE)  # by another thread meanwhile
            self._places.extend([0] * (end - len(self._places)))
            self._places[begin:end] = places

    def _refuse_written(self, number: int, count: int) -> None:
        """Raises Bug when one of so many chunks from `number` on was written."""
        if any(self._places[number * _PLACE + 2 : (number + count) * _PLACE : _PLACE]):
            raise Bug(f"chunk {number + 1} of the spool was written before")


class Spool(SealedFile):
    """A temporary file without a name, sealed under a key that is drawn for it and lives in memory only.

    A kill leaves nothing that could be read.
    """

    def __init__(self, directory: Path) -> None:
        super().__init__(_open_unnamed(directory), AESGCM.generate_key(KEY_BITS))


def _sealed_bytes(chunk: object) -> int:
    """How long `chunk` will be when it is sealed; 0 for what cannot be."""
    if not isinstance(chunk, bytes | bytearray | memoryview):
        return 0
    view = memoryview(chunk)
    sealed = view.nbytes + SEAL_BYTES
    return sealed if view.c_contiguous and sealed < 2**31 else 0


def _sealed(cipher: AESGCM, nonce: int, chunks: Sequence[Chunk], number: int) -> Chunk:
    """Seal chunks with ascending numbers from this one on, each with its own nonce, and join them."""
    if not _SEALS_IN_PLACE:
        numbered = enumerate(chunks)
        return b"".join(cipher.encrypt(_nonce(nonce + n), chunk, _associated(number + n)) for n, chunk in numbered)
    ends = list(accumulate(map(_sealed_bytes, chunks), initial=0))
    sealed = np.empty(ends[-1], dtype=np.uint8).data
    for n, chunk in enumerate(chunks):
        cipher.encrypt_into(_nonce(nonce + n), chunk, _associated(number + n), sealed[ends[n] : ends[n + 1]])
    return sealed.toreadonly()


def _nonce(number: int) -> bytes:
    return number.to_bytes(NONCE_BYTES, "big")


def _associated(number: int) -> bytes:
    return b"audiencekit spool chunk %d" % number


def _open_unnamed(directory: Path) -> int:
    path = directory / f".spool-{secrets.token_hex(16)}"
    try:
        return open_unnamed(path)
    except OSError as error:
        raise InputOutputFailed(
            f"no temporary file can be made in {str(directory)!r}: {error.strerror}",
            hint=hint_for(error.errno, "the directory must exist, and be writable"),
        ) from None


def _write_at(file: int, sealed: Chunk, offset: int, number: int) -> None:
    rest = memoryview(sealed)
    while rest:
        try:
            written = write_at(file, rest, offset)
        except OSError as error:
            raise _failed(number, f"cannot be written: {error.strerror}") from None
        rest, offset = rest[written:], offset + written


def _read_at(file: int, size: int, offset: int, number: int) -> bytes:
    sealed = _pread(file, size, offset, number)
    while len(sealed) < size:
        piece = _pread(file, size - len(sealed), offset + len(sealed), number)
        if not piece:
            raise _damaged(number, "is cut off")
        sealed += piece
    return sealed


def _pread(file: int, size: int, offset: int, number: int) -> bytes:
    try:
        return read_at(file, size, offset)
    except OSError as error:
        raise _failed(number, f"cannot be read: {error.strerror}") from None


def _failed(number: int, what: str) -> InputOutputFailed:
    return InputOutputFailed(f"chunk {number + 1} of the spool {what}", hint=_HINT)


def _damaged(number: int, what: str) -> SpoolDamaged:
    return SpoolDamaged(f"chunk {number + 1} of the spool {what}", hint=_HINT)


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
        """Open a finished spool for reading. Raises InputOutputFailed when it is cut short, or has another key or
        format."""
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
    """Overwrite the salt of the file at `path`, so that no key opens it, and remove it. Raises InputOutputFailed."""
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
    """Return the key of the file and the places of its chunks. Raises ValueError or InvalidTag for any other file."""
    end = os.fstat(file).st_size - _TAIL.size
    head = read_at(file, _HEAD_BYTES, 0)
    size, mark = _TAIL.unpack(read_at(file, _TAIL.size, max(end, 0)))
    if head[: len(MARK)] != MARK or mark != MARK or not SEAL_BYTES <= size <= end - _HEAD_BYTES:
        raise ValueError
    file_key = _file_key(key, head[len(MARK) :])
    places = array("Q", AESGCM(file_key).decrypt(_DIRECTORY_NONCE, _read_kept(file, size, end - size), _DIRECTORY))
    return file_key, _little_endian(places)


def _read_kept(file: int, size: int, offset: int) -> bytes:
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
