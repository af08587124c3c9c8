"""The bytes of a file as UTF-8 blocks: what it is by its first bytes, unpacked, decoded, lines bounded."""

from __future__ import annotations

import codecs
import itertools
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from audiencekit.errors import SourceRefused
from audiencekit.limits import MAX_LINE_BYTES
from audiencekit.sources.bytes.openpgp import PgpContent
from audiencekit.sources.bytes.packings import packing_of
from audiencekit.sources.bytes.rawbytes import RawFile, Reading
from audiencekit.sources.bytes.transcoding import Encoding, find_encoding, transcode
from audiencekit.sources.bytes.zipmember import ZIP, is_office_document

# A third of a line's limit at most: transcoding may make three bytes of one.
BLOCK_BYTES: Final = 262_144
MAGIC_BYTES: Final = 64
PARQUET_MAGIC: Final = (b"PAR1", b"PARE")
_SAVE: Final = "save it as xlsx without a password, or as CSV UTF-8"
# First bytes of what people take for a table, and what to do about it.
OTHER_FORMATS: Final = (
    (b"PK\x05\x06", "an empty zip archive", "give the file itself"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel workbook (xls), or one with a password", _SAVE),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it, or pack it as gz"),
    (b"SQLite format 3\x00", "a SQLite database", "say what to read of it: `from_sql`, as sqlite:///FILE"),
    (b"ARROW1", "an Arrow file", "write it as Parquet"),
    (b"Obj\x01", "an Avro file", "write it as Parquet"),
    (b"%PDF-", "a PDF document", "export the table as CSV"),
)
# The same of texts, in small letters; a byte order mark or blanks may come before.
_SPREADSHEET: Final = "export CSV; what a shop calls an Excel file can be opened there and saved as CSV UTF-8"
_KEY: Final = (PgpContent.KEY, "a list is encrypted for it: give the list")
OTHER_TEXTS: Final = (
    (b"<!doctype", "a web page", _SPREADSHEET),
    (b"<html", "a web page", _SPREADSHEET),
    (b"<table", "a table of a web page", _SPREADSHEET),
    (b"<?xml", "an XML document", _SPREADSHEET),
    (b"{\\rtf", "an RTF document", "export the table as CSV"),
    (
        b"-----begin age encrypted file-----",
        "an age file in letters",
        "encrypt it as binary, which is the default of age",
    ),
    (b"-----begin pgp signed message-----", "a signed text", "write out the text in it: gpg --decrypt"),
    (b"-----begin pgp public key block-----", *_KEY),
    (b"-----begin pgp private key block-----", *_KEY),
    (b"begin:vcard", "a file of vCards", "export the contacts as CSV"),
)


class SourceFormat(StrEnum):
    """The type of a file, by its first bytes and never by its name."""

    TEXT = "text"
    PARQUET = "parquet"
    WORKBOOK = "workbook"


class ByteStream:
    """One file as UTF-8 blocks, again from the beginning for every `blocks()`; `bytes_read` is of the file as it lies.

    Text may be packed once; anything else is not.
    """

    def __init__(self, file: RawFile, declared_encoding: str | None = None) -> None:
        self.file = file
        self.bytes_read = 0
        with closing(file.open()) as handle:
            first_bytes = Reading(handle).read(MAGIC_BYTES)
        self.packing = packing_of(first_bytes)
        self.format = find_format(first_bytes) if self.packing is None else SourceFormat.TEXT
        if self.packing is not None and self.packing.name == ZIP and is_office_document(file):
            self.packing, self.format = None, SourceFormat.WORKBOOK
        self.encoding = Encoding("utf-8", 0)
        if self.format is SourceFormat.TEXT:
            first_text = take_sample(self._plain_blocks(), MAGIC_BYTES).data
            if self.packing is not None:
                find_format(first_text)
            self.encoding = find_encoding(first_text, declared_encoding)

    @property
    def compression(self) -> str | None:
        """The form of packing, None for a file that is not packed."""
        return None if self.packing is None else self.packing.name

    @property
    def bytes_left(self) -> int | None:
        """Bytes that are still to come, about; None where unknown."""
        return max(self.file.size_bytes - self.bytes_read, 0) if self.file.size_bytes and not self.packing else None

    def blocks(self) -> Iterator[bytes]:
        """UTF-8 blocks from the first byte on. Raises SourceRefused for a damaged or changed file."""
        return transcode(self._plain_blocks(), self.encoding)

    def bounded_blocks(self) -> Iterator[bytes]:
        """The same, for readers that take every line end for the end of a record: lines are bounded."""
        return bounded_lines(self.blocks())

    def _plain_blocks(self) -> Iterator[bytes]:
        self.bytes_read = 0
        with closing(self.file.open()) as handle:
            reading = Reading(handle)
            source = self.packing.blocks if self.packing else Reading.blocks
            for block in source(reading, BLOCK_BYTES):
                self.bytes_read = reading.position
                yield block
            self.bytes_read = self.file.size_bytes or reading.position
            self.file.check_unchanged(handle)


def find_format(first_bytes: bytes) -> SourceFormat:
    """The format by the first bytes of a file. Raises SourceRefused for formats that are not read."""
    if first_bytes.startswith(PARQUET_MAGIC):
        return SourceFormat.PARQUET
    for magic, what, instead in OTHER_FORMATS:
        if first_bytes.startswith(magic):
            raise SourceRefused(f"this is {what}, which is not read", hint=instead)
    text = first_bytes.removeprefix(codecs.BOM_UTF8).lstrip().lower()
    for beginning, what, instead in OTHER_TEXTS:
        if text.startswith(beginning):
            raise SourceRefused(f"this is {what}, which is not read", hint=instead)
    return SourceFormat.TEXT


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
