"""The ciphers that are read, each recognised by the first bytes of a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

from audiencekit.errors import SourceRefused
from audiencekit.limits import MAX_WRAPPERS
from audiencekit.sources.bytes.byte_stream import BLOCK_BYTES, MAGIC_BYTES, SourceFormat, find_format, take_sample
from audiencekit.sources.bytes.compression import ZIP, Compression, compression_of, is_office_document
from audiencekit.sources.bytes.encryption import AgeFile, is_age
from audiencekit.sources.bytes.files import ByteReader, HeldFile, RawFile
from audiencekit.sources.bytes.pgp import PgpFile, is_pgp


def decrypted(file: RawFile) -> RawFile:
    """The bytes that are encrypted in `file`; the file itself when it is not encrypted.

    Raises SourceRefused for a cipher that is not read, UsageError when what decrypts it is missing.
    """
    if is_age(file):
        return AgeFile(file)
    return PgpFile(file) if is_pgp(file) else file


def unwrapped(file: RawFile) -> RawFile:
    """The list in `file`, decrypted, and unpacked but for one compression around text.

    Raises SourceRefused for what is wrapped too often, is damaged, or takes too much memory; UsageError when what
    decrypts it is missing.
    """
    for _ in range(MAX_WRAPPERS + 1):
        inner = _inner(file)
        if inner is file:
            return file
        file = inner
    raise SourceRefused(f"it is packed or encrypted more than {MAX_WRAPPERS} times", hint="unpack it first")


def _inner(file: RawFile) -> RawFile:
    """The bytes in the outermost wrapper; `file` itself when a reader takes it as it is."""
    opened = decrypted(file)
    if opened is not file:
        return opened
    first_bytes = take_sample(_blocks(file, None), MAGIC_BYTES).data
    compression = compression_of(first_bytes)
    is_zip = compression is not None and compression.name == ZIP
    if not file.seekable and (is_zip or (compression is None and find_format(first_bytes) is SourceFormat.PARQUET)):
        return HeldFile(file, _blocks(file, None))
    if compression is None or (is_zip and is_office_document(file)):
        return file
    beginning = HeldFile(file, [take_sample(_blocks(file, compression), MAGIC_BYTES).data])
    return HeldFile(file, _blocks(file, compression)) if _is_wrapped(beginning) else file


def _is_wrapped(beginning: HeldFile) -> bool:
    """Whether a file that begins so is no text."""
    first_bytes = take_sample(_blocks(beginning, None), MAGIC_BYTES).data
    if compression_of(first_bytes) is not None or decrypted(beginning) is not beginning:
        return True
    return find_format(first_bytes) is not SourceFormat.TEXT


def _blocks(file: RawFile, compression: Compression | None) -> Iterator[bytes]:
    with closing(file.open()) as handle:
        reading = ByteReader(handle)
        yield from reading.blocks(BLOCK_BYTES) if compression is None else compression.blocks(reading, BLOCK_BYTES)
        file.check_unchanged(handle)
