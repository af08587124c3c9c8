"""A file of which other bytes are read than stand there: those that are encrypted in it."""

from __future__ import annotations

import io
from typing import BinaryIO

from audiencekit.sources.bytes.rawbytes import Identity, RawFile


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
        """Bytes of the encrypted file, of which more or fewer come out."""
        return self.file.size_bytes

    @property
    def identity(self) -> Identity:
        """That of the encrypted file."""
        return self.file.identity

    @property
    def repeatable(self) -> bool:
        """As the encrypted file is."""
        return self.file.repeatable

    def check_unchanged(self, handle: BinaryIO) -> None:
        """Raises SourceRefused when the file changed while it was read."""
        if isinstance(handle, DecryptedHandle):
            self.file.check_unchanged(handle.encrypted)
