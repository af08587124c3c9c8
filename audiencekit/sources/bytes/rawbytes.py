"""Bytes from outside, and one reading of them: how far it came, and errors of the system as ours."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import BinaryIO, Protocol, TypeAlias

from audiencekit.errors import InputOutputFailed, SourceRefused

Identity: TypeAlias = tuple[int, int] | str


class RawFile(Protocol):
    """Bytes from outside: a file on disk or elsewhere, what is piped in, or what such bytes are decrypted to."""

    @property
    def size_bytes(self) -> int:
        """Bytes in all, 0 when unknown."""

    @property
    def identity(self) -> Identity:
        """The same for two names of one file."""

    @property
    def seekable(self) -> bool:
        """Whether a handle goes to any byte: what is read from its end needs that."""

    @property
    def repeatable(self) -> bool:
        """Whether another process can read it again."""

    def open(self) -> BinaryIO:
        """A handle at the first byte, unbuffered. The handles of a seekable file know their places one by one."""

    def check_unchanged(self, handle: BinaryIO) -> None:
        """Raises SourceRefused when what was read may not be what stands there."""


class ByteReader(io.RawIOBase):
    """An open file. `position` is the byte behind those that were read last.

    `failure` is what ended it: libraries that read from it may hide an error or give another in its place.
    """

    def __init__(self, handle: BinaryIO) -> None:
        super().__init__()
        self._handle = handle
        self.position = 0
        self.failure: InputOutputFailed | SourceRefused | None = None

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """As the file is."""
        return self._handle.seekable()

    def read(self, size: int = -1, /) -> bytes:
        """Up to `size` bytes, none at the end. Raises InputOutputFailed."""
        try:
            data = self._handle.read(size) or b""
        except OSError as error:
            self.failure = InputOutputFailed(f"cannot be read: {error.strerror or 'unknown reason'}")
        except (SourceRefused, InputOutputFailed) as error:
            self.failure = error
        if self.failure is not None:
            raise self.failure
        self.position += len(data)
        return data

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Go on reading elsewhere."""
        self.position = self._handle.seek(offset, whence)
        return self.position

    def tell(self) -> int:
        """The place of the next byte."""
        return self.position

    def blocks(self, block_bytes: int) -> Iterator[bytes]:
        """Bytes that are left, in blocks of `block_bytes`."""
        return iter(lambda: self.read(block_bytes), b"")
