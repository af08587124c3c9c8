"""The bytes of a file as UTF-8 blocks: unpacked, decoded, lines bounded.

A byte that the encoding does not know becomes the byte FF, which is never part of UTF-8: so a broken byte costs its row
and not the file, and no other letter can stand in for it.
"""

from __future__ import annotations

import codecs
import itertools
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Final

from audiencekit.errors import SourceRefused
from audiencekit.limits import MAX_LINE_BYTES
from audiencekit.sources.bytes.compressions import compression_of
from audiencekit.sources.bytes.firstbytes import MAGIC_BYTES, Encoding, SourceFormat, find_encoding, find_format
from audiencekit.sources.bytes.rawbytes import ByteReader, RawFile
from audiencekit.sources.bytes.zipmember import ZIP, is_office_document

# A third of a line's limit at most: transcoding may make three bytes of one.
BLOCK_BYTES: Final = 262_144
BROKEN_BYTE: Final = "\udcff"  # leaves as the byte FF through `surrogateescape`
_MARK_BROKEN: Final = "audiencekit-mark-broken"


def _mark_broken(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return BROKEN_BYTE, error.end


codecs.register_error(_MARK_BROKEN, _mark_broken)


class ByteStream:
    """One file as UTF-8 blocks, again from the beginning for every `blocks()`; `bytes_read` is of the file as it lies.

    Text may be packed once; anything else is not.
    """

    def __init__(self, file: RawFile, declared_encoding: str | None = None) -> None:
        self.file = file
        self.bytes_read = 0
        with closing(file.open()) as handle:
            first_bytes = ByteReader(handle).read(MAGIC_BYTES)
        self._compression = compression_of(first_bytes)
        self.format = find_format(first_bytes) if self._compression is None else SourceFormat.TEXT
        if self._compression is not None and self._compression.name == ZIP and is_office_document(file):
            self._compression, self.format = None, SourceFormat.WORKBOOK
        self.encoding = Encoding("utf-8", 0)
        if self.format is SourceFormat.TEXT:
            first_text = take_sample(self._plain_blocks(), MAGIC_BYTES).data
            if self._compression is not None:
                find_format(first_text)
            self.encoding = find_encoding(first_text, declared_encoding)

    @property
    def compression(self) -> str | None:
        """The form of compression, None for a file that is not packed."""
        return None if self._compression is None else self._compression.name

    @property
    def bytes_left(self) -> int | None:
        """Bytes that are still to come, about; None where unknown."""
        return (
            max(self.file.size_bytes - self.bytes_read, 0) if self.file.size_bytes and not self._compression else None
        )

    def blocks(self) -> Iterator[bytes]:
        """UTF-8 blocks from the first byte on. Raises SourceRefused for a damaged or changed file."""
        return transcode(self._plain_blocks(), self.encoding)

    def bounded_blocks(self) -> Iterator[bytes]:
        """The same, for readers that take every line end for the end of a record: lines are bounded."""
        return bounded_lines(self.blocks())

    def _plain_blocks(self) -> Iterator[bytes]:
        self.bytes_read = 0
        with closing(self.file.open()) as handle:
            reading = ByteReader(handle)
            source = self._compression.blocks if self._compression else ByteReader.blocks
            for block in source(reading, BLOCK_BYTES):
                self.bytes_read = reading.position
                yield block
            self.bytes_read = self.file.size_bytes or reading.position
            self.file.check_unchanged(handle)


def transcode(blocks: Iterator[bytes], encoding: Encoding) -> Iterator[bytes]:
    """UTF-8 blocks without the mark. UTF-8 passes as it is, broken bytes and all: the reader meets them by row."""
    rest = encoding.mark_bytes
    decoder = None if encoding.name == "utf-8" else codecs.getincrementaldecoder(encoding.name)(_MARK_BROKEN)
    for whole in blocks:
        block, rest = whole[rest:], max(0, rest - len(whole))
        if decoder is not None:
            block = decoder.decode(block).encode("utf-8", "surrogateescape")
        if block:
            yield block
    if decoder is not None:
        last = decoder.decode(b"", True).encode("utf-8", "surrogateescape")
        if last:
            yield last


def bounded_lines(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The same blocks. Raises SourceRefused when MAX_LINE_BYTES pass without a line end."""
    length_bytes = 0
    for block in blocks:
        first, last = _line_ends(block)
        if length_bytes + (first if first >= 0 else len(block)) > MAX_LINE_BYTES:
            raise SourceRefused(
                f"a line is longer than {MAX_LINE_BYTES:,} bytes",
                hint="check that the file still has its line ends, and say `encoding=` if it is not UTF-8",
            )
        length_bytes = len(block) - last - 1 if last >= 0 else length_bytes + len(block)
        yield block


def _line_ends(block: bytes) -> tuple[int, int]:
    """Where the first line end is and where the last; -1 where there is none. Most blocks have no other than LF."""
    first, last = block.find(b"\n"), block.rfind(b"\n")
    before = block.find(b"\r", 0, first) if first >= 0 else block.find(b"\r")
    return first if before < 0 else before, max(last, block.rfind(b"\r", last + 1))


@dataclass(frozen=True, slots=True)
class TextSample:
    """The beginning of a text, UTF-8, and whether it is everything. It is personal data."""

    data: bytes = field(repr=False)
    is_whole: bool


def take_sample(blocks: Iterator[bytes], size_bytes: int) -> TextSample:
    """The first `size_bytes` or somewhat more."""
    taken: list[bytes] = []
    for block in blocks:
        taken.append(block)
        if sum(map(len, taken)) >= size_bytes:
            break
    rest = next(itertools.islice(blocks, 1), None)
    return TextSample(b"".join(taken), rest is None)
