"""The forms of packed files: what they begin with, and how they are unpacked. Each holds text, and nothing packed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from audiencekit.sources.bytes.inflation import BZIP2, GZ, XZ, MemberForm, bounded
from audiencekit.sources.bytes.rawbytes import ByteReader
from audiencekit.sources.bytes.zipmember import ZIP, ZIP_MAGIC, zip_blocks
from audiencekit.sources.bytes.zstandard import ZSTD, ZSTD_MAGIC, zstd_blocks


@dataclass(frozen=True, slots=True)
class Compression:
    """A form of packed files. `unpack` gives blocks of at most so many bytes, and raises SourceRefused."""

    name: str
    magic: bytes
    unpack: Callable[[ByteReader, int], Iterator[bytes]]

    def blocks(self, reading: ByteReader, block_bytes: int) -> Iterator[bytes]:
        """The unpacked bytes. Raises SourceRefused for a damaged file and for a bomb."""
        return bounded(self.unpack(reading, block_bytes), self.name, lambda: reading.position)


def _by_members(form: MemberForm) -> Compression:
    return Compression(form.name, form.magic, lambda reading, size: form.blocks(reading.blocks(size), size))


COMPRESSIONS: Final = (
    _by_members(GZ),
    _by_members(BZIP2),
    _by_members(XZ),
    Compression(ZSTD, ZSTD_MAGIC, zstd_blocks),
    Compression(ZIP, ZIP_MAGIC, zip_blocks),
)


def compression_of(first_bytes: bytes) -> Compression | None:
    """The compression of a file that begins so; None for one that is not packed."""
    return next((compression for compression in COMPRESSIONS if first_bytes.startswith(compression.magic)), None)
