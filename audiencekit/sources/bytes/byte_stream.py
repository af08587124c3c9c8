"""The bytes of a file as UTF-8 blocks: unpacked, decoded, lines bounded.

A byte that the encoding does not know becomes the byte FF, which is never part of UTF-8: so a broken byte costs its row
and not the file, and no other letter can stand in for it.
"""

from __future__ import annotations

import codecs
import itertools
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, TypeAlias

import numpy as np

from audiencekit.errors import SourceRefused
from audiencekit.limits import MAX_LINE_BYTES
from audiencekit.sources.bytes.compression import ZIP, compression_of, is_office_document
from audiencekit.sources.bytes.files import ByteReader, RawFile
from audiencekit.sources.bytes.pgp import PgpContent
from audiencekit.text import option

# A third of a line's limit at most: transcoding may make three bytes of one.
BLOCK_BYTES: Final = 262_144
BROKEN_BYTE: Final = "\udcff"  # leaves as the byte FF through `surrogateescape`
_MARK_BROKEN: Final = "audiencekit-mark-broken"
Convert: TypeAlias = Callable[[Iterator[bytes]], Iterator[bytes]]


def _mark_broken(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return BROKEN_BYTE, error.end


codecs.register_error(_MARK_BROKEN, _mark_broken)


class ByteStream:
    """One file as UTF-8 blocks, again from the beginning for every `blocks()`; `bytes_read` is of the file as it lies.

    Text may be packed once; anything else is not. `convert` makes other text of it as it is read, such as CSV of a
    table of a web page; it raises SourceRefused.
    """

    def __init__(self, file: RawFile, declared_encoding: str | None = None, *, convert: Convert | None = None) -> None:
        self.file, self._convert = file, convert
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
        """The estimated number of bytes that follow; None where unknown."""
        if not self.file.size_bytes or self._compression or self._convert:
            return None
        return max(self.file.size_bytes - self.bytes_read, 0)

    def blocks(self) -> Iterator[bytes]:
        """UTF-8 blocks from the first byte on. Raises SourceRefused for a damaged or changed file."""
        text = transcode(self._plain_blocks(), self.encoding)
        return text if self._convert is None else self._convert(text)

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


MAGIC_BYTES: Final = 64
PARQUET_MAGIC: Final = (b"PAR1", b"PARE")
_OF_A_PICTURE: Final = "export the table that it shows as CSV"
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
    *((magic, "a picture", _OF_A_PICTURE) for magic in (b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a")),
)
# The same of texts, in small letters; a byte order mark or blanks may come before.
_SPREADSHEET: Final = "export CSV; what a shop calls an Excel file can be opened there and saved as CSV UTF-8"
_KEY: Final = (PgpContent.KEY, "a list is encrypted for it: give the list")
_EMAIL: Final = "save the attached list, or copy the addresses into a file, one a line below the name email"
_ARCHIVE: Final = "open it in a spreadsheet and save it as xlsx or CSV UTF-8; of an email save the attached list"
_ADDRESS_BOOK: Final = "export the address book as CSV"
_DUMP: Final = "load it into a database, and export the table as CSV, or read it with `from_sql`"
OTHER_TEXTS: Final = (
    (b"<?xml", "an XML document", _SPREADSHEET),
    (b"{\\rtf", "an RTF document", "export the table as CSV"),
    (
        b"-----begin age encrypted file-----",
        "an age file in letters",
        "encrypt it as binary, which is the default of age",
    ),
    (b"-----begin pgp signed message-----", "a signed text", "write out the text in it: gpg --decrypt"),
    (b"mime-version:", "an email or a web archive (MHTML)", _ARCHIVE),
    *(
        (name + b":", "an email", _EMAIL)
        for name in (b"received", b"return-path", b"delivered-to", b"from", b"x-mozilla-status")
    ),
    (b"dn:", "an LDIF file", _ADDRESS_BOOK),
    (b"version: 1\ndn:", "an LDIF file", _ADDRESS_BOOK),
    *(
        (word, "an SQL dump", _DUMP)
        for word in (
            b"insert into ",
            b"create table ",
            b"drop table ",
            b"-- mysql dump",
            b"-- phpmyadmin",
            b"-- postgresql database dump",
        )
    ),
    (b"-----begin pgp public key block-----", *_KEY),
    (b"-----begin pgp private key block-----", *_KEY),
)

# Longest first: the mark of UTF-32-LE begins with that of UTF-16-LE.
MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
LONGEST_MARK: Final = 4  # bytes
WIDE: Final = {"utf-16": ("utf-16-le", "utf-16-be"), "utf-32": ("utf-32-le", "utf-32-be")}
EVIDENT_LETTERS: Final = 3  # of two bytes or more, each of which another encoding would show as two signs or more
NUL_SHARE: Final = 0.3  # of every second byte: text of two bytes a letter that was not declared


class SourceFormat(StrEnum):
    """The type of a file."""

    TEXT = "text"
    PARQUET = "parquet"
    WORKBOOK = "workbook"


@dataclass(frozen=True, slots=True)
class Encoding:
    """The encoding of a file, and how many bytes at its beginning are only a mark."""

    name: str
    mark_bytes: int


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


def find_encoding(first_bytes: bytes, declared: str | None) -> Encoding:
    """The encoding by the mark in `first_bytes` or as `declared`, else UTF-8.

    Raises SourceRefused when the mark or letters contradict the declaration, and for UTF-16 and UTF-32 of unknown
    byte order.
    """
    wanted = "utf-8" if declared is None or declared == "utf-8-sig" else declared
    for mark, name in MARKS:
        if first_bytes.startswith(mark):
            if declared is not None and wanted not in (name, name[:6]):
                raise SourceRefused(f"it begins with the mark of {name}, but `encoding=` says {declared}")
            return Encoding(name, len(mark))
    if wanted in WIDE:
        raise SourceRefused(f"it has no byte order mark, so {wanted} is ambiguous", hint=_wide_hint(wanted))
    if declared is None and _looks_wide(first_bytes):
        raise SourceRefused("it looks like UTF-16 without a byte order mark", hint=_wide_hint("utf-16"))
    if not wanted.startswith("utf-"):
        _refuse_utf_8(first_bytes, wanted)
    return Encoding(wanted, 0)


def _refuse_utf_8(first_bytes: bytes, declared: str) -> None:
    """Raises SourceRefused where all letters beyond ASCII are valid UTF-8: text in another encoding never is."""
    try:
        text, _ = codecs.utf_8_decode(first_bytes, "strict", False)
    except UnicodeDecodeError:
        return
    if (letters := sum(not letter.isascii() for letter in text)) >= EVIDENT_LETTERS:
        raise SourceRefused(
            f"it is UTF-8 by all of its first {letters:,} letters beyond ASCII, but `encoding=` says {declared}",
            hint=f"leave `encoding=` out, or say {option('encoding', 'utf-8')}",
        )


def _wide_hint(family: str) -> str:
    return "say " + " or ".join(option("encoding", name) for name in WIDE[family])


def _looks_wide(first_bytes: bytes) -> bool:
    even, odd = first_bytes[::2], first_bytes[1::2]
    if not any(first_bytes):
        return False  # nothing but NUL is no text in any encoding
    return any(part.count(0) > NUL_SHARE * len(part) for part in (even, odd) if len(first_bytes) > LONGEST_MARK)


BLANKS: Final = b" \t\r"
_IS_BLANK: Final = np.isin(np.arange(256, dtype=np.uint8), np.frombuffer(BLANKS + b"\n", dtype=np.uint8))


def non_blank_lines(blocks: Iterator[bytes], counter: LineCounter) -> Iterator[bytes | None]:
    """Each line without its end, None for one of more than MAX_LINE_BYTES. `counter` sees every block first."""
    begun: list[bytes] = []
    begun_bytes = 0
    for block in blocks:
        counter.feed(block)
        first, *others = block.split(b"\n")
        begun_bytes += len(first)
        begun = [*begun, first] if begun_bytes <= MAX_LINE_BYTES else []
        if others:
            yield from _shown(b"".join(begun), begun_bytes)
            for line in others[:-1]:
                yield from _shown(line, len(line))
            begun, begun_bytes = [others[-1]], len(others[-1])
    yield from _shown(b"".join(begun), begun_bytes)


def _shown(line: bytes, size_bytes: int) -> tuple[bytes | None, ...]:
    if size_bytes > MAX_LINE_BYTES:
        return (None,)
    stripped = line.strip(BLANKS)
    return (stripped,) if stripped else ()


class LineCounter:
    """Counts the lines of the blocks that it is fed which hold more than blanks. `lines` counts the last one, too."""

    def __init__(self) -> None:
        self._ended = 0
        self._is_filled = False  # the line that has not ended yet

    @property
    def lines(self) -> int:
        """Non-blank lines so far."""
        return self._ended + self._is_filled

    def feed(self, block: bytes) -> None:
        """Counts what ends in `block`."""
        letters = np.frombuffer(block, dtype=np.uint8)
        filled = np.cumsum(~_IS_BLANK[letters])
        at_ends = filled[letters == ord("\n")]
        total = int(filled[-1]) if len(filled) else 0
        if not len(at_ends):
            self._is_filled |= total > 0
            return
        self._ended += int(self._is_filled or at_ends[0] > 0) + int(np.count_nonzero(np.diff(at_ends)))
        self._is_filled = total > int(at_ends[-1])
