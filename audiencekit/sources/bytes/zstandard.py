"""Zstandard in a stream, unpacked by Arrow: frame after frame, each to its end and its checksum if it has one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pyarrow as pa

from audiencekit.sources.bytes.inflation import damaged
from audiencekit.sources.bytes.rawbytes import ByteReader

ZSTD: Final = "zstd"
ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"


def zstd_blocks(reading: ByteReader, block_bytes: int) -> Iterator[bytes]:
    """The unpacked bytes, in blocks of at most `block_bytes`. Raises SourceRefused for a damaged or truncated frame."""
    stream = pa.CompressedInputStream(pa.PythonFile(reading, mode="r"), ZSTD)
    while block := _read(stream, reading, block_bytes):
        yield block


def _read(stream: pa.NativeFile, reading: ByteReader, block_bytes: int) -> bytes:
    try:
        return bytes(stream.read(block_bytes))
    except (pa.ArrowException, OSError, ValueError):
        pass
    if reading.failure is not None:
        raise reading.failure
    raise damaged(ZSTD, "it is truncated, or its checksum or its data is wrong")
