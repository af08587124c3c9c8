"""The sealed spool: what pass one prepared, for pass two and nobody else to read (design, section 4.4)."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Final, NoReturn, Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from audiencekit.errors import Bug, InputOutputFailed

KEY_BITS: Final = 256
NONCE_BYTES: Final = 12


class Spool:
    """Chunks of bytes, in order, in a temporary file without a name, each sealed with AES-GCM.

    The key is drawn for each spool and lives in memory only, as do the places and sizes of the chunks:
    nothing in the file is trusted, and a kill leaves nothing that could be read. One thread at a time
    appends. Raises InputOutputFailed when the disk fails, is full, or gives back something else.
    """

    def __init__(self, directory: Path) -> None:
        # The cipher alone has the key. The chunk's number is the nonce: it never repeats under one key.
        self._cipher = AESGCM(AESGCM.generate_key(KEY_BITS))
        self._sealed_sizes: list[int] = []
        self._end = 0
        self._file: int | None = _open_unnamed(directory)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Spool: {len(self)} chunks, {self._end} bytes>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a Spool is not to be stored or passed between processes")

    def __len__(self) -> int:
        """How many chunks it holds."""
        return len(self._sealed_sizes)

    def fileno(self) -> int:
        """The descriptor of the sealed file. Raises Bug when the spool is closed."""
        if self._file is None:
            raise Bug("the spool is closed")
        return self._file

    def append(self, chunk: bytes | memoryview) -> None:
        """Seals `chunk` and writes it at the end. When that fails, the chunks before it are still there."""
        file, number = self.fileno(), len(self)
        sealed = self._seal(number, chunk)
        del chunk  # so that no frame of a failure holds it
        if sealed is None:
            raise Bug("a chunk of the spool must be contiguous bytes, less than 2 GB of them")
        _write_at(file, sealed, self._end, number)
        self._end += len(sealed)
        self._sealed_sizes.append(len(sealed))

    def chunks(self) -> Iterator[bytes]:
        """Every chunk in order, unsealed one at a time. Several readings may go on at once."""
        offset = number = 0
        while number < len(self):
            size = self._sealed_sizes[number]
            yield self._unseal(number, _read_at(self.fileno(), size, offset, number))
            offset, number = offset + size, number + 1

    def close(self) -> None:
        """Gives up file and key; what was spooled is gone."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.close(self._file)
        self._file = None
        self._sealed_sizes.clear()

    def _seal(self, number: int, chunk: bytes | memoryview) -> bytes | None:
        try:
            return self._cipher.encrypt(_nonce(number), chunk, _associated(number))
        except (TypeError, ValueError, BufferError, OverflowError):
            return None

    def _unseal(self, number: int, sealed: bytes) -> bytes:
        try:
            return self._cipher.decrypt(_nonce(number), sealed, _associated(number))
        except InvalidTag:
            raise _failed(number, "was changed after it was written") from None


def _nonce(number: int) -> bytes:
    return number.to_bytes(NONCE_BYTES, "big")


def _associated(number: int) -> bytes:
    return b"audiencekit spool chunk %d" % number


def _open_unnamed(directory: Path) -> int:
    path = directory / f".spool-{secrets.token_hex(16)}"
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        file = os.open(path, flags, 0o600)
        try:
            os.unlink(path)
        except OSError:
            os.close(file)
            raise
    except OSError as error:
        raise InputOutputFailed(
            f"no temporary file can be made in {str(directory)!r}: {error.strerror}",
            hint="the directory must exist, and be writable",
        ) from None
    return file


def _write_at(file: int, sealed: bytes, offset: int, number: int) -> None:
    rest = memoryview(sealed)
    while rest:
        try:
            written = os.pwrite(file, rest, offset)
        except OSError as error:
            raise _failed(number, f"cannot be written: {error.strerror}") from None
        rest, offset = rest[written:], offset + written


def _read_at(file: int, size: int, offset: int, number: int) -> bytes:
    pieces = bytearray()
    while len(pieces) < size:
        try:
            piece = os.pread(file, size - len(pieces), offset + len(pieces))
        except OSError as error:
            raise _failed(number, f"cannot be read: {error.strerror}") from None
        if not piece:
            raise _failed(number, "is cut off")
        pieces += piece
    return bytes(pieces)


def _failed(number: int, what: str) -> InputOutputFailed:
    return InputOutputFailed(
        f"chunk {number + 1} of the spool {what}",
        hint="check the space and the health of the disk that holds the state directory, then run again",
    )
