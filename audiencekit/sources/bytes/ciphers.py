"""The ciphers that are read, each recognised by the first bytes of a file."""

from __future__ import annotations

from audiencekit.sources.bytes.agefile import AgeFile, is_age
from audiencekit.sources.bytes.pgpfile import PgpFile, is_pgp
from audiencekit.sources.bytes.rawbytes import RawFile


def decrypted(file: RawFile) -> RawFile:
    """The bytes that are encrypted in `file`; the file itself when it is not encrypted.

    Raises SourceRefused for a cipher that is not read, UsageError when what decrypts it is missing.
    """
    if is_age(file):
        return AgeFile(file)
    return PgpFile(file) if is_pgp(file) else file
